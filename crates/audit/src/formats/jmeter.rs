//! Apache JMeter: the lines of its summariser. Files below: reports as CSV, results of single samples as CSV and XML, the dashboard's
//! statistics.

mod report;
mod samples;
mod statistics;
mod xml;

pub(super) use report::REPORT;
pub(super) use samples::SAMPLES;
pub(super) use statistics::STATISTICS;
pub(super) use xml::ELEMENTS;

use figure::Figure;

use crate::format::Format;
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const SUMMARY: Format = Format::lines("JMeter", &["/s Avg:"], starts, None, parse);

/// JMeter's times are whole milliseconds.
const MILLISECOND: f64 = 1e-3;
/// Lines between two that belong together: JMeter logs other things meanwhile.
const WITHIN: usize = 400;
/// By what a share of errors may be off, which is printed with two decimals of a percent.
const PERCENT: f64 = 1e-4;

/// A line of the summariser (Summariser.java): of an interval, `summary +`, or of all so far, `summary =`.
struct Summary {
    is_total: bool,
    samples: f64,
    seconds: Printed,
    rate: Option<Printed>,
    /// Whether numbers have decimal commas.
    has_commas: bool,
    mean: Printed,
    least: Option<Printed>,
    most: Option<Printed>,
    errors: f64,
    /// Errors of the samples, 0 to 1.
    share: Option<f64>,
    /// Threads that were started so far; only of an interval.
    started: Option<f64>,
}

fn summary(line: &str) -> Option<Summary> {
    let (head, tail) = line.split_once("/s Avg:")?;
    let (head, rate) = head.rsplit_once('=')?;
    let (head, time) = head.trim_end().rsplit_once(" in ")?;
    let (label, samples) = head.trim_end().rsplit_once(char::is_whitespace)?;
    let mark = label.trim_end().chars().next_back()?;
    let of = |label: &str| first(tail.split_once(label)?.1);
    let millisecond = |label: &str| Some(Printed::of(of(label)?)?.times(MILLISECOND));
    let share = tail.split_once('(').and_then(|(_, rest)| number(rest.split_once('%')?.0));
    matches!(mark, '=' | '+').then_some(())?;
    Some(Summary {
        is_total: mark == '=',
        samples: number(samples)?,
        seconds: duration(time.trim())?,
        rate: Printed::of(rate.trim()),
        has_commas: rate.contains(','),
        mean: Printed::of(first(tail)?)?.times(MILLISECOND),
        least: millisecond("Min:"),
        most: millisecond("Max:"),
        errors: number(of("Err:")?)?,
        share: share.map(|percent| percent / 100.0),
        started: of("Started:").and_then(number).filter(|threads| *threads > 0.0),
    })
}

/// `00:01:30`, which is rounded to seconds; before JMeter 3.0 `32.5s`.
fn duration(text: &str) -> Option<Printed> {
    if let Some(seconds) = text.strip_suffix('s') {
        return Printed::of(seconds);
    }
    let mut value = 0.0;
    for part in text.split(':') {
        value = value * 60.0 + number(part)?;
    }
    text.contains(':').then_some(Printed { value, off: 0.5 })
}

fn is_begin(line: &str) -> bool {
    line.contains("Creating summariser <")
        || line.starts_with("Starting ") && line.contains("test ") && line.contains(" @ ")
}

fn is_end(line: &str) -> bool {
    line.contains("Tidying up ") || line.starts_with("... end of run")
}

/// A run begins at its first line, or at a line of the summariser that cannot go on with the nearest one before it.
fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_known =
        |line: &&&str| is_begin(line) || is_end(line) || line.contains("/s Avg:") && summary(line).is_some();
    let nearest = || before.iter().rev().take(WITHIN).find(is_known);
    if is_begin(line) {
        // Without a result it is no run.
        let has_result = rest.iter().take(WITHIN).skip(1).find(is_known).is_some_and(|line| !is_end(line));
        return has_result && !nearest().is_some_and(|line| is_begin(line));
    }
    let Some(own) = line.contains("/s Avg:").then(|| summary(line)).flatten() else { return false };
    let Some(nearest) = nearest() else { return true };
    if is_begin(nearest) || is_end(nearest) {
        return is_end(nearest);
    }
    let Some(other) = summary(nearest) else { return true };
    match (other.is_total, own.is_total) {
        // An interval and the total with it.
        (false, true) => own.samples < other.samples && before.last() != Some(nearest),
        // Totals follow intervals.
        (true, true) => true,
        (false, false) => false,
        (true, false) => begins_anew(other.samples, rest),
    }
}

