//! siege (JoeDog/siege): a summary of transactions, as text or, since 4.0.5, as JSON.

use figure::Figure;
use serde_json::Value;

use crate::command::{self, Command, Grammar, Style, is_target};
use crate::document::exact;
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, leads_to, number};

pub(super) const FORMAT: Format =
    Format::lines("siege", &["Transaction rate:", "Transactions:"], starts, Some(&COMMAND), parse);

pub(super) const DOCUMENT: Format =
    Format::documents("siege", &["\"transaction_rate\""], is_document, Some(&COMMAND), parse_documents);

/// siege(1).
const COMMAND: Grammar = Grammar {
    programs: &["siege"],
    style: Style::Getopt,
    values: &[
        "-c",
        "--concurrent",
        "-r",
        "--reps",
        "-t",
        "--time",
        "-d",
        "--delay",
        "-f",
        "--file",
        "-R",
        "--rc",
        "-m",
        "--mark",
        "-H",
        "--header",
        "-A",
        "--user-agent",
        "-T",
        "--content-type",
    ],
    flags: &[
        "-v",
        "--verbose",
        "-q",
        "--quiet",
        "-C",
        "--config",
        "-D",
        "--debug",
        "-g",
        "--get",
        "-p",
        "--print",
        "-N",
        "--no-parser",
        "-F",
        "--no-follow",
        "-i",
        "--internet",
        "-b",
        "--benchmark",
        "-j",
        "--json-output",
        "-l",
        "--log",
    ],
    hidden: &["-H", "--header"],
    operand: is_target,
    operands: 0..=1,
};

/// Times are of a clock that ticks a hundred times a second (src/browser.c).
const TICK: f64 = 0.01;
/// By what a run may miss the time of -t: its timer counts from a whole second (src/timer.c).
const TIMER: f64 = 1.0;
/// Lines before a summary in which the first ones of its run may stand: one for each answer lies between.
const WITHIN: usize = 100_000;
/// Of these lines so many are looked at for each run.
const HEAD: usize = 400;
const RESULTS: &str =
    "siege counts redirects and parts of a page as transactions, and times them in ticks of 10 ms";
const PAUSES: &str = "whether users pause between requests; with -b they do not";

/// Lines that a summary has, in order, up to that of its rate.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Transactions:") && line.ends_with("hits"),
    |line| line.starts_with("Availability:") && line.ends_with('%'),
    |line| line.starts_with("Elapsed time:") && line.ends_with("secs"),
    |line| line.starts_with("Data transferred:") && line.ends_with("MB"),
    |line| line.starts_with("Response time:"),
    is_rate,
];

fn is_rate(line: &str) -> bool {
    line.starts_with("Transaction rate:") && line.ends_with("trans/sec")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(MARKS, before, rest) && leads_to(MARKS, rest, MARKS.len(), is_rate)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let time = |label: &str| time(run.after(label)?);
    let transactions = run.number("Transactions:");
    let load = Load {
        runs_out: true,
        rate: run.printed("Transaction rate:"),
        seconds: time("Elapsed time:"),
        completed: transactions,
        under_way: run.printed("Concurrency:"),
        latency: Statistics {
            least: time("Shortest transaction:").map(ticks),
            mean: time("Response time:"),
            most: time("Longest transaction:").map(ticks),
            ..Statistics::default()
        },
        ..counted(transactions, run.number("Successful transactions:"), run.number("Failed transactions:"))
    };
    let (head, users) = head(run).unzip();
    let own = head.and_then(|before| command::find(before, 0, &COMMAND));
    with_command(load, run.command.or(own.as_ref()), users).figures(known)
}

/// What the counts say. A transaction with an error status is one, but for those that are no answer to siege: they failed.
fn counted(transactions: Option<f64>, successful: Option<f64>, failed: Option<f64>) -> Load {
    let answered = transactions.zip(successful).zip(failed).map(|((all, successful), _)| all.min(successful));
    let refused = transactions.zip(successful).map_or(0.0, |(all, successful)| (all - successful).max(0.0));
    Load {
        tool: "siege",
        answered,
        failed: vec![("status", refused), ("closed before", failed.unwrap_or(0.0))],
        results: RESULTS,
        unjudged: "bytes transferred".to_owned(),
        ..Load::default()
    }
}

