//! locust: its tables on the console. Files below: `_stats.csv`, and statistics as JSON.

mod csv;
mod json;

pub(super) use csv::STATS;
pub(super) use json::ENTRIES;

use figure::Figure;

use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number, percent};

pub(super) const CONSOLE: Format = Format::lines(
    "locust",
    &["# reqs", "Response time percentiles (approximated)", "Percentage of the requests completed"],
    starts,
    Some(&COMMAND),
    parse,
);

/// locust's options that say how much load there is and how it is shown (argument_parser.py).
pub(super) const COMMAND: Grammar = Grammar {
    programs: &["locust"],
    style: Style::Getopt,
    values: &[
        "-f",
        "--locustfile",
        "-H",
        "--host",
        "-u",
        "--users",
        "-c",
        "--clients",
        "-r",
        "--spawn-rate",
        "--hatch-rate",
        "-t",
        "--run-time",
        "--csv",
        "--html",
        "-L",
        "--loglevel",
        "--logfile",
        "-s",
        "--stop-timeout",
        "-T",
        "--tags",
        "-E",
        "--exclude-tags",
        "--processes",
        "--expect-workers",
        "-P",
        "--web-port",
        "--web-host",
        "--master-host",
        "--exit-code-on-error",
        "--json-file",
        "--config",
    ],
    flags: &[
        "--headless",
        "--no-web",
        "--only-summary",
        "--print-stats",
        "--csv-full-history",
        "--reset-stats",
        "--master",
        "--worker",
        "--json",
        "--autostart",
        "--skip-log",
        "-l",
        "--list",
    ],
    hidden: &[],
    operand: |word| word.text.starts_with(|c: char| c.is_ascii_alphabetic()),
    operands: 0..=8,
};

/// The rows of all requests: since 0.13, and before.
const TOTAL: [&str; 2] = ["Aggregated", "Total"];
/// Lines of a table, and between two of the same run.
const WITHIN: usize = 400;
/// Lines that locust logs between two tables of a run.
const LOGGED: usize = 40;
/// Below this many milliseconds a quantile is exact; above, locust keeps two digits.
const EXACT: f64 = 100.0;
/// By what share of itself a time of two digits may be off.
const TWO_DIGITS: f64 = 0.055;
const MILLISECOND: f64 = 1e-3;

/// The head of the table of counts: `Type  Name  # reqs  # fails | Avg …`.
fn is_counts(line: &str) -> bool {
    line.contains("# reqs") && line.contains("# fails") && line.contains("Avg")
}

/// The heading of the table of quantiles.
fn is_quantiles(line: &str) -> bool {
    line.starts_with("Response time percentiles")
        || line.starts_with("Percentage of the requests completed within")
}

/// The requests of a row of all of the table of counts: `Aggregated   25   0(0.00%) | 493 …`.
fn all_requests(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    TOTAL.contains(&words.next()?).then_some(())?;
    let requests = number(words.next()?)?;
    words.next()?.contains('(').then_some(requests)
}

/// Whether a line is empty, of the table, or logged: it parts no run.
fn is_between(line: &str) -> bool {
    line.is_empty()
        || line.starts_with('-')
        || line.contains("/INFO/")
        || line.contains("/WARNING/")
        || line.starts_with('[')
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if is_counts(line) {
        // While it runs, locust prints the table again and again.
        let nearest = before.iter().rev().take(LOGGED).find(|line| !is_between(line));
        let Some(earlier) = nearest.and_then(|line| all_requests(line)) else { return true };
        let now = rest.iter().skip(1).take(WITHIN).find_map(|line| all_requests(line));
        return now.is_some_and(|now| now < earlier);
    }
    // Lines above it are lost.
    let is_own = |line: &&&str| is_counts(line) || is_quantiles(line) || all_requests(line).is_some();
    let nearest = || before.iter().rev().take(WITHIN).find(is_own);
    if all_requests(line).is_some() {
        return !nearest().is_some_and(|line| is_counts(line));
    }
    is_quantiles(line) && nearest().is_none_or(|line| is_quantiles(line))
}

