//! go-wrk (adjust/go-wrk): calls, their times, and the shares of statuses.

use figure::Figure;

use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{TIMES, begins, first, leads_to, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("go-wrk", &["Total number of calls:", "Avg time per request:"], starts, None, parse);

/// Lines of a report up to its rate.
const WITHIN: usize = 16;

fn is_rate(line: &str) -> bool {
    line.starts_with("Requests per second:") && !line.contains('[')
}

const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Used Connections:"),
    |line| line.starts_with("Total number of calls:"),
    |line| line.starts_with("Total time passed:"),
    |line| line.starts_with("Avg time per request:"),
    is_rate,
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_sure = rest.first().is_some_and(|line| !is_rate(line));
    is_sure && begins(MARKS, before, rest) && leads_to(MARKS, rest, WITHIN, is_rate)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let time = |label: &str| with_unit(run.after(label)?, TIMES);
    let connections = run.number("Used Connections:");
    let of_status = |digit: u8| {
        let [label, old] = ["Responses:", "responses:"].map(|word| format!("{digit}0X {word}"));
        run.number(&label).or(run.number(&old))
    };
    let statuses = |digits: [u8; 2]| digits.into_iter().filter_map(of_status).sum::<f64>();
    let quantiles = [(0.5, "Median time per request:"), (0.99, "99th percentile time:")];
    let load = Load {
        tool: "go-wrk",
        subject: run.after("URL:").unwrap_or_default().to_owned(),
        rate: run.printed("Requests per second:"),
        seconds: time("Total time passed:"),
        completed: run.after("Total number of calls:").and_then(|text| number(first(text)?)),
        answered: of_status(2).map(|_| statuses([2, 3])),
        failed: vec![("status", statuses([4, 5])), ("unspecified", run.number("Errors:").unwrap_or(0.0))],
        latency: Statistics {
            mean: time("Avg time per request:"),
            most: time("Slowest time for request:"),
            quantiles: quantiles.into_iter().filter_map(|(rank, label)| Some((rank, time(label)?))).collect(),
            ..Statistics::default()
        },
        connections,
        connections_from: connections.map_or(String::new(), |all| format!("from Used Connections: {all}")),
        results: "",
        ..Load::default()
    };
    load.figures(known)
}
