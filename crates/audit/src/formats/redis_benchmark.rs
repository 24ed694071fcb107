//! redis-benchmark and valkey-benchmark: a report, or a line (`-q`), for each command.

use figure::Figure;

use crate::command::{Command, Grammar, Setting, Style};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "redis-benchmark",
    &[" requests completed in ", " requests per second"],
    starts,
    Some(&COMMAND),
    parse,
);

/// `redis-benchmark --help`. What follows the options is the command of the server.
const COMMAND: Grammar = Grammar {
    programs: &["redis-benchmark", "valkey-benchmark"],
    style: Style::Getopt,
    values: &[
        "-h",
        "-p",
        "-s",
        "-a",
        "--user",
        "-u",
        "-c",
        "-n",
        "-d",
        "--dbnum",
        "-3",
        "--threads",
        "-k",
        "-r",
        "-P",
        "-t",
        "--precision",
        "--num-functions",
        "--num-keys-in-fcall",
        "--cert",
        "--key",
        "--cacert",
        "--rps",
    ],
    flags: &["-q", "-e", "-l", "-I", "-x", "--csv", "--cluster", "--enable-tracking", "--tls", "--insecure"],
    hidden: &["-a", "--user", "-u"],
    operand: |_| true,
    operands: 0..=64,
};

/// Clients without -c.
const CLIENTS: f64 = 50.0;
const RESULTS: &str = "redis-benchmark counts replies with an error as requests (readHandler)";
const IDLE: &str =
    "whether clients waited for redis-benchmark itself, which has one thread without --threads";
/// Lines of a report between its first and its rate.
const WITHIN: usize = 12;
/// Times are in milliseconds.
const MILLISECOND: f64 = 1e-3;

fn is_head(line: &str) -> bool {
    line.len() > 14 && line.starts_with("====== ") && line.ends_with(" ======")
}

fn is_total(line: &str) -> bool {
    line.contains(" requests completed in ") && line.ends_with(" seconds")
}

/// The command of a line of `-q`, and its rate: `SET: 71073.21 requests per second, p50=0.335 msec`.
fn quiet(line: &str) -> Option<(&str, Printed)> {
    let (head, _) = line.split_once(" requests per second")?;
    let (name, rate) = head.rsplit_once(": ")?;
    (!name.is_empty() && !name.starts_with("throughput summary")).then_some((name, Printed::of(rate)?))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let has_head = || before.iter().rev().take(2).any(|line| is_head(line));
    is_head(line) && rest.iter().take(3).any(|line| is_total(line))
        || is_total(line) && !has_head()
        || quiet(line).is_some() && before.last().is_none_or(|line| quiet(line).is_none())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let line = run.lines.first().copied().unwrap_or_default();
    let command = run.command;
    let by_command =
        |name: &str, default: f64| command.and_then(|command| command.setting(&[name]).or(default));
    let parallel =
        run.lines.iter().take(WITHIN).find_map(|line| number(line.strip_suffix(" parallel clients")?));
    let connections = parallel.or_else(|| by_command("-c", CLIENTS));
    let load = Load {
        tool: "redis-benchmark",
        connections,
        connections_from: match (parallel, command) {
            (Some(clients), _) => format!("from {clients} parallel clients"),
            (None, Some(command)) => command.quote(&["-c"]),
            _ => String::new(),
        },
        depth: command.map_or(Depth::Unknown, depth),
        idle: IDLE,
        results: RESULTS,
        failed: vec![("unspecified", errors(run))],
        keeps_alive: match run.number("keep alive:") {
            Some(keeps) => Some(keeps != 0.0),
            None => by_command("-k", 1.0).map(|keeps| keeps != 0.0),
        },
        ..Load::default()
    };
    // valkey-benchmark, and redis-benchmark since 7.0, end at the first error.
    let ends_at_errors = command.is_some_and(|command| command.program.starts_with("valkey"));
    let figures = |own: Load| {
        let connects = own.completed.filter(|_| load.keeps_alive == Some(false));
        let answered = own.completed.filter(|_| ends_at_errors);
        let Load { subject, rate, seconds, completed, latency, unjudged, .. } = own;
        Load { subject, rate, seconds, completed, latency, unjudged, connects, answered, ..load.clone() }
            .figures(known)
    };
    if quiet(line).is_none() {
        return figures(of_report(run));
    }
    let all: Result<Vec<_>, _> =
        run.lines.iter().filter(|line| quiet(line).is_some()).map(|line| figures(of_line(line))).collect();
    Ok(all?.into_iter().flatten().collect())
}