/// A row of the table of counts.
struct Row<'a> {
    name: &'a str,
    requests: f64,
    failures: f64,
    /// Milliseconds: mean, least, most, median; of the first locust's row of all there are none.
    times: Vec<Printed>,
    rate: Option<Printed>,
}

/// Reads `GET /path   41   3(8.11%) | 3394  849  11247  2900 | 0.69  0.00`; the bars stood elsewhere, and there was no rate of failures.
fn row(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "|").collect();
    let at = words.iter().position(|word| failures(word).is_some())?;
    let requests = number(words.get(at.checked_sub(1)?)?)?;
    let rest: Option<Vec<Printed>> =
        words.get(at + 1..)?.iter().map(|word| Printed::of(word.trim_matches('|'))).collect();
    let rest = rest?;
    let name = words.get(at.checked_sub(2)?).copied().unwrap_or_default();
    let (times, rate) = match rest.len() {
        5 | 6 => (rest[..4].to_vec(), rest.get(4).copied()),
        1 | 2 => (Vec::new(), rest.first().copied()),
        _ => return None,
    };
    Some(Row { name, requests, failures: failures(words[at])?, times, rate })
}

/// `3(8.11%)`.
fn failures(word: &str) -> Option<f64> {
    let (count, share) = word.split_once('(')?;
    share.trim_end_matches('|').strip_suffix("%)")?;
    number(count)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    // Of several tables the last one counts.
    let total_at = run.lines.iter().rposition(|line| all_requests(line).is_some());
    let total = total_at.and_then(|at| row(run.lines[at]));
    let quantiles = quantiles(run);
    let total = match total {
        Some(total) => total,
        None if total_at.is_none() && !quantiles.is_empty() => {
            return Err("has quantiles and no row of all requests (Aggregated)".to_owned());
        }
        None => return Err("has no row of all requests (Aggregated)".to_owned()),
    };
    let at = total_at.unwrap_or(0);
    let table: Vec<&&str> = run.lines[..at].iter().rev().take_while(|line| !is_counts(line)).collect();
    let rows: Vec<Row> =
        table.into_iter().filter_map(|line| row(line)).filter(|row| !TOTAL.contains(&row.name)).collect();
    let time = |at: usize| total.times.get(at).map(|time| time.times(MILLISECOND));
    // The row of all of the first locust has no times: of a single row they are the same.
    let only = (rows.len() == 1 && total.times.is_empty()).then(|| &rows[0].times);
    let time = |at: usize| time(at).or(only.and_then(|times| Some(times.get(at)?.times(MILLISECOND))));
    let median = time(3).filter(|_| !quantiles.iter().any(|(share, _)| *share == 0.5));
    let is_over = run.lines.iter().skip(at).any(|line| is_quantiles(line));
    let mut unjudged = Vec::new();
    if rows.len() > 1 {
        unjudged.push("rows of single names");
    }
    if run.lines.iter().filter(|line| is_counts(line)).count() > 1 {
        unjudged.push("earlier tables of the same run");
    }
    let parts = against(&rows, &total);
    let load = Load {
        rate: total.rate,
        answered: Some(total.requests - total.failures).filter(|answered| *answered >= 0.0),
        failed: failed(run, total.failures),
        latency: Statistics {
            mean: time(0).filter(|_| total.requests > 0.0),
            least: time(1),
            most: time(2),
            deviation: None,
            quantiles: median.map(|median| (0.5, rough(median))).into_iter().chain(quantiles).collect(),
        },
        contradiction: parts,
        results: if is_over { "" } else { "while it runs, locust's rate is that of the last ten seconds" },
        unjudged: unjudged.join("; "),
        ..load(run)
    };
    load.figures(known)
}

