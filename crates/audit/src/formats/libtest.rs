//! Rust's own benchmarks (`cargo bench` with `#[bench]`): the median of a time and its range.

use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::Printed;

pub(super) const FORMAT: Format = Format::lines("cargo bench", &["ns/iter (+/- "], starts, None, parse);

const WITHIN: usize = 40;
/// Behind +/- stands the range of the samples, after 5 % at each end were set to the value at that end (library/test/src/bench.rs):
/// so many standard deviations of a normal distribution.
const RANGE: f64 = 3.29;

/// `test codec::bench_encode ... bench:       1,234 ns/iter (+/- 56) = 12 MB/s`: name, median, range.
fn row(line: &str) -> Option<(&str, Printed, Printed)> {
    let (name, rest) = line.split_once("bench:")?;
    let (time, rest) = rest.split_once("ns/iter (+/- ")?;
    let name = name.trim().strip_prefix("test ").unwrap_or(name.trim()).trim_end_matches([' ', '.']);
    Some((name, Printed::of(time.trim())?, Printed::of(rest.split(')').next()?.trim())?))
}

fn is_row(line: &str) -> bool {
    row(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_row(line)) && !continues(before, WITHIN, is_row)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for (name, time, range) in run.lines.iter().filter_map(|line| row(line)) {
        let Some(id) = rows.id(name) else { continue };
        let mut own = Quantity::of(
            "cargo-bench",
            id,
            format!("{name} by cargo bench"),
            time,
            Unit::NANOSECONDS,
            Better::Lower,
        );
        own.operation = Some(time.times(1e-9));
        own.loops = Some(1.0);
        // Digits that are not printed are no spread.
        own.deviation = (time.value > 0.0).then(|| (range.value - range.off).max(0.0) / RANGE / time.value);
        rows.push(own.figure(known));
    }
    rows.figures("has no line of ns/iter")
}
