//! rewrk (lnx-search/rewrk): wrk's report by a client in Rust.

use figure::Figure;

use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, TIMES, begins, first, leads_to, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("rewrk", &[" connections @ ", "Req/Sec:"], starts, None, parse);

const RESULTS: &str = "rewrk does not look at the status of an answer";
/// Lines from the first of a report to its rate.
const WITHIN: usize = 10;

fn is_head(line: &str) -> bool {
    line.starts_with("Benchmarking ") && line.contains(" connections @ ")
}

fn is_rate(line: &str) -> bool {
    line.starts_with("Total:") && line.contains(" Req/Sec:")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let marks: &[fn(&str) -> bool] = &[is_head, |line| line.starts_with("Latencies:"), is_rate];
    begins(marks, before, rest) && leads_to(marks, rest, WITHIN, is_rate)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let head =
        run.lines.first().filter(|line| is_head(line)).and_then(|line| line.strip_prefix("Benchmarking "));
    let connections = head.and_then(|head| number(head.split_whitespace().next()?));
    let (url, time) =
        head.and_then(|head| head.split_once(" @ ")?.1.rsplit_once(" for ")).unwrap_or_default();
    let totals = run.lines.iter().find(|line| is_rate(line)).and_then(|line| line.split_once(" Req/Sec:"));
    let (count, rate) = totals.ok_or("has no line of the requests a second")?;
    let row = run.lines.iter().position(|line| line.starts_with("Avg ") && line.contains("Stdev"));
    let cells: Vec<&str> =
        row.and_then(|at| run.lines.get(at + 1)).map_or(Vec::new(), |line| line.split_whitespace().collect());
    let cell = |at: usize| cells.get(at).and_then(|cell| with_unit(cell, TIMES));
    let failed = run.lines.iter().filter_map(|line| number(line.split_once(" Errors: ")?.0)).sum();
    let has_tails = run.lines.iter().any(|line| line.contains("Percentile"));
    let load = Load {
        tool: "rewrk",
        subject: url.to_owned(),
        rate: first(rate).and_then(Printed::of),
        completed: count.strip_prefix("Total:").and_then(|count| number(count.trim())),
        asked_seconds: seconds(time),
        failed: vec![("unspecified", failed)],
        latency: Statistics {
            mean: cell(0),
            deviation: cell(1),
            least: cell(2),
            most: cell(3),
            quantiles: Vec::new(),
        },
        connections,
        connections_from: connections
            .map_or(String::new(), |connections| format!("from {connections} connections")),
        results: RESULTS,
        unjudged: if has_tails { "means of the slowest requests (its table of percentiles)" } else { "" }
            .to_owned(),
        ..Load::default()
    };
    load.figures(known)
}

/// `30 second(s)`, `1 minute(s)`: whole units of what may be more.
fn seconds(text: &str) -> Option<Printed> {
    let (count, unit) = text.split_once(' ')?;
    let unit = match unit.get(..3)? {
        "sec" => 1.0,
        "min" => 60.0,
        "hou" => 3600.0,
        _ => return None,
    };
    Some(Printed { value: (number(count)? + 0.5) * unit, off: 0.5 * unit })
}
