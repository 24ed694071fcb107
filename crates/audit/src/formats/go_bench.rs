//! `go test -bench`: a row for each benchmark, and for each repetition of it (-count).

use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::formats::micro::{LEAST, Rows, continues, is_of_one, words};
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines("go test -bench", &[" ns/op"], starts, None, parse);

const ONE: &str =
    "one time round its loop: nothing in the text shows how far another would lie; needs -count 6";
/// Lines between two of a run: what benchmarks log.
const WITHIN: usize = 60;

/// A row: name, times round the loop, nanoseconds of one, and whether other metrics follow.
struct Row<'a> {
    name: &'a str,
    count: f64,
    time: Printed,
    has_more: bool,
}

/// `BenchmarkCopy-8  1000000  1234 ns/op  16 B/op`.
fn row(line: &str) -> Option<Row<'_>> {
    let tokens = words(line);
    let name = tokens.first()?.strip_prefix("Benchmark")?;
    if name.starts_with(|c: char| c.is_lowercase()) {
        return None;
    }
    let count = tokens.get(1).filter(|token| token.bytes().all(|byte| byte.is_ascii_digit()))?;
    let at = tokens.iter().position(|token| *token == "ns/op")?;
    let time = Printed::of(tokens.get(at.checked_sub(1).filter(|at| *at >= 2)?)?)?;
    Some(Row { name, count: number(count)?, time, has_more: tokens.len() > 4 })
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first()
        .is_some_and(|line| row(line).is_some() && !continues(before, WITHIN, |line| row(line).is_some()))
}

/// The package, by the lines before: benchmarks of two may have one name.
fn package<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut near = lines.iter().rev().take(WITHIN).take_while(|line| row(line).is_none());
    near.find_map(|line| line.strip_prefix("pkg: ")).map(str::trim)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut package = package(run.before).unwrap_or_default();
    for line in run.lines {
        package = line.strip_prefix("pkg: ").map_or(package, str::trim);
        let Some(row) = row(line) else { continue };
        let Some(id) = rows.id(row.name) else { continue };
        let title = format!("Benchmark{} by go test", row.name);
        let mut own = Quantity::of("go-bench", id, title, row.time, Unit::NANOSECONDS, Better::Lower);
        own.subject = package.to_owned();
        own.seconds = Some(row.count * row.time.value * 1e-9);
        own.least_seconds = Some(LEAST);
        own.operation = Some(row.time.times(1e-9));
        own.loops = Some(loops(row.name));
        let mut figure = own.figure(known);
        if row.count == 1.0 {
            is_of_one(&mut figure, ONE);
        }
        rows.push(figure);
        if row.has_more {
            rows.note("B/op, allocs/op and other metrics");
        }
    }
    rows.figures("has no row of ns/op")
}

/// Goroutines that went round the loop at once: one, but for RunParallel, which its name may show; then GOMAXPROCS, the suffix.
fn loops(name: &str) -> f64 {
    let is_parallel = ["arallel", "oncurrent"].iter().any(|part| name.contains(part));
    let suffix = name.rsplit_once('-').and_then(|(_, procs)| number(procs));
    suffix.filter(|_| is_parallel).unwrap_or(1.0)
}