/// What the command shows: users, and the host.
pub(super) fn load(run: &Run) -> Load {
    const USERS: &[&str] = &["-u", "--users", "-c", "--clients"];
    let host = run
        .command
        .and_then(|command| command.values(&["-H", "--host"]).last().map(|host| (*host).to_owned()));
    let users = run.command.and_then(|command| match command.setting(USERS) {
        Setting::Is(users) if users > 0.0 => Some(users),
        _ => None,
    });
    Load {
        tool: "locust",
        subject: host.unwrap_or(format!("line {}", run.before.len() + 1)),
        connections: users,
        connections_from: users.and(run.command).map_or(String::new(), |command| command.quote(USERS)),
        pauses: true,
        ..Load::default()
    }
}

/// A quantile of two digits.
pub(super) fn rough(time: Printed) -> Printed {
    let is_exact = time.value < EXACT * MILLISECOND;
    Printed { off: if is_exact { MILLISECOND } else { TWO_DIGITS * time.value }, ..time }
}

/// The quantiles of all requests, by the heads of their columns.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let mut lines = run.lines.iter().skip_while(|line| !is_quantiles(line)).skip(1);
    let heads = lines.by_ref().find(|line| line.contains("50%")).map_or("", |line| *line);
    let shares: Vec<f64> =
        heads.split_whitespace().filter_map(|head| percent(head.strip_suffix('%')?)).collect();
    // `None Aggregated` before 1.3; the number of requests stands at the end, or before them.
    let is_first =
        heads.find("# reqs").zip(heads.find("50%")).is_some_and(|(requests, share)| requests < share);
    let row = lines
        .map(|line| line.trim_start_matches("None").trim_start())
        .find(|line| line.split_whitespace().next().is_some_and(|word| TOTAL.contains(&word)));
    let Some(row) = row.filter(|_| !shares.is_empty()) else { return Vec::new() };
    let numbers: Vec<Printed> = row.split_whitespace().skip(1).filter_map(Printed::of).collect();
    if numbers.len() != shares.len() + 1 {
        return Vec::new();
    }
    let own = &numbers[usize::from(is_first)..];
    shares.into_iter().zip(own).map(|(share, time)| (share, rough(time.times(MILLISECOND)))).collect()
}

/// What failed, by the report of errors below: `3   GET /group: HTTPError('502 Server Error')`.
fn failed(run: &Run, all: f64) -> Vec<(&'static str, f64)> {
    let below = run.lines.iter().skip_while(|line| !line.starts_with("Error report")).skip(1);
    let errors = below.filter(|line| !line.starts_with(['-', '#'])).map_while(|line| {
        let (count, text) = line.split_once(char::is_whitespace)?;
        Some((of_error(text), number(count)?))
    });
    let mut own: Vec<(&'static str, f64)> = errors.collect();
    let listed: f64 = own.iter().map(|(_, count)| count).sum();
    if listed > all {
        return vec![("unspecified", all)];
    }
    own.push(("unspecified", all - listed));
    own
}

pub(super) fn of_error(text: &str) -> &'static str {
    if text.contains("HTTPError") || text.contains("status code") {
        "status"
    } else if text.contains("CatchResponseError") {
        "another body"
    } else if ["efused", "imed out", "imeout", "reset", "losed"].iter().any(|word| text.contains(word)) {
        crate::formats::hey::kind(&text.replace("Refused", "refused"))
    } else {
        "unspecified"
    }
}

/// Why the row of all cannot be that of these rows.
fn against(rows: &[Row], total: &Row) -> Option<String> {
    let requests: f64 = rows.iter().map(|row| row.requests).sum();
    let failures: f64 = rows.iter().map(|row| row.failures).sum();
    if requests > total.requests {
        return Some(format!("the rows have {requests} requests, and their total has {}", total.requests));
    }
    if failures > total.failures {
        return Some(format!("the rows have {failures} failures, and their total has {}", total.failures));
    }
    (total.failures > total.requests && total.requests > 0.0)
        .then(|| format!("{} of {} requests failed", total.failures, total.requests))
}
