//! benchmark.js: operations a second of each benchmark, with the error of the mean.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::formats::timing::{Around, Harness, Timing, plus_minus};
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &[" ops/sec ±", " ops/sec \u{b1}"], starts, None, parse);

const HARNESS: Harness = Harness { id: "benchmark-js", name: "benchmark.js", around: Around::Loop };
/// Lines between two of a run: names of suites, the fastest.
const WITHIN: usize = 20;

/// `known using a set x 89,102,943 ops/sec ±0.25% (98 runs sampled)`: name, rate, error, samples.
fn row(line: &str) -> Option<(&str, Printed, Option<f64>, Option<f64>)> {
    let (head, rest) = line.split_once(" ops/sec ")?;
    let (name, rate) = head.rsplit_once(" x ").or_else(|| head.rsplit_once(" × "))?;
    let runs = rest.split_once('(').and_then(|(_, rest)| rest.split_once(" run"));
    let runs = runs.and_then(|(count, _)| number(count.trim()));
    let name = name.trim().trim_start_matches([':', '-', '•', '✓', '·']).trim();
    Some((name, Printed::of(rate.trim())?, plus_minus(rest), runs))
        .filter(|(name, _, error, _)| !name.is_empty() && error.is_some())
}

fn is_row(line: &str) -> bool {
    row(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_row(line)) && !continues(before, WITHIN, is_row)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for (name, rate, error, runs) in run.lines.iter().filter_map(|line| row(line)) {
        let timing = Timing { rate: Some(rate), error, repetitions: runs, ..Timing::default() };
        timing.push(&HARNESS, &mut rows, name, known);
    }
    rows.figures("has no row of operations a second")
}