/// With its users (one connection each), and what only the command shows.
fn with_command(load: Load, command: Option<&Command>, users: Option<f64>) -> Load {
    let by_command = command.map(|command| command.setting(&["-c", "--concurrent"]));
    let by_command = match by_command {
        Some(command::Setting::Is(users)) => Some(users),
        _ => None,
    };
    let connections_from = match (users, by_command, command) {
        (Some(users), ..) => format!("from ** Preparing {users} concurrent users"),
        (None, Some(_), Some(command)) => command.quote(&["-c", "--concurrent"]),
        _ => String::new(),
    };
    let never_pauses = command.is_some_and(|command| command.has(&["-b", "--benchmark"]));
    let asked = command.and_then(|command| duration(command.values(&["-t", "--time"]).last()?));
    Load {
        subject: command
            .and_then(|command| command.operands.first())
            .map_or(String::new(), |word| word.text.clone()),
        connections: users.or(by_command),
        connections_from,
        asked_seconds: asked.map(|asked| Printed { value: asked, off: TIMER }),
        idle: if never_pauses { "" } else { PAUSES },
        ..load
    }
}

/// The lines before the first one of the run, and the users that it prints, however many lines stand between it and the summary.
fn head<'a>(run: &Run<'a>) -> Option<(&'a [&'a str], f64)> {
    let from = run.previous.max(run.before.len().saturating_sub(WITHIN));
    let at = run.before[from..].iter().rposition(|line| line.starts_with("** Preparing "))?;
    let users = run.before[from + at].strip_prefix("** Preparing ").and_then(|rest| number(first(rest)?))?;
    let start = (from + at).saturating_sub(HEAD);
    Some((&run.before[start..from + at], users))
}

/// Seconds; milliseconds since 4.2.
fn time(text: &str) -> Option<Printed> {
    let mut words = text.split_whitespace();
    let value = Printed::of(words.next()?)?;
    match words.next() {
        None | Some("secs" | "sec") => Some(value),
        Some("ms") => Some(value.times(1e-3)),
        Some(_) => None,
    }
}

/// A single time, which may be a tick more or less.
fn ticks(time: Printed) -> Printed {
    Printed { off: time.off + TICK, ..time }
}

/// The time of -t: `3S`, `10M`, `1H`; minutes where there is no unit (src/init.c).
fn duration(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "S" => 1.0,
        "" | "M" => 60.0,
        "H" => 3600.0,
        _ => return None,
    };
    Some(number(digits)? * unit).filter(|seconds| *seconds > 0.0)
}

fn is_document(document: &Value) -> bool {
    ["transactions", "transaction_rate", "response_time", "elapsed_time"]
        .iter()
        .all(|name| document[*name].is_number())
}

fn parse_documents(documents: &[Value], run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        // With -j the summary may stand before it as text: that is the same run.
        let summary = Run { lines: &run.before[run.previous.min(run.before.len())..], ..*run };
        let transactions = exact(&document["transactions"]).map(|all| all.value);
        let is_again = transactions.is_some() && summary.number("Transactions:") == transactions;
        if is_again && summary.after("Transaction rate:").is_some() {
            continue;
        }
        figures.extend(of_document(document, run).figures(known)?);
    }
    Ok(figures)
}

/// A summary in JSON. Times have two decimals.
fn of_document(document: &Value, run: &Run) -> Load {
    let printed = |name: &str| exact(&document[name]).map(|number| Printed { off: 0.005, ..number });
    let count = |name: &str| exact(&document[name]).map(|number| number.value);
    let load = Load {
        rate: printed("transaction_rate"),
        seconds: printed("elapsed_time"),
        completed: count("transactions"),
        under_way: printed("concurrency"),
        latency: Statistics {
            least: printed("shortest_transaction").map(ticks),
            mean: printed("response_time"),
            most: printed("longest_transaction").map(ticks),
            ..Statistics::default()
        },
        ..counted(count("transactions"), count("successful_transactions"), count("failed_transactions"))
    };
    let (head, users) = head(run).unzip();
    let own = head.and_then(|before| command::find(before, 0, &COMMAND));
    with_command(load, run.command.or(own.as_ref()), users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_of_two_kinds() {
        assert_eq!(
            ["3S", "10M", "1h", "2", "0S", "1D", "", "S"].map(duration),
            [Some(3.0), Some(600.0), Some(3600.0), Some(120.0), None, None, None, None]
        );
        let seconds = |text: &str| time(text).map(|time| time.value);
        assert_eq!(["0.12 secs", "12.00 ms", "952.13"].map(seconds), [Some(0.12), Some(0.012), Some(952.13)]);
        assert_eq!(seconds("12.00 MB"), None);
    }
}
