//! Gatling: the summary that it prints at the end, with a column for all requests, those that passed (OK) and those that failed (KO).

mod statistics;
mod summary;

pub(super) use statistics::STATISTICS;

use figure::Figure;
use figure::format::plain_to;

use crate::MAX_SUBJECT;
use crate::format::Format;
use crate::formats::hey::kind;
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, number, percent};
use summary::Summary;

pub(super) const CONSOLE: Format = Format::lines(
    "Gatling",
    &[
        "---- Global Information ---",
        "mean requests/sec",
        "mean throughput (rps)",
        "response time std deviation",
    ],
    starts,
    None,
    parse,
);

const HEAD: &str = "---- Global Information ---";
/// Labels of the rows: until 3.12, since, and in the first versions (StatsReportGenerator.scala).
const COUNT: &[&str] = &["request count", "numberOfRequests"];
const LEAST: &[&str] = &["min response time", "minResponseTime"];
const MOST: &[&str] = &["max response time", "maxResponseTime"];
const MEAN: &[&str] = &["mean response time", "meanResponseTime"];
const DEVIATION: &[&str] = &["std deviation", "response time std deviation", "stdDeviation"];
const RATE: &[&str] = &["mean requests/sec", "mean throughput (rps)", "meanNumberOfRequestsPerSecond"];
const QUANTILE: &str = "response time ";
/// Lines before a summary in which the simulation is named.
const NAMED_WITHIN: usize = 60;
/// The most errors that are listed.
const MOST_ERRORS: usize = 100;
const MILLISECOND: f64 = 1e-3;

/// The rows, in their order, but for those of quantiles.
const ROWS: &[fn(&str) -> bool] = &[
    |line| line.starts_with(HEAD),
    |line| is_row(line, COUNT),
    |line| is_row(line, LEAST),
    |line| is_row(line, MOST),
    |line| is_row(line, MEAN),
    |line| is_row(line, DEVIATION),
    |line| is_row(line, RATE),
];

/// The cells of a row with one of these labels: of all, OK, KO. A dash stands where there are none.
fn cells(line: &str, labels: &[&str]) -> Option<[Option<Printed>; 3]> {
    let rest = labels.iter().find_map(|label| line.strip_prefix(label))?;
    let rest = rest.trim_start().trim_start_matches("(ms)").trim_start();
    let of = |token: &str| Printed::of(token.trim());
    // `| 14,924 | 9,924 | 5,000`, or `14924 (OK=9924   KO=5000  )`.
    if let Some(row) = rest.strip_prefix('|') {
        let mut parts = row.split('|').map(of);
        let all = parts.next()?;
        return Some([all, parts.next()?, parts.next().flatten()]);
    }
    let (all, parts) = rest.split_once("(OK=")?;
    let (good, bad) = parts.split_once("KO=")?;
    Some([of(all), of(good), of(bad.split(')').next()?)])
}

fn is_row(line: &str, labels: &[&str]) -> bool {
    cells(line, labels).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(ROWS, before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let row = |labels: &[&str]| run.lines.iter().find_map(|line| cells(line, labels));
    let all = |labels: &[&str]| row(labels).and_then(|[all, ..]| all);
    let time = |labels: &[&str]| all(labels).map(|time| time.times(MILLISECOND));
    let quantiles = run.lines.iter().filter_map(|line| {
        let (rank, rest) = line.strip_prefix(QUANTILE)?.split_once(" percentile")?;
        let rank = rank.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let [all, ..] = cells(rest, &[""])?;
        Some((percent(rank)?, all?.times(MILLISECOND)))
    });
    let counts = row(COUNT).unwrap_or_default().map(|count| count.map(|count| count.value));
    let summary = Summary {
        subject: simulation(run),
        counts,
        rate: all(RATE),
        latency: Statistics {
            least: time(LEAST),
            mean: time(MEAN),
            most: time(MOST),
            deviation: time(DEVIATION),
            quantiles: quantiles.collect(),
        },
        failed: failed(run),
        unjudged: unjudged(run),
    };
    summary.load().figures(known)
}

/// What failed, by the texts of the errors, which stand below with their counts: `> status.find.in(200), found 500    5000 (100.0%)`.
fn failed(run: &Run) -> Vec<(&'static str, f64)> {
    let below = run.lines.iter().skip_while(|line| !line.starts_with("---- Errors ---")).skip(1);
    let errors =
        below.take_while(|line| !line.starts_with(['-', '='])).take(MOST_ERRORS).filter_map(|line| {
            let (text, count) =
                line.trim_end().rsplit_once('(')?.0.trim_end().rsplit_once(char::is_whitespace)?;
            Some((of_error(text), number(count)?))
        });
    errors.collect()
}

fn of_error(text: &str) -> &'static str {
    if text.starts_with("status.") {
        return "status";
    }
    match text.contains(").find") {
        true => "another body",
        false => kind(text),
    }
}

/// The simulation, where it is named before its summary; else what distinguishes it from others in the text.
fn simulation(run: &Run) -> String {
    let own = run.before.get(run.previous..).unwrap_or_default();
    let name = own.iter().rev().take(NAMED_WITHIN).find_map(|line| {
        let rest = line.strip_prefix("Simulation ")?;
        Some(rest.split_whitespace().next()?.to_owned())
    });
    name.map_or(format!("line {}", run.before.len() + 1), |name| plain_to(&name, MAX_SUBJECT))
}

/// What else stands there.
fn unjudged(run: &Run) -> String {
    let has = |head: &str| run.lines.iter().any(|line| line.starts_with(head));
    let mut all = vec!["statistics of OK and KO apart"];
    if has("---- Response Time Distribution ---") {
        all.push("response time distribution");
    }
    all.join("; ")
}
