//! Julia's BenchmarkTools: `@benchmark` and `@btime`.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::formats::timing::{Around, Harness, Timing, times};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(
    HARNESS.name,
    &["BenchmarkTools.Trial", "median time:", "allocations: "],
    starts,
    None,
    parse,
);

const HARNESS: Harness = Harness { id: "benchmark-tools", name: "BenchmarkTools", around: Around::Loop };
/// Lines of a trial.
const LINES: usize = 20;

fn is_trial(line: &str) -> bool {
    line.contains("BenchmarkTools.Trial")
}

/// `393.300 μs (10 allocations: 1.91 MiB)`, of `@btime`: the least time.
fn least(line: &str) -> Option<Printed> {
    let (time, rest) = line.split_once('(').filter(|(_, rest)| rest.contains("allocation"))?;
    let all = times(time);
    let is_own = !rest.is_empty() && time.split_whitespace().count() == 2;
    all.first().copied().filter(|_| is_own && all.len() == 1)
}

fn is_own(line: &str) -> bool {
    is_trial(line) || least(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_own(line)) && !continues(before, LINES, is_own)
}

/// The expression behind the macro, in the lines before.
fn expression<'a>(before: impl DoubleEndedIterator<Item = &'a str>) -> Option<&'a str> {
    let line = before
        .rev()
        .filter(|line| !line.is_empty())
        .take(3)
        .find(|line| line.contains("@benchmark") || line.contains("@btime"))?;
    let at = ["@benchmark", "@btime"].iter().find_map(|name| Some(line.find(name)? + name.len()))?;
    Some(line[at..].trim()).filter(|name| !name.is_empty())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    for (at, line) in run.lines.iter().enumerate().filter(|(_, line)| is_own(line)) {
        let before = run.before.iter().rev().take(4).rev().chain(&run.lines[..at]).copied();
        let name = expression(before.collect::<Vec<_>>().into_iter()).unwrap_or("expression").to_owned();
        if let Some(least) = least(line) {
            let name = format!("{name} (least)");
            let samples = Statistics { least: Some(least), ..Statistics::default() };
            Timing { samples, ..Timing::default() }.push(&HARNESS, &mut rows, &name, known);
            continue;
        }
        let own = &run.lines[at + 1..(at + LINES).min(run.lines.len())];
        let end = own.iter().position(|line| is_own(line)).unwrap_or(own.len());
        trial(line, &own[..end]).push(&HARNESS, &mut rows, &name, known);
    }
    rows.note("allocations, share of the garbage collector");
    rows.figures("has no time of a trial")
}

/// A trial: since 1.0 with a range, before with a line for each statistic.
fn trial(head: &str, lines: &[&str]) -> Timing {
    let of = |label: &str| {
        let line = lines.iter().find(|line| line.starts_with(label))?;
        let (_, rest) = line.split_once(':')?;
        Some(times(rest.split(['┊', '(']).next()?))
    };
    let one = |label: &str| of(label).and_then(|all| all.first().copied());
    let range = of("Range (min").unwrap_or_default();
    let mean = of("Time  (mean").unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let before = |word: &str| {
        let at = words.iter().position(|own| own.starts_with(word))?;
        number(words.get(at.checked_sub(1)?)?)
    };
    let labelled = |label: &str| {
        let line = lines.iter().find(|line| line.starts_with(label))?;
        number(line.split_once(':')?.1.trim())
    };
    let samples = before("sample").or_else(|| labelled("samples:"));
    let evaluations = before("evaluation").or_else(|| labelled("evals/sample:"));
    Timing {
        samples: Statistics {
            least: range.first().copied().or_else(|| one("minimum time:")),
            mean: mean.first().copied().or_else(|| one("mean time:")),
            most: range.get(1).copied().or_else(|| one("maximum time:")),
            deviation: None,
            quantiles: one("Time  (median)")
                .or_else(|| one("median time:"))
                .map(|median| (0.5, median))
                .into_iter()
                .collect(),
        },
        repetitions: samples,
        operations: samples.zip(evaluations).map(|(samples, evaluations)| samples * evaluations),
        is_median: true,
        ..Timing::default()
    }
}
