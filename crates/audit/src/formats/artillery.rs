//! Artillery: the summary report at the end of a run, of 1.x and 2.

use figure::Figure;

use crate::format::Format;
use crate::formats::hey::kind;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format::lines("Artillery", &["Summary report @ "], starts, None, parse);

/// The most lines of a report.
const LINES: usize = 200;
const RESULTS: &str = "Artillery's latencies are those of answers; requests that failed are in none";
/// Times are in milliseconds.
const MILLISECOND: f64 = 1e-3;

fn starts(_: &[&str], rest: &[&str]) -> bool {
    let has = |line: &&str| line.starts_with("http.requests:") || line.starts_with("Requests completed:");
    rest.first().is_some_and(|line| line.starts_with("Summary report @ ")) && rest.iter().take(LINES).any(has)
}

/// Name and value: `http.requests: ...... 184723`, in 1.x `RPS sent: 194.82`.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.rsplit_once(": ").or(line.split_once(": "))?;
    Some((name.trim(), value.trim_start_matches(['.', ' '])))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines: Vec<&str> = run.lines.iter().take(LINES).copied().collect();
    let value = |names: &[&str]| {
        lines
            .iter()
            .filter_map(|line| row(line))
            .find(|(name, _)| names.contains(name))
            .and_then(|(_, value)| first(value))
    };
    let count = |names: &[&str]| value(names).and_then(number);
    let rate =
        value(&["http.request_rate"]).map(|rate| rate.trim_end_matches("/sec")).or(value(&["RPS sent"]));
    // Lines below a heading, up to the next one.
    let below = |headings: &[&str]| -> Vec<(&str, &str)> {
        let at = lines.iter().position(|line| headings.contains(line));
        let own = at.map_or(&[][..], |at| &lines[at + 1..]);
        own.iter().map_while(|line| row(line)).collect()
    };
    let times = below(&["http.response_time:", "Request latency:"]);
    let time = |name: &str| {
        let own = times.iter().take_while(|(own, _)| !own.contains('.')).find(|(own, _)| *own == name);
        own.and_then(|(_, value)| Some(Printed::of(first(value)?)?.times(MILLISECOND)))
    };
    let by_code = |prefix: &str, rows: &[(&str, &str)]| -> Vec<(f64, f64)> {
        let own = rows
            .iter()
            .filter_map(|(name, value)| Some((number(name.strip_prefix(prefix)?)?, number(first(value)?)?)));
        own.collect()
    };
    let all: Vec<(&str, &str)> = lines.iter().filter_map(|line| row(line)).collect();
    let mut codes = by_code("http.codes.", &all);
    codes.extend(by_code("", &below(&["Codes:"])));
    let sum = |range: std::ops::Range<f64>| -> f64 {
        codes.iter().filter(|(code, _)| range.contains(code)).map(|(_, count)| count).sum()
    };
    let mut failed = vec![("status", sum(400.0..600.0))];
    let named =
        all.iter().filter_map(|(name, value)| Some((name.strip_prefix("errors.")?, number(first(value)?)?)));
    let listed = below(&["Errors:"]);
    let listed = listed.iter().filter_map(|(name, value)| Some((*name, number(first(value)?)?)));
    failed.extend(named.chain(listed).map(|(name, count)| (of_error(name), count)));
    let quantiles = [(0.5, "median"), (0.95, "p95"), (0.99, "p99")];
    let load = Load {
        tool: "artillery",
        subject: format!("line {}", run.before.len() + 1),
        rate: rate.and_then(Printed::of),
        completed: None,
        answered: (!codes.is_empty()).then(|| sum(100.0..400.0)),
        failed,
        latency: Statistics {
            least: time("min"),
            mean: time("mean"),
            most: time("max"),
            deviation: None,
            quantiles: quantiles
                .into_iter()
                .filter_map(|(rank, name)| Some((rank, rough(time(name)?))))
                .collect(),
        },
        seconds: count(&["http.requests", "Requests completed"])
            .zip(rate.and_then(number).filter(|rate| *rate > 0.0))
            .map(|(all, rate)| Printed { value: all / rate, off: 0.05 * all / rate }),
        pauses: true,
        results: RESULTS,
        unjudged: "times of scenarios; users".to_owned(),
        ..Load::default()
    };
    load.figures(known)
}

/// Quantiles are of a sketch with a relative accuracy of 1 %.
fn rough(time: Printed) -> Printed {
    Printed { off: time.off + 0.011 * time.value, ..time }
}

/// Codes of errors of Node.js: `ETIMEDOUT`.
fn of_error(name: &str) -> &'static str {
    match name {
        _ if name.contains("TIMEDOUT") || name.contains("TIMEOUT") => "timeout",
        _ if name.contains("REFUSED") => "refused",
        _ if name.contains("RESET") => "reset",
        _ if name.contains("ADDRNOTAVAIL") => "no port",
        _ => kind(name),
    }
}
