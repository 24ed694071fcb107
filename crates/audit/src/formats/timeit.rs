//! Python's timeit, as a command and in IPython: the best repetition, or mean and deviation of all.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::formats::timing::{Around, Harness, Timing, time};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    HARNESS.name,
    &[" per loop", "best of ", " per loop (mean ± std. dev."],
    starts,
    None,
    parse,
);

const HARNESS: Harness = Harness { id: "timeit", name: "timeit", around: Around::Loop };
/// Lines between two of a run: statements, what they print.
const WITHIN: usize = 40;
/// Lines before a time in which its statement stands.
const STATEMENT: usize = 3;

/// What one line holds: time, deviation, repetitions, times round the loop.
struct Row {
    time: Printed,
    deviation: Option<Printed>,
    repetitions: Option<f64>,
    loops: Option<f64>,
    is_best: bool,
}

/// A time in which the unit may be a word: `40.3 usec`, `1.2 sec`.
fn time_of(text: &str) -> Option<Printed> {
    let text = text.trim();
    let plain = text.strip_suffix("ec").filter(|head| head.ends_with('s')).unwrap_or(text);
    time(plain).or_else(|| time(text.strip_suffix("in").filter(|head| head.ends_with('m'))?))
}

/// `1000 loops, best of 3: 438 µs per loop`, `750 µs ± 506 ns per loop (mean ± std. dev. of 7 runs, 1000 loops each)`.
fn row(line: &str) -> Option<Row> {
    let (head, rest) = line.split_once(" per loop")?;
    let count = |text: &str| number(text.split_whitespace().next_back()?);
    if let Some((before, own)) = head.split_once("best of ") {
        let (repetitions, own) = own.split_once(':')?;
        return Some(Row {
            time: time_of(own)?,
            deviation: None,
            repetitions: count(repetitions),
            loops: before.split_once(" loop").and_then(|(count, _)| number(count.trim())),
            is_best: true,
        });
    }
    let (mean, deviation) = head.split_once('±').or_else(|| head.split_once("+-"))?;
    let words: Vec<&str> = mean.split_whitespace().collect();
    let mean = words.len().checked_sub(2).and_then(|at| time_of(&words[at..].join(" ")))?;
    let inner = rest.trim().strip_prefix('(').unwrap_or_default();
    Some(Row {
        time: mean,
        deviation: Some(time_of(deviation)?),
        repetitions: inner.split_once(" run").and_then(|(head, _)| count(head)),
        loops: inner.split_once(" loop").and_then(|(head, _)| count(head)),
        is_best: false,
    })
}

fn is_row(line: &str) -> bool {
    row(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_row(line)) && !continues(before, WITHIN, is_row)
}

/// What was timed: the line behind `%timeit`, `%%timeit` or `-m timeit` that stands before.
fn statement(before: &[&str]) -> Option<String> {
    let near = before.iter().rev().take_while(|line| !is_row(line)).filter(|line| !line.is_empty());
    let line = near.take(STATEMENT).find(|line| line.contains("timeit"))?;
    let (_, rest) = line.rsplit_once("timeit")?;
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// A label before the time in its line: `decoration [none]: 100 loops, …`.
fn label(line: &str) -> Option<&str> {
    let at = line.find(" loop").filter(|at| line[*at..].contains("best of "))?;
    let head = line[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == ',').trim_end();
    Some(head.trim_end_matches(':').trim()).filter(|head| !head.is_empty() && number(head).is_none())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for (at, line) in run.lines.iter().enumerate() {
        let Some(row) = row(line) else { continue };
        let before: Vec<&str> = run.before.iter().chain(&run.lines[..at]).copied().rev().take(12).collect();
        let before: Vec<&str> = before.into_iter().rev().collect();
        let name = statement(&before).or_else(|| label(line).map(str::to_owned));
        let name = name.unwrap_or_else(|| "a statement".to_owned());
        let timing = Timing {
            samples: Statistics {
                mean: Some(row.time).filter(|_| !row.is_best),
                least: Some(row.time).filter(|_| row.is_best),
                deviation: row.deviation,
                ..Statistics::default()
            },
            repetitions: row.repetitions,
            operations: row.loops.map(|loops| loops * row.repetitions.unwrap_or(1.0)),
            ..Timing::default()
        };
        timing.push(&HARNESS, &mut rows, &name, known);
    }
    rows.figures("has no time of a loop")
}
