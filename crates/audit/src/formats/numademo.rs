//! numademo (numactl): passes over memory that is allocated by each policy, by one thread.

use figure::evidence::audit::UNJUDGED;
use figure::{Better, Convention, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::memory::{MOST_ROWS, Words, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, bytes};

pub(super) const FORMAT: Format = Format::lines("numademo", &[" MB/s Max "], starts, Some(&COMMAND), parse);

/// numademo.c: the size, then the tests.
const COMMAND: Grammar = Grammar {
    programs: &["numademo"],
    style: Style::Getopt,
    values: &[],
    flags: &["-f", "-e", "-t", "-S", "-c"],
    hidden: &[],
    operand: |word| !word.text.starts_with('-'),
    operands: 1..=8,
};

/// The tests, the word for what they do, and how many blocks of the size have each a half or a whole of it.
const TESTS: &[(&str, &str, f64)] = &[
    ("memset", "write", 1.0),
    ("memcpy", "copy", 2.0),
    ("forward", "read", 1.0),
    ("backward", "read", 1.0),
    ("random2", "read", 1.0),
    ("ptrchase", "read", 1.0),
];
/// Passes of each test (numademo.c: LOOPS).
const PASSES: f64 = 10.0;
/// Lines from a row to the next.
const WITHIN: usize = 30;

struct Row<'a> {
    place: &'a str,
    test: &'static (&'static str, &'static str, f64),
    mean: Printed,
    most: Printed,
    least: Option<Printed>,
}

impl Row<'_> {
    /// Why the mean cannot be.
    fn against(&self) -> Option<String> {
        let is_below =
            self.least.is_some_and(|least| self.mean.value + self.mean.off < least.value - least.off);
        let is_above = self.mean.value - self.mean.off > self.most.value + self.most.off;
        let bound = if is_above { self.most } else { self.least.filter(|_| is_below)? };
        let side = if is_above { "above the highest" } else { "below the lowest" };
        Some(format!("the mean, {} MB/s, is {side}, {} MB/s", self.mean.value, bound.value))
    }
}

/// `memory on node 0 memset   Avg 2303.58 MB/s Max 2306.69 MB/s Min 2287.12 MB/s`.
fn row(line: &str) -> Option<Row<'_>> {
    let (name, rest) = line.split_once(" Avg ")?;
    let (place, test) = name.trim().rsplit_once(' ')?;
    let test = TESTS.iter().find(|(own, ..)| *own == test)?;
    let words: Vec<&str> = rest.split_whitespace().take(8).collect();
    let [mean, "MB/s", "Max", most, "MB/s", rest @ ..] = words.as_slice() else { return None };
    let least = if let ["Min", least, ..] = rest { Printed::of(least) } else { None };
    Some(Row { place: place.trim(), test, mean: Printed::of(mean)?, most: Printed::of(most)?, least })
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| row(line).is_some())
        && !before.iter().rev().take(WITHIN).any(|line| row(line).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let size =
        run.operand().and_then(|size| bytes(size, 1024.0)).map(|size| size.value).filter(|size| *size > 0.0);
    let mut words = Words::default();
    let rows: Vec<Row> = run.lines.iter().filter_map(|line| row(line)).take(MOST_ROWS).collect();
    let mut figures: Vec<Figure> = rows
        .iter()
        .filter(|row| row.mean.value > 0.0 && row.most.value > 0.0)
        .map(|row| {
            let (name, kernel, blocks) = *row.test;
            let memory = Memory {
                kernel,
                array: size.map(|size| size / blocks),
                counted: 8.0,
                convention: Some(Convention::Copied),
                missing: "the text does not show numademo's size (its first operand: numademo 300m)",
                ..Memory::default()
            };
            let quantity = Quantity {
                contradiction: row.against(),
                mean_over_best: Some(row.most.value / row.mean.value),
                repetitions: Some(PASSES),
                threads: Some(1.0),
                memory: Some(memory),
                ..Quantity::of(
                    "numademo",
                    words.unique(format!("{name}.{}", word(row.place))),
                    format!("{name}, {}, by numademo", row.place),
                    row.mean.times(1e-3),
                    Unit::GB_PER_S,
                    Better::Higher,
                )
            };
            quantity.figure(known)
        })
        .collect();
    let first = figures.first_mut().ok_or("has no row of a mean that is not 0")?;
    if run.lines.iter().any(|line| line.contains(" STREAM ")) {
        first.evidence.put(UNJUDGED, "the rows of STREAM".to_owned());
    }
    Ok(figures)
}
