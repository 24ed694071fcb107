//! ab (ApacheBench).

use figure::evidence::audit::COMMAND as CALLED;

use crate::command::{Grammar, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, leads_to, number};

pub(super) const FORMAT: Format = Format::lines(
    "ab",
    &["This is ApacheBench", "Concurrency Level:", "Requests per second:"],
    starts,
    Some(&COMMAND),
    parse,
);

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

/// Lines that a report has, in order, up to that of its rate.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("This is ApacheBench"),
    |line| line.starts_with("Benchmarking ") && line.contains("(be patient"),
    |line| line.starts_with("Server Software:"),
    |line| line.starts_with("Server Hostname:"),
    |line| line.starts_with("Server Port:"),
    |line| line.starts_with("Document Path:"),
    |line| line.starts_with("Document Length:"),
    |line| line.starts_with("Concurrency Level:"),
    |line| line.starts_with("Time taken for tests:"),
    |line| line.starts_with("Complete requests:"),
    |line| line.starts_with("Failed requests:"),
    |line| line.starts_with("Non-2xx responses:"),
    |line| line.starts_with("Keep-Alive requests:"),
    |line| line.starts_with("Total transferred:"),
    |line| line.starts_with("HTML transferred:"),
    is_rate,
];
/// Lines of a report up to that of its rate: one for each tenth of the requests, and errors.
const WITHIN: usize = 100;

fn is_rate(line: &str) -> bool {
    line.starts_with("Requests per second:") && line.contains("[#/sec]")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_sure = rest.first().is_some_and(|line| MARKS[0](line) || line.starts_with("Concurrency Level:"));
    // Authors who shorten a report put its lines in another order.
    let goes_on = || {
        rest.first().is_some_and(|line| line.contains(" transferred:"))
            && before.last().is_some_and(|line| is_rate(line) || line.starts_with("Time per request:"))
    };
    begins(MARKS, before, rest) && (is_sure || leads_to(MARKS, rest, WITHIN, is_rate)) && !goes_on()
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
    let kept = run.number("Keep-Alive requests:");
    // The line stands behind that of the requests, and only with -k.
    let keeps_alive = match (kept, completed, run.after("Total transferred:")) {
        (Some(_), ..) => Some(true),
        (None, Some(_), Some(_)) => Some(false),
        _ => None,
    };
    let made = completed.zip(keeps_alive).map(|(all, _)| (all - kept.unwrap_or(0.0)).max(0.0));
    let load = Load {
        runs_out: true,
        tool: "ab",
        subject: if host.is_empty() && path.is_empty() {
            run.operand().unwrap_or_default().to_owned()
        } else {
            format!("{host}{path}")
        },
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
        keeps_alive,
        connects: made,
        takes_ports: true,
        connect_longest: row(run, "Connect:").most.map(|longest| longest.value),
        results: RESULTS,
        unjudged: run.after("Processing:").map_or("", |_| "times of the parts of a request").to_owned(),
        ..Load::default()
    };
    let mut figures = load.figures(known)?;
    // Runs with another -n are of other figures. A count that is not round may be of -t.
    if let Some(all) = completed.filter(|all| run.command.is_none() && all % ROUND == 0.0) {
        figures.iter_mut().for_each(|figure| figure.conditions.set(CALLED, format!("-n {all}")));
    }
    Ok(figures)
}

/// What people ask for is a multiple of this.
const ROUND: f64 = 10.0;

fn latency(run: &Run) -> Statistics {
    Statistics { quantiles: quantiles(run), ..row(run, "Total:") }
}

/// A row of times: smallest, mean, deviation, median, largest; with -S, and before 1.3, without the deviation and the median.
fn row(run: &Run, label: &str) -> Statistics {
    let row = run.after(label).unwrap_or_default();
    let cells: Vec<Option<Printed>> = row.split_whitespace().take(5).map(Printed::of).collect();
    let at = |at: usize| cells.get(at).copied().flatten().map(|ms| ms.times(1e-3));
    let (deviation, most) = match cells.len() {
        5 => (at(2), at(4)),
        3 => (None, at(2)),
        _ => (None, None),
    };
    Statistics { least: at(0), mean: at(1), most, deviation, quantiles: Vec::new() }
}

/// Lines such as `99%    214`, in milliseconds.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some((number(quantile)? / 100.0, Printed::of(first(latency)?)?.times(1e-3)))
    };
    run.lines.iter().filter_map(of).collect()
}
