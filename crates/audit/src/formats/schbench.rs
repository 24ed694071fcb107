//! schbench: quantiles of wake-up and request latencies, and requests a second. What it prints while it runs is of all time so far.

use figure::evidence::audit::SUBJECT;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::Rows;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::statistics::{Statistics, has_quantile};
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    "schbench",
    &["atencies percentiles (usec)", "Latency percentiles (usec)"],
    starts,
    None,
    parse,
);

/// Seconds that it must run.
const LEAST: f64 = 1.0;
/// Lines between two blocks of a run.
const WITHIN: usize = 40;
/// Quantiles that become figures.
const QUANTILES: &[(f64, &str)] = &[(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];

/// A head: what it is of, seconds so far, samples.
#[derive(Clone, Copy, Debug)]
struct Head<'a> {
    of: &'a str,
    seconds: Option<f64>,
    samples: Option<f64>,
}

/// `Wakeup Latencies percentiles (usec) runtime 10 (s) (602 total samples)`.
fn head(line: &str) -> Option<Head<'_>> {
    let (of, rest) = line.split_once(" percentiles (")?;
    let of = match of {
        "Wakeup Latencies" | "Latency" => "wakeup",
        "Request Latencies" => "request",
        "RPS" => "rps",
        _ => return None,
    };
    let after = |label: &str| number(rest.split_once(label)?.1.split_whitespace().next()?);
    let samples =
        rest.rsplit_once('(').and_then(|(_, inner)| inner.split_once(" total")).map(|(count, _)| count);
    Some(Head { of, seconds: after("runtime "), samples: samples.and_then(number) })
}

/// The place of a block among those of one moment.
fn rank(head: &Head) -> usize {
    ["wakeup", "request", "rps"].iter().position(|of| *of == head.of).unwrap_or(0)
}

/// `* 99.0th: 74880      (54 samples)`.
fn quantile(line: &str) -> Option<(f64, Printed)> {
    let (share, rest) = line.trim_start_matches(['*', ' ']).split_once("th: ")?;
    let share = number(share).filter(|share| *share <= 100.0)? / 100.0;
    Some(((share * 1e6).round() / 1e6, Printed::of(rest.split_whitespace().next()?)?))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(own) = rest.first().and_then(|line| head(line)) else { return false };
    let near = before.iter().rev().take(WITHIN);
    let goes_on = |other: &Head| match (other.seconds, own.seconds) {
        (Some(before), Some(now)) => before < now || before == now && rank(other) < rank(&own),
        _ => rank(other) < rank(&own),
    };
    let nearest = near
        .take_while(|line| !line.contains(" rps: ") || line.starts_with("current"))
        .find_map(|line| head(line));
    rest.iter().skip(1).take(8).any(|line| quantile(line).is_some())
        && !nearest.is_some_and(|other| goes_on(&other))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut blocks: Vec<(Head, Statistics)> = Vec::new();
    let mut at = None;
    for line in run.lines {
        if let Some(own) = head(line) {
            let place = blocks.iter().position(|(other, _)| other.of == own.of).unwrap_or(blocks.len());
            blocks.truncate(blocks.len().max(place));
            if place == blocks.len() {
                blocks.push((own, Statistics::default()));
            } else {
                blocks[place] = (own, Statistics::default());
            }
            at = Some(place);
        }
        let Some((_, statistics)) = at.and_then(|at| blocks.get_mut(at)) else { continue };
        if let Some(own) = quantile(line).filter(|_| statistics.quantiles.len() < 20) {
            statistics.quantiles.push(own);
        }
        if let Some((least, most)) = line.strip_prefix("min=").and_then(|rest| rest.split_once(", max=")) {
            (statistics.least, statistics.most) = (Printed::of(least), Printed::of(most.trim()));
            at = None;
        }
    }
    let mut rows = Rows::default();
    for (head, statistics) in &blocks {
        let is_rate = head.of == "rps";
        let factor = if is_rate { 1.0 } else { 1e-6 };
        let samples = Statistics {
            least: statistics.least.map(|own| own.times(factor)),
            most: statistics.most.map(|own| own.times(factor)),
            quantiles: statistics.quantiles.iter().map(|(share, own)| (*share, own.times(factor))).collect(),
            ..Statistics::default()
        };
        for (share, word) in QUANTILES {
            let Some((_, value)) = statistics.quantiles.iter().find(|(own, _)| own == share) else {
                continue;
            };
            if is_rate && *share != 0.5 {
                continue;
            }
            if !is_rate && head.samples.is_some_and(|count| !has_quantile(count, *share)) {
                rows.note(&format!("{word} of too few samples"));
                continue;
            }
            let (title, unit, better) = match is_rate {
                true => ("median of requests a second".to_owned(), Unit::PER_S, Better::Higher),
                false => (format!("{word} of {} latency", head.of), Unit::of("µs"), Better::Lower),
            };
            let part = if is_rate { "rps".to_owned() } else { format!("{}.{word}", head.of) };
            let mut own =
                Quantity::of("schbench", part, format!("{title} by schbench"), *value, unit, better);
            own.quantile = Some(*share);
            own.samples = samples.clone();
            own.seconds = head.seconds;
            own.least_seconds = head.seconds.map(|_| LEAST);
            let mut figure = own.figure(known);
            figure.conditions.set(SUBJECT, String::new());
            rows.push(figure);
        }
    }
    rows.note("other quantiles, the average of requests a second");
    rows.figures("has no quantile")
}
