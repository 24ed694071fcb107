//! STREAM (stream.c 5.x): a head with the array's size, and a table of best rates and times.

use figure::evidence::audit::{CONTRADICTION, CORES, MEAN_OVER_BEST, RECOMPUTED, ROUNDING};
use figure::evidence::{
    ARRAY_BYTES, CLOCK_GRANULARITY, COUNTED_BYTES, KERNEL, LLC_BASIS, LLC_BYTES, OFFSET_BYTES,
    SAMPLE_SHORTEST, THREADS, VERIFIED, VERIFIED_ERROR,
};
use figure::{Better, Conditions, Convention, Evidence, Figure, Unit};

use crate::SUITE;
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, is_alone, number, round};

pub(super) const FORMAT: Format = Format { name: "STREAM", starts, command: Some(&COMMAND), parse };

/// STREAM has no options; its variables are OpenMP's.
const COMMAND: Grammar = Grammar {
    programs: &["stream"],
    style: Style::Getopt,
    values: &[],
    flags: &[],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// The kernels: label in the table, word, arrays that each counts once.
const KERNELS: [(&str, &str, f64); 4] =
    [("Copy:", "copy", 2.0), ("Scale:", "scale", 2.0), ("Add:", "add", 3.0), ("Triad:", "triad", 3.0)];
/// Bytes of an element where the text does not show: a double.
const ELEMENT: f64 = 8.0;
/// From so many repetitions on the arrays overflow, and STREAM's own check passes on what is no number: `a` grows 15-fold in each.
const OVERFLOWS: f64 = 262.0;

fn is_head(line: &str) -> bool {
    line.starts_with("STREAM version")
}

fn is_table(line: &str) -> bool {
    line.starts_with("Function") && line.contains("Rate") && line.contains("MB/s")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line) || is_table(line) && is_alone(before, is_head, is_table))
}

/// A line of the table.
struct Row {
    rate: f64,
    times: Option<[Printed; 3]>,
}

fn row(run: &Run, label: &str) -> Option<Row> {
    let words: Vec<&str> = run.after(label)?.split_whitespace().collect();
    let time = |at: usize| Printed::of(words.get(at)?);
    let times = time(1).zip(time(2)).zip(time(3)).map(|((mean, best), worst)| [mean, best, worst]);
    Some(Row {
        rate: number(words.first()?)?,
        times: times.filter(|times| times.iter().all(|time| time.value > 0.0)),
    })
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let rows: Vec<_> = KERNELS.iter().filter_map(|kernel| Some((kernel, row(run, kernel.0)?))).collect();
    if rows.is_empty() {
        return Err("has no line of Copy, Scale, Add or Triad".to_owned());
    }
    let element = run.number("This system uses").unwrap_or(ELEMENT);
    let elements = run.number("Array size =");
    // Rate and time together tell it as well, to as many digits as they have.
    let inferred =
        rows.iter().find_map(|((_, _, arrays), row)| Some(row.rate * 1e6 * row.times?[1].value / arrays));
    let array = elements.map(|elements| elements * element).or(inferred);
    let mut conditions = Conditions::default();
    let threads = run.number("Number of Threads counted =").or(run.number("Number of Threads requested ="));
    let asked = run.command.and_then(|command| command.variable("OMP_NUM_THREADS"));
    threads.or(asked).or(known.threads).into_iter().for_each(|threads| conditions.set(THREADS, threads));
    array.into_iter().for_each(|array| conditions.set(ARRAY_BYTES, (array / 1e3).round() * 1e3));
    elements.zip(array).into_iter().for_each(|(_, array)| conditions.set(ARRAY_BYTES, array));
    known.cores.into_iter().for_each(|cores| conditions.set(CORES, cores));
    let offset =
        run.lines.iter().find_map(|line| number(line.split_once("Offset = ")?.1.split_whitespace().next()?));
    offset.into_iter().for_each(|offset| conditions.set(OFFSET_BYTES, offset * element));
    Ok(rows
        .into_iter()
        .map(|((_, kernel, arrays), row)| {
            let name = format!("{kernel} by STREAM");
            let mut figure = Figure::planned(
                format!("{SUITE}.stream.{kernel}"),
                SUITE,
                name,
                Unit::GB_PER_S,
                Better::Higher,
            );
            figure.convention = Some(Convention::StreamCounted);
            figure.conditions = conditions.clone().with(KERNEL, (*kernel).to_owned());
            figure.conditions.set(COUNTED_BYTES, arrays * element);
            verification(run, &mut figure.evidence);
            caches(known, &mut figure.evidence);
            match run.within("clock granularity/precision appears to be") {
                Some(microseconds) => figure.evidence.put(CLOCK_GRANULARITY, microseconds * 1e-6),
                None => figure
                    .evidence
                    .put_unknown(CLOCK_GRANULARITY, "the text does not show what the clock resolves"),
            }
            let mut evidence = Evidence::default();
            if let Some([mean, best, worst]) = row.times {
                let times = Statistics {
                    least: Some(best),
                    mean: Some(mean),
                    most: Some(worst),
                    ..Statistics::default()
                };
                times.against_mean().into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
                evidence.put(SAMPLE_SHORTEST, best.value);
                evidence.put(MEAN_OVER_BEST, ((mean.value - mean.off) / (best.value + best.off)).max(1.0));
                if let (Some(elements), true) = (elements, best.value > best.off) {
                    evidence.put(RECOMPUTED, elements * element * arrays / best.value / 1e9);
                    evidence.put(ROUNDING, best.share());
                }
            }
            let seconds = row.times.map_or(0.0, |[mean, ..]| {
                mean.value * run.within("Each kernel will be executed").unwrap_or(1.0)
            });
            figure.rounds.push(round(seconds, row.rate / 1e3, evidence));
            figure
        })
        .collect())
}

/// What STREAM says of its arrays' contents.
fn verification(run: &Run, evidence: &mut Evidence) {
    if run.within("Each kernel will be executed").is_some_and(|times| times >= OVERFLOWS) {
        let why = "with 262 repetitions or more the arrays overflow, and STREAM's own check passes on what is no number";
        return evidence.put_unknown(VERIFIED, why);
    }
    let is_wrong = run.lines.iter().any(|line| line.starts_with("Failed Validation"));
    if is_wrong || run.after("Solution Validates").is_some() {
        evidence.put(VERIFIED, !is_wrong);
        let error = run.within("AvgRelAbsErr:").or(run.within("avg error less than"));
        error.into_iter().for_each(|error| evidence.put(VERIFIED_ERROR, error));
    } else {
        evidence.put_unknown(
            VERIFIED,
            "the text does not hold STREAM's own check of its arrays (\"Solution Validates\")",
        );
    }
}

/// The known sizes of the caches, to compare arrays with.
pub(super) fn caches(known: &Known, evidence: &mut Evidence) {
    match &known.llc {
        Some((bytes, basis)) => {
            evidence.put(LLC_BYTES, *bytes);
            evidence.put(LLC_BASIS, basis.clone());
        }
        None => evidence.put_unknown(
            LLC_BYTES,
            "needs --llc, the last-level caches of all sockets in use together, such as 33M, or --host RECORD",
        ),
    }
}
