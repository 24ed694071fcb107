//! What github-action-benchmark takes for its tools `customSmallerIsBetter` and `customBiggerIsBetter`: a list of name, value, unit,
//! range and extra. A format for each, because the action reads one direction from a file.
//!
//! The action follows numbers from commit to commit and knows no verdicts. A figure that is invalid is left out: its number is not
//! what its name says. The verdict of the others is the first word of `extra`. The name is the id, by which the action finds a
//! figure again. Baselines, controls, stand-ins and descriptions are left out, as in a comparison.

use std::io::{self, Write};

use figure::format::{counted, number, plain, plain_to};
use figure::{Better, Figure, Interval, Record, Verdict};
use serde::Serialize;
use suites::allocators::is_stand_in;

use crate::format::{Format, unsupported};
use crate::{json, reasons};

pub(crate) const SMALLER: Format = Format {
    name: "customSmallerIsBetter",
    about: "github-action-benchmark's JSON: figures of which less is better",
    write: |record, _, out| write(record, Better::Lower, out),
};

pub(crate) const BIGGER: Format = Format {
    name: "customBiggerIsBetter",
    about: "github-action-benchmark's JSON: figures of which more is better",
    write: |record, _, out| write(record, Better::Higher, out),
};

/// The longest unit.
const MAX_UNIT: usize = 20;

/// What the action calls a benchmark result.
#[derive(Serialize)]
struct Benchmark {
    name: String,
    unit: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

fn write(record: &Record, better: Better, out: &mut dyn Write) -> io::Result<()> {
    let machine = record.machine.summary();
    let is_meant = |figure: &&Figure| figure.better == better && !figure.is_control() && !is_stand_in(figure);
    let figures = record.figures.iter().filter(is_meant);
    let all: Vec<Benchmark> = figures.filter_map(|figure| benchmark(figure, &machine)).collect();
    if all.is_empty() {
        let way = if better == Better::Lower { "less" } else { "more" };
        return Err(unsupported(format!(
            "the record holds no figure of which {way} is better and that is not invalid; take another format"
        )));
    }
    json::write_pretty(&all, out)
}

/// A figure, unless its number is none or not what its name says.
fn benchmark(figure: &Figure, machine: &str) -> Option<Benchmark> {
    let value = figure.value.filter(|value| value.is_finite() && figure.verdict != Some(Verdict::Invalid))?;
    let verdict = figure.verdict.map_or_else(|| "not judged".to_owned(), |verdict| verdict.to_string());
    let reason = reasons::of(figure).into_iter().next();
    let reason = reason.map_or_else(String::new, |reason| format!(": {} ({})", reason.id, reason.detail));
    let convention = figure.convention.map_or_else(String::new, |convention| format!(", {convention}"));
    let (name, rounds) = (plain_to(&figure.name, 80), counted(figure.repetitions().unwrap_or(0), "round"));
    let range = |interval: &Interval| format!("{} to {}", number(interval.low), number(interval.high));
    Some(Benchmark {
        name: plain(&figure.id),
        unit: plain_to(figure.unit.symbol(), MAX_UNIT),
        value,
        range: figure.interval.as_ref().map(range),
        extra: format!("{verdict}{reason}\n{name}{convention}\n{rounds}\n{machine}"),
    })
}
