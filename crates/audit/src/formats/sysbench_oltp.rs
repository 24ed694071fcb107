//! sysbench's tests of a database: transactions of threads that wait for each answer.

use figure::Figure;

use crate::command::Setting;
use crate::format::Format;
use crate::formats::sysbench::{COMMAND, latency, seconds};
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::text::{Printed, begins, first, number};

pub(super) const FORMAT: Format = Format::lines(
    "sysbench oltp",
    &["SQL statistics:", "OLTP test statistics:", " per sec.)"],
    starts,
    Some(&COMMAND),
    parse,
);

/// Lines before a report in which those of its progress and its head may stand.
const WITHIN: usize = 20_000;
/// Lines of a report up to that of its queries a second.
const WITHIN_REPORT: usize = 12;
/// From this share of the transactions on, errors that sysbench ignores are more than deadlocks by chance.
const MANY: f64 = 0.01;
const RESULTS: &str = "sysbench repeats a transaction that failed by a deadlock, and counts it once";

fn is_rate(line: &str) -> bool {
    line.starts_with("transactions:") && line.ends_with("per sec.)")
}

const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("SQL statistics:") || line.starts_with("OLTP test statistics:"),
    |line| line.starts_with("queries performed:"),
    is_rate,
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let near = || rest.iter().take(WITHIN_REPORT);
    let is_next = |line: &&str| line.starts_with("queries:") || line.starts_with("read/write requests:");
    begins(MARKS, before, rest) && near().any(|line| is_rate(line)) && near().any(is_next)
}

/// Threads by the head, the lines of the progress, or the command; and what shows them.
fn threads(run: &Run) -> Option<(f64, String)> {
    let of = |line: &&str| {
        let count = line.strip_prefix("Number of threads:").map(str::trim);
        // Before 1.0 `[  46s] threads: 32, tps: 13240.49`.
        let progress = || line.split_once(" thds: ").or(line.split_once("s] threads: "));
        let count = count.or_else(|| first(progress()?.1))?;
        Some((number(count)?, format!("from {}", line.split(" tps:").next().unwrap_or_default())))
    };
    let printed = head(run).iter().rev().find_map(of);
    printed.or_else(|| {
        let names = ["--threads", "--num-threads"];
        let command = run.command?;
        match command.setting(&names) {
            Setting::Is(threads) => Some((threads, command.quote(&names))),
            _ => None,
        }
    })
}

/// Transactions a second of each interval of the progress.
fn intervals(run: &Run) -> Vec<f64> {
    let rate = |line: &&str| {
        let is_progress = line.starts_with('[') && line.contains(" tps: ");
        number(first(line.split_once(" tps: ").filter(|_| is_progress)?.1)?)
    };
    head(run).iter().filter_map(rate).collect()
}

/// The lines of the head and of the progress.
fn head<'a>(run: &Run<'a>) -> &'a [&'a str] {
    let from = run.previous.max(run.before.len().saturating_sub(WITHIN));
    &run.before[from..]
}

/// At which rate transactions began: the head has a line of it where there is one, and so does the command. `None` where neither is
/// there to show it.
fn rate_asked(run: &Run) -> Option<Option<f64>> {
    let head = head(run);
    let target = head.iter().rev().find_map(|line| line.strip_prefix("Target transaction rate:"));
    let by_head = target.and_then(|rest| number(rest.trim().strip_suffix("/sec")?));
    let has_head = head.iter().any(|line| line.starts_with("Number of threads:"));
    match run.command.map(|command| command.setting(&["--rate"])) {
        _ if by_head.is_some() => Some(by_head),
        Some(Setting::Is(rate)) => Some(Some(rate).filter(|rate| *rate > 0.0)),
        _ => has_head.then_some(None),
    }
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let row = |label: &str| {
        let (count, rest) = run.after(label)?.split_once('(')?;
        Some((number(count.trim())?, Printed::of(first(rest)?)?))
    };
    let (completed, rate) = row("transactions:").ok_or("has no line of the transactions a second")?;
    let errors = row("ignored errors:").or(row("deadlocks:")).map_or(0.0, |(count, _)| count);
    let (connections, connections_from) = threads(run).unzip();
    let is_many = errors > MANY * completed;
    let asked = rate_asked(run);
    let mut unjudged = vec!["queries a second".to_owned()];
    if errors > 0.0 && !is_many {
        unjudged.push(format!("{errors} errors that were ignored"));
    }
    let load = Load {
        tool: "sysbench-oltp",
        rate: Some(rate),
        seconds: seconds(run),
        completed: Some(completed),
        intervals: intervals(run),
        answered: Some(completed),
        failed: vec![("unspecified", if is_many { errors } else { 0.0 })],
        latency: latency(run),
        connections,
        connections_from: connections_from.unwrap_or_default(),
        rate_asked: asked.flatten().map(Asked::Rate),
        idle: if asked.is_some() { "" } else { "whether transactions began at a rate (--rate)" },
        results: RESULTS,
        unjudged: unjudged.join("; "),
        ..Load::default()
    };
    load.figures(known)
}