/// A report: count and time, and since 6.2 a summary.
fn of_report(run: &Run) -> Load {
    let totals = run.lines.iter().find(|line| is_total(line)).and_then(|line| {
        let (count, rest) = line.split_once(" requests completed in ")?;
        Some((number(count)?, Printed::of(first(rest)?)?))
    });
    let rate = run.lines.iter().find_map(|line| {
        let (head, _) = line.split_once(" requests per second")?;
        Printed::of(head.trim_start_matches("throughput summary:").trim())
    });
    let head = run.lines.first().filter(|line| is_head(line));
    Load {
        subject: head.map_or(String::new(), |line| line.trim_matches(['=', ' ']).to_owned()),
        rate,
        seconds: totals.map(|(_, seconds)| seconds),
        completed: totals.map(|(count, _)| count),
        latency: summary(run).unwrap_or(Statistics { quantiles: median(run), ..Statistics::default() }),
        unjudged: "the distribution of latencies".to_owned(),
        ..Load::default()
    }
}

fn of_line(line: &str) -> Load {
    let (name, rate) = quiet(line).unzip();
    let median = line.split_once("p50=").and_then(|(_, rest)| Printed::of(first(rest)?));
    let quantiles = median.into_iter().map(|median| (0.5, median.times(MILLISECOND))).collect();
    Load {
        subject: name.unwrap_or_default().to_owned(),
        rate,
        latency: Statistics { quantiles, ..Statistics::default() },
        ..Load::default()
    }
}

/// The lines below `latency summary (msec):`: names, and values.
fn summary(run: &Run) -> Option<Statistics> {
    let at = run.lines.iter().position(|line| line.starts_with("latency summary (msec):"))?;
    let [names, values] = run.lines.get(at + 1..at + 3)? else { return None };
    let values: Vec<Printed> = values.split_whitespace().filter_map(Printed::of).collect();
    let all: Vec<(&str, Printed)> = names.split_whitespace().zip(values).collect();
    let of = |name: &str| all.iter().find(|(own, _)| *own == name).map(|(_, value)| value.times(MILLISECOND));
    let quantile = |(name, value): &(&str, Printed)| {
        Some((number(name.strip_prefix('p')?)? / 100.0, value.times(MILLISECOND)))
    };
    Some(Statistics {
        least: of("min"),
        mean: of("avg"),
        most: of("max"),
        deviation: None,
        quantiles: all.iter().filter_map(quantile).collect(),
    })
}

/// The median by the distribution: `50.000% <= 1.191 milliseconds (cumulative count 5050768)`.
fn median(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let rest = line.strip_prefix("50.000% <= ")?;
        rest.contains("cumulative").then_some((0.5, Printed::of(first(rest)?)?.times(MILLISECOND)))
    };
    run.lines.iter().find_map(of).into_iter().collect()
}

/// Requests that each client sends at once.
fn depth(command: &Command) -> Depth {
    match command.setting(&["-P"]) {
        Setting::Is(depth) if depth > 1.0 => Depth::Is(depth),
        Setting::Unknown if command.has(&["-P"]) => Depth::Unstated,
        Setting::Unknown => Depth::Unknown,
        _ => Depth::One,
    }
}

/// Errors that are printed: at most one a second.
fn errors(run: &Run) -> f64 {
    let from = run.previous.max(run.before.len().saturating_sub(WITHIN));
    let all = run.before[from..].iter().chain(run.lines);
    all.filter(|line| line.starts_with("Error from server")).count() as f64
}
