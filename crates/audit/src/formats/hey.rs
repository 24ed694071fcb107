//! hey (rakyll/hey): a summary, and counts by status and by error.

use crate::command::{Command, Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "hey",
    &["Details (average, fastest, slowest)", "Requests/sec:"],
    starts,
    Some(&COMMAND),
    parse,
);

/// hey.go.
pub(super) const COMMAND: Grammar = Grammar {
    programs: &["hey", "boom"],
    style: Style::Go,
    values: &[
        "-n", "-c", "-q", "-z", "-o", "-m", "-H", "-t", "-A", "-d", "-D", "-T", "-U", "-a", "-x", "-host",
        "-cpus",
    ],
    flags: &[
        "-h2",
        "-disable-compression",
        "-disable-keepalive",
        "-disable-redirects",
        "-allow-insecure",
        "-more",
        "-readall",
    ],
    hidden: &["-H", "-d", "-a", "-x"],
    operand: is_target,
    operands: 1..=1,
};

/// hey's own default of -c.
pub(super) const WORKERS: f64 = 50.0;
/// Results that hey keeps (requester/report.go, `maxRes`).
pub(super) const STORED: f64 = 1e6;
/// Rate times time is the number of requests to within this share: they are printed with four decimals.
const ROUNDED: f64 = 0.005;
/// Results of which hey keeps latency and status (requester/report.go, `maxRes`).
pub(super) const KEEPS: &str = "hey keeps its first million results (hey #112, #166)";
/// Lines after "Summary:" in which a summary of hey has its total.
const HEAD: usize = 3;

/// Rows of a summary behind its total, in order.
const ROWS: &[&str] = &["Slowest:", "Fastest:", "Average:", "Requests/sec:"];
/// Lines of a summary.
const SUMMARY: usize = 10;

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let has_other =
        || rest.iter().take(HEAD).any(|line| line.starts_with("Success rate:") || line.starts_with("Count:"));
    let is_whole = rest.first() == Some(&"Summary:")
        && rest.iter().skip(1).take(HEAD).any(|line| line.starts_with("Total:"));
    is_whole && !has_other() || is_cut(before, rest) && !is_of_oha(rest)
}

/// Whether a summary of hey's or oha's begins whose first lines are lost.
pub(super) fn is_cut(before: &[&str], rest: &[&str]) -> bool {
    let head = before.iter().rev().find(|line| !line.is_empty());
    let is_head =
        |line: &str| ["Summary:", "Success rate:", "Count:"].iter().any(|head| line.starts_with(head));
    rest.len() > ROWS.len()
        && rest[0].starts_with("Total:")
        && rest[1..].iter().zip(ROWS).all(|(line, row)| line.starts_with(row))
        && !head.is_some_and(|line| is_head(line))
}

/// Only oha has a line of the bytes a second.
pub(super) fn is_of_oha(rest: &[&str]) -> bool {
    rest.iter().take(SUMMARY).any(|line| line.starts_with("Size/sec:"))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let workers = run.command.and_then(|command| command.setting(&["-c"]).or(WORKERS));
    let rate_asked = rate_asked(run.command, workers);
    let rate = run.printed("Requests/sec:");
    let seconds = run.printed("Total:");
    let completed = rate.zip(seconds).map(|(rate, seconds)| (rate.value * seconds.value).round());
    let statuses = counts(run, "Status code distribution:");
    let errors: Vec<(&'static str, f64)> = counts(run, "Error distribution:")
        .into_iter()
        .map(|(count, text)| (kind(text), number(count).unwrap_or(0.0)))
        .collect();
    let failed: f64 = errors.iter().map(|(_, count)| count).sum();
    let (mut recorded, mut expected) = (0.0, 0.0);
    for (code, text) in &statuses {
        let count = first(text).and_then(number).unwrap_or(0.0);
        recorded += count;
        expected += if code.starts_with(['2', '3']) { count } else { 0.0 };
    }
    let mut failures = errors.clone();
    // hey stores the status of a limited number of results. Below that number a result without a status has failed, and the text is cut short.
    let without = completed.map_or(0.0, |all| (all - failed - recorded).max(0.0));
    let (more, cut) = match recorded >= STORED {
        true => (without, 0.0),
        false => (0.0, if without > ROUNDED * recorded { without } else { 0.0 }),
    };
    failures.push(("status", recorded - expected + cut));
    let has_counts = !statuses.is_empty() || failed > 0.0;
    let timeouts = errors.iter().filter(|(kind, _)| *kind == "timeout").map(|(_, count)| count).sum();
    let load = Load {
        runs_out: true,
        tool: "hey",
        subject: run.operand().unwrap_or_default().to_owned(),
        rate,
        seconds,
        answered: has_counts.then_some(expected + more),
        failed: failures,
        recorded: (recorded >= STORED).then_some(recorded),
        left_out: has_counts.then_some(timeouts),
        // More statuses than the time has at that rate are of another run.
        completed: completed
            .map(|_| recorded + failed)
            .filter(|all| completed.is_some_and(|own| *all > own * (1.0 + ROUNDED) + 1.0)),
        latency: Statistics {
            least: run.printed("Fastest:"),
            mean: run.printed("Average:"),
            // The mean is over all results, not only the stored ones, so it may exceed the slowest stored one.
            most: run.printed("Slowest:").filter(|_| recorded < STORED),
            deviation: None,
            quantiles: quantiles(run, |latency| Printed::of(first(latency)?)),
        },
        connections: workers,
        connections_from: run.command.map_or(String::new(), |command| command.quote(&["-c"])),
        rate_asked,
        results: KEEPS,
        ..Load::default()
    };
    load.figures(known)
}

/// The rate that a command asks for: hey's -q is for each worker.
pub(super) fn rate_asked(command: Option<&Command>, workers: Option<f64>) -> Option<Asked> {
    match command?.setting(&["-q"]) {
        Setting::Is(each) if each > 0.0 => {
            Some(workers.map_or(Asked::Unstated, |workers| Asked::Rate(each * workers)))
        }
        Setting::Unknown if command?.has(&["-q"]) => Some(Asked::Unstated),
        _ => None,
    }
}

/// The latencies, read by `time`, of a table of lines such as `50% in 0.0672 secs`. hey prints 0% where it has too few results.
pub(super) fn quantiles(run: &Run, time: impl Fn(&str) -> Option<Printed>) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once("% in ")?;
        let quantile = number(quantile)? / 100.0;
        Some(((quantile * 1e6).round() / 1e6, time(latency)?))
    };
    run.lines.iter().filter_map(of).filter(|(quantile, _)| *quantile > 0.0).collect()
}

/// Lines such as `[200] 1000000 responses` below a heading: what is in brackets, and the rest.
pub(super) fn counts<'a>(run: &Run<'a>, heading: &str) -> Vec<(&'a str, &'a str)> {
    let below = run.lines.iter().skip_while(|line| **line != heading).skip(1);
    below
        .map_while(|line| line.strip_prefix('[')?.split_once(']'))
        .map(|(key, rest)| (key, rest.trim()))
        .collect()
}

/// What an error's text says, in the words of [`figure::evidence::http::FAILURES`].
pub(super) fn kind(text: &str) -> &'static str {
    let has = |word: &str| text.contains(word);
    if has("deadline exceeded") || has("imeout") || has("timed out") {
        "timeout"
    } else if has("refused") {
        "refused"
    } else if has("cannot assign requested address") {
        "no port"
    } else if has("reset") {
        "reset"
    } else if has("EOF") || has("closed") {
        "closed before"
    } else {
        "connect"
    }
}
