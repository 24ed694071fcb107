//! pgbench (PostgreSQL): transactions of clients that wait for each answer.

use figure::Figure;

use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, leads_to, number};

pub(super) const FORMAT: Format = Format::lines(
    "pgbench",
    &["number of transactions actually processed", "latency average"],
    starts,
    Some(&COMMAND),
    parse,
);

/// `pgbench --help`.
const COMMAND: Grammar = Grammar {
    programs: &["pgbench"],
    style: Style::Getopt,
    values: &[
        "-b",
        "--builtin",
        "-f",
        "--file",
        "-c",
        "--client",
        "-D",
        "--define",
        "-j",
        "--jobs",
        "-L",
        "--latency-limit",
        "-M",
        "--protocol",
        "-P",
        "--progress",
        "-R",
        "--rate",
        "-s",
        "--scale",
        "-t",
        "--transactions",
        "-T",
        "--time",
        "-h",
        "--host",
        "-p",
        "--port",
        "-U",
        "--username",
        "-F",
        "--fillfactor",
        "-d",
        "--dbname",
        "--aggregate-interval",
        "--log-prefix",
        "--max-tries",
        "--random-seed",
        "--sampling-rate",
        "--partitions",
        "--partition-method",
    ],
    flags: &[
        "-C",
        "--connect",
        "-l",
        "--log",
        "-n",
        "--no-vacuum",
        "-N",
        "--skip-some-updates",
        "-r",
        "--report-per-command",
        "--report-latencies",
        "-S",
        "--select-only",
        "-v",
        "--vacuum-all",
        "--progress-timestamp",
        "--failures-detailed",
        "--verbose-errors",
        "--debug",
        "--exit-on-abort",
    ],
    hidden: &["-D", "--define"],
    operand: |_| true,
    operands: 0..=1,
};

const RESULTS: &str =
    "without -P, -L, -R and -r, pgbench's mean latency is clients times time over transactions, not measured";
/// The most lines of the progress (-P).
const MOST_INTERVALS: usize = 10_000;
/// Lines between the first of a report and its rate.
const WITHIN: usize = 30;
/// Times in milliseconds.
const MILLISECOND: f64 = 1e-3;

/// Lines that a report has, in order.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("transaction type:"),
    |line| line.starts_with("scaling factor:"),
    |line| line.starts_with("query mode:"),
    |line| line.starts_with("number of clients:"),
    |line| line.starts_with("number of threads:"),
    |line| line.starts_with("number of transactions per client:") || line.starts_with("duration:"),
    |line| line.starts_with("number of transactions actually processed:"),
    |line| line.starts_with("number of failed transactions:"),
    |line| line.starts_with("latency average"),
    is_rate,
];

fn is_rate(line: &str) -> bool {
    line.starts_with("tps = ")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_own = |line: &str| is_rate(line) || line.starts_with("number of transactions actually processed:");
    // Before 14 there are two rates.
    let follows = before.last().is_some_and(|line| is_rate(line));
    !follows && begins(MARKS, before, rest) && leads_to(MARKS, rest, WITHIN, is_own)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    // Before 14 the rate stands there twice: with and without making the connections.
    let rates = || run.lines.iter().filter(|line| is_rate(line));
    let without = rates().find(|line| !line.contains("(including connections"));
    let rate = without.or(rates().next()).and_then(|line| Printed::of(line.split_whitespace().nth(2)?));
    // `latency average = 6.434 ms`, before 10 `latency average: 6.434 ms`.
    let time = |label: &str| {
        let values = run.after(label)?.trim_start_matches([':', '=', ' ']);
        Some(Printed::of(first(values)?)?.times(MILLISECOND))
    };
    let processed = run.after("number of transactions actually processed:").unwrap_or_default();
    let (done, planned) =
        processed.split_once('/').map_or((processed, None), |(done, all)| (done, Some(all)));
    let (done, planned) = (first(done).and_then(number), planned.and_then(|all| number(first(all)?)));
    let missing = planned.zip(done).map_or(0.0, |(planned, done)| (planned - done).max(0.0));
    let failed = run.number("number of failed transactions:").unwrap_or(0.0);
    // The time of -T includes making the connections, and the rate does not.
    let including = rates().find(|line| line.contains("(including connections"));
    let including = including.and_then(|line| Printed::of(line.split_whitespace().nth(2)?));
    let sending = including
        .zip(rate.filter(|rate| rate.value > 0.0))
        .map_or(1.0, |(including, rate)| (including.value / rate.value).min(1.0));
    let connecting = time("initial connection time").map_or(0.0, |time| time.value);
    let lasts = run.after("duration:").and_then(|text| Printed::of(first(text)?));
    let lasts = lasts.map(|lasts| (lasts.value * sending - connecting).max(0.0));
    let limits = run.lines.iter().any(|line| line.starts_with("rate limit schedule lag:"));
    let asked = run.command.map(|command| command.setting(&["-R", "--rate"]));
    let clients = run.number("number of clients:");
    let scale = run.after("scaling factor:").map_or(String::new(), |scale| format!(", scale {scale}"));
    let aborted = run.lines.iter().any(|line| line.contains("Run was aborted"));
    let load = Load {
        tool: "pgbench",
        subject: format!("{}{scale}", run.after("transaction type:").unwrap_or_default()),
        rate,
        completed: done,
        intervals: intervals(run),
        asked_seconds: lasts.map(|lasts| Printed { value: lasts, off: 1.0 }),
        answered: done,
        failed: vec![("unspecified", failed.max(missing))],
        latency: Statistics { mean: time("latency average"), ..Statistics::default() },
        connections: clients,
        connections_from: clients
            .map_or(String::new(), |clients| format!("from number of clients: {clients}")),
        rate_asked: match asked {
            Some(Setting::Is(rate)) => Some(Asked::Rate(rate)),
            Some(Setting::Unknown) => Some(Asked::Unstated),
            _ if limits => Some(Asked::Unstated),
            _ => None,
        },
        unsent: run.number("number of transactions skipped:"),
        contradiction: aborted.then(|| "pgbench says that the run was aborted".to_owned()),
        results: RESULTS,
        unjudged: time("latency stddev").map_or("", |_| "spread of the latency").to_owned(),
        ..Load::default()
    };
    load.figures(known)
}

/// Transactions a second of each interval of -P, `progress: 60.0 s, 754.0 tps, lat 10.612 ms stddev 6.671`, in the lines before the report.
fn intervals(run: &Run) -> Vec<f64> {
    let rate =
        |line: &&str| number(line.strip_prefix("progress: ")?.split(", ").nth(1)?.strip_suffix(" tps")?);
    let own = run.before.get(run.previous..).unwrap_or_default();
    own[own.len().saturating_sub(MOST_INTERVALS)..].iter().filter_map(rate).collect()
}