/// Whether the intervals from here on make the next total without the one before, which would else have grown by them.
fn begins_anew(before: f64, rest: &[&str]) -> bool {
    let mut intervals = 0.0;
    for line in rest.iter().take(WITHIN).filter_map(|line| summary(line)) {
        if line.is_total {
            let (alone, together) = (line.samples == intervals, line.samples == before + intervals);
            return line.samples < before || alone && !together;
        }
        intervals += line.samples;
    }
    false
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines: Vec<Summary> = run.lines.iter().filter_map(|line| summary(line)).collect();
    let last = lines.iter().rfind(|line| line.is_total).or(lines.last());
    let last = last.ok_or("has no line of the summariser")?;
    if last.samples == 0.0 {
        return Err("took no sample".to_owned());
    }
    if last.has_commas {
        return Err("was printed with decimal commas: run JMeter with LC_ALL=C before it".to_owned());
    }
    let intervals: Vec<&Summary> = lines.iter().filter(|line| !line.is_total).collect();
    // Intervals behind the last total are in none.
    let end = lines.iter().rposition(|line| line.is_total).unwrap_or(0);
    let of_intervals: f64 = lines[..end].iter().filter(|line| !line.is_total).map(|line| line.samples).sum();
    let parts = (last.is_total && of_intervals > last.samples)
        .then(|| format!("the intervals have {of_intervals} samples, and their total has {}", last.samples));
    let share = last.share.filter(|_| last.samples > 0.0).and_then(|share| {
        let again = last.errors / last.samples;
        ((again - share).abs() > PERCENT).then(|| {
            format!("{} errors of {} samples are not {} %", last.errors, last.samples, 100.0 * share)
        })
    });
    // In remote runs the threads of other machines may be missing.
    let is_remote = run.lines.iter().any(|line| line.contains("emote engine"));
    let threads = intervals.iter().filter_map(|line| line.started).fold(0.0, f64::max);
    let threads = (threads > 0.0 && !is_remote).then_some(threads);
    // A time of 0 is one below half a second.
    let rate = last.rate.filter(|rate| rate.value > 0.0);
    let by_rate = |rate: Printed, off: f64| Printed { value: last.samples / rate.value, off };
    let brief = rate.filter(|_| last.seconds.value == 0.0).map(|rate| by_rate(rate, 0.5));
    // Whole seconds are known better by the rate, if they agree.
    let exact = rate.filter(|rate| rate.share() < last.seconds.share()).map(|rate| by_rate(rate, 0.0));
    let exact = exact.filter(|exact| (exact.value - last.seconds.value).abs() <= last.seconds.off);
    let load = Load {
        subject: place(run),
        rate: last.rate,
        seconds: Some(brief.or(exact).unwrap_or(last.seconds)),
        completed: brief.is_none().then_some(last.samples),
        answered: Some(last.samples - last.errors).filter(|answered| *answered >= 0.0),
        failed: vec![("unspecified", last.errors)],
        latency: Statistics {
            least: last.least,
            mean: Some(last.mean).filter(|_| last.samples > 0.0),
            most: last.most,
            ..Statistics::default()
        },
        connections: threads,
        connections_from: threads.map_or(String::new(), |_| "threads that JMeter started".to_owned()),
        contradiction: parts.or(share),
        unjudged: if intervals.is_empty() || !last.is_total { "" } else { "intervals (+)" }.to_owned(),
        ..load()
    };
    load.figures(known)
}

/// What all loads of JMeter have in common.
fn load() -> Load {
    Load { tool: "jmeter", pauses: true, ..Load::default() }
}

/// What distinguishes a run from others in the same text: nothing in it names the test.
pub(super) fn place(run: &Run) -> String {
    format!("line {}", run.before.len() + 1)
}

/// What parts the columns of a head.
fn separator(head: &str) -> char {
    [',', '\t', ';'].into_iter().find(|separator| head.contains(*separator)).unwrap_or(',')
}
