//! PassMark PerformanceTest for Linux: the results that scripts print of its file: memory, and tests of the processor.

use figure::evidence::KERNEL;
use figure::evidence::audit::UNJUDGED;
use figure::{Better, Convention, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::Printed;

pub(super) const FORMAT: Format = Format::lines(
    "PassMark",
    &["Memory Read Uncached", "Memory Threaded", "Memory Mark:"],
    starts,
    None,
    parse,
);

const MISSING: &str = "PassMark does not print the size of its blocks";

/// A row of memory.
struct Row {
    /// Its name as scripts print it, and in the tool's own file of results.
    names: [&'static str; 2],
    part: &'static str,
    /// What it does.
    kernel: &'static str,
    /// Whether it stays in cache on purpose.
    in_cache: bool,
}

const ROWS: &[Row] = &[
    Row { names: ["Memory Read Cached", "ME_READ_S"], part: "read-cached", kernel: "read", in_cache: true },
    Row {
        names: ["Memory Read Uncached", "ME_READ_L"],
        part: "read-uncached",
        kernel: "read",
        in_cache: false,
    },
    Row { names: ["Memory Write", "ME_WRITE"], part: "write", kernel: "write", in_cache: false },
    Row { names: ["Memory Latency", "ME_LATENCY"], part: "latency", kernel: "latency", in_cache: false },
    Row { names: ["Memory Threaded", "ME_THREADED"], part: "threaded", kernel: "read", in_cache: false },
];
/// Lines from a row to the next.
const WITHIN: usize = 10;

impl Row {
    /// `Memory Latency   60 Nanoseconds`, `ME_LATENCY: 92.466689494547722`: the number, in MB/s or ns.
    fn value(&self, line: &str) -> Option<Printed> {
        let (name, rest) = self.names.iter().find_map(|name| Some((name, line.strip_prefix(*name)?)))?;
        let rest = rest.strip_prefix([' ', '\t', ':', '|'])?;
        let mut words = rest.split_whitespace().filter(|word| *word != "|" && *word != ":");
        let value = Printed::of(words.next()?)?;
        let units: &[&str] = if self.kernel == "latency" { &["Nanoseconds", "ns"] } else { &["MB/s"] };
        let unit = words.next();
        let is_own =
            unit.is_some_and(|unit| units.contains(&unit)) || unit.is_none() && *name == self.names[1];
        is_own.then_some(value)
    }
}

fn is_row(line: &str) -> bool {
    ROWS.iter().any(|row| row.value(line).is_some())
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let continues = before.iter().rev().take(WITHIN).any(|line| is_row(line));
    rest.first().is_some_and(|line| is_row(line)) && !continues
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let of = |row: &Row| run.lines.iter().find_map(|line| row.value(line)).filter(|own| own.value > 0.0);
    let uncached = ROWS.iter().find(|row| row.part == "read-uncached").and_then(of);
    let mut figures: Vec<Figure> = Vec::new();
    for row in ROWS {
        let Some(own) = of(row) else { continue };
        let Row { names: [name, _], part, kernel, in_cache } = row;
        let title = format!("{} by PassMark", name.to_lowercase());
        let is_time = *kernel == "latency";
        let memory = Memory {
            kernel,
            counted: if is_time { 0.0 } else { 8.0 },
            convention: (!is_time).then_some(Convention::Copied),
            missing: MISSING,
            ..Memory::default()
        };
        let (value, unit, better) = if is_time {
            (own, Unit::NANOSECONDS, Better::Lower)
        } else {
            (own.times(1e-3), Unit::GB_PER_S, Better::Higher)
        };
        let contradiction = uncached
            .filter(|other| *in_cache && own.value + own.off < other.value - other.off)
            .map(|other| format!("{} MB/s from cache, and {} MB/s from memory", own.value, other.value));
        let quantity = Quantity {
            operation: is_time.then(|| own.times(1e-9)),
            contradiction,
            memory: (!in_cache).then_some(memory),
            ..Quantity::of("passmark", (*part).to_owned(), title, value, unit, better)
        };
        let mut figure = quantity.figure(known);
        figure.conditions.set(KERNEL, (*kernel).to_owned());
        figures.push(figure);
    }
    let first = figures.first_mut().ok_or("has no result of memory that is not 0")?;
    let is_other = |line: &&&str| line.contains(" Operations/s") || line.contains("Mark:");
    if run.lines.iter().chain(run.before.iter().rev().take(WITHIN)).any(|line| is_other(&line)) {
        first.evidence.put(UNJUDGED, "its marks, and the tests of the processor".to_owned());
    }
    Ok(figures)
}
