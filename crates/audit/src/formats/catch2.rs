//! Catch2's BENCHMARK: mean and standard deviation, each with its interval, in three lines for each benchmark.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::Rows;
use crate::formats::timing::{Around, Harness, Timing, times};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::number;

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["benchmark name ", "low std dev"], starts, None, parse);

const HARNESS: Harness = Harness { id: "catch2", name: "Catch2", around: Around::Loop };
/// Lines that a name is wrapped into.
const WRAPPED: usize = 8;

fn is_head(line: &str) -> bool {
    line.starts_with("benchmark name ") && line.contains(" samples ") && line.contains("iterations")
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line))
}

/// `std::vector constructor    100    290    1.943 ms`: the last part of the name, samples, iterations.
fn first(line: &str) -> Option<(&str, f64)> {
    let words: Vec<&str> = line.split_whitespace().take(64).collect();
    let [.., samples, iterations, _, _] = words.as_slice() else { return None };
    let (samples, _) = (number(samples)?, number(iterations)?);
    let is_last = times(&words[words.len() - 2..].join(" ")).len() == 1;
    let at = line.rfind(words[words.len() - 4]).filter(|_| is_last)?;
    let head = line[..at].trim_end();
    // The same digits may stand in the iterations or in the time.
    let head = head.split("   ").next().unwrap_or(head).trim();
    Some((head, samples))
}

/// The three times of a line.
fn three(line: &str) -> Option<[crate::text::Printed; 3]> {
    let all = times(line);
    (line.split_whitespace().count() == 6 && all.len() == 3).then(|| [all[0], all[1], all[2]])
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut name: Vec<&str> = Vec::new();
    let mut lines = run.lines.iter().copied();
    while let Some(line) = lines.next() {
        let Some((last, samples)) = first(line) else {
            if line.is_empty() || line.starts_with(['-', '.', '=', '~']) || three(line).is_some() {
                name.clear();
            } else if name.len() < WRAPPED {
                name.push(line);
            }
            continue;
        };
        name.push(last);
        let full = name.join(" ");
        name.clear();
        let Some(mean) = lines.next().and_then(three) else { continue };
        let deviation = lines.next().and_then(three);
        let [value, low, high] = mean;
        let timing = Timing {
            samples: Statistics {
                mean: Some(value),
                deviation: deviation.map(|[deviation, ..]| deviation),
                ..Statistics::default()
            },
            error: (value.value > 0.0).then(|| ((high.value - low.value) / 2.0 / value.value).max(0.0)),
            repetitions: Some(samples),
            ..Timing::default()
        };
        timing.push(&HARNESS, &mut rows, &full, known);
    }
    rows.note("bounds of the standard deviation, the time estimated before");
    rows.figures("has no mean of a benchmark")
}
