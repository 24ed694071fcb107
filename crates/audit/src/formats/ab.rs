//! ab (ApacheBench).

use crate::command::{Grammar, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, is_alone, number};

pub(super) const FORMAT: Format = Format { name: "ab", starts, command: Some(&COMMAND), parse };

/// ab(1).
const COMMAND: Grammar = Grammar {
    programs: &["ab", "abs"],
    style: Style::Getopt,
    values: &[
        "-n", "-c", "-t", "-s", "-b", "-B", "-p", "-u", "-T", "-v", "-x", "-y", "-z", "-C", "-H", "-A", "-P",
        "-X", "-g", "-e", "-m", "-f", "-Z", "-E", "-I",
    ],
    flags: &["-k", "-i", "-w", "-V", "-d", "-S", "-q", "-l", "-r"],
    hidden: &["-C", "-H", "-A", "-P", "-X"],
    operand: is_target,
    operands: 1..=1,
};

/// ab.c: all other answers are compared with the length of the first.
const RESULTS: &str =
    "ab fails answers of another length than the first; without -k it makes a connection for each request";

fn is_head(line: &str) -> bool {
    line.starts_with("This is ApacheBench")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let level = |line: &str| line.starts_with("Concurrency Level:");
    rest.first().is_some_and(|line| is_head(line) || level(line) && is_alone(before, is_head, level))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let completed = run.number("Complete requests:");
    let failed = run.number("Failed requests:").unwrap_or(0.0);
    let kinds = run.after("(Connect:").map_or(String::new(), |rest| format!("Connect: {rest}"));
    let of = |kind: &str| kinds.split_once(kind).and_then(|(_, rest)| number(first(rest)?)).unwrap_or(0.0);
    let length = of("Length: ");
    let refused = run.number("Non-2xx responses:").unwrap_or(0.0);
    // Failures other than by length. Before 2.2 ab did not print the kinds.
    let broken = if kinds.is_empty() { failed } else { of("Receive: ") + of("Exceptions: ") };
    let host = run.after("Server Hostname:").unwrap_or_default();
    let path = run.after("Document Path:").unwrap_or_default();
    let load = Load {
        tool: "ab",
        subject: format!("{host}{path}"),
        rate: run.printed("Requests per second:"),
        seconds: run.printed("Time taken for tests:"),
        completed,
        answered: completed.map(|completed| (completed - refused - broken).max(0.0)),
        failed: vec![("status", refused), ("closed before", broken)],
        unconnected: of("Connect: "),
        // An answer with an error status has another length by nature.
        other_length: Some((length - refused).max(0.0)),
        latency: latency(run),
        connections: run.number("Concurrency Level:"),
        keeps_alive: Some(run.after("Keep-Alive requests:").is_some()),
        results: RESULTS,
        ..Load::default()
    };
    load.figures(known)
}

/// The row of all: smallest, mean, deviation, median, largest; with -S, and before 1.3, without the deviation and the median.
fn latency(run: &Run) -> Statistics {
    let row = run.after("Total:").unwrap_or_default();
    let cells: Vec<Option<Printed>> = row.split_whitespace().take(5).map(Printed::of).collect();
    let at = |at: usize| cells.get(at).copied().flatten().map(|ms| ms.times(1e-3));
    let (deviation, most) = match cells.len() {
        5 => (at(2), at(4)),
        3 => (None, at(2)),
        _ => (None, None),
    };
    Statistics { least: at(0), mean: at(1), most, deviation, quantiles: quantiles(run) }
}

/// Lines such as `99%    214`, in milliseconds.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some((number(quantile)? / 100.0, Printed::of(first(latency)?)?.times(1e-3)))
    };
    run.lines.iter().filter_map(of).collect()
}
