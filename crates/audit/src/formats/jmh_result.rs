//! JMH's result of one benchmark, which it prints after each: of logs that end, or are cut, before the table of all results.

use figure::Figure;

use crate::format::Format;
use crate::formats::jmh::{NAME, Score, is_head, unit};
use crate::formats::micro::{MOST_ROWS, Rows, words};
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format = Format::lines(NAME, &["Result \"", "(99.9%) "], starts, None, parse);

/// Lines between a result and the table: so many benchmarks follow one another.
const TABLE_WITHIN: usize = 5000;
/// Lines between a result and what was printed when its benchmark began.
const HEAD_WITHIN: usize = 2000;

/// `3202.284 ±(99.9%) 48.121 ops/s [Average]`; `mean = …` of sampled times; before 1.11 behind `Result: `; without an error of one
/// iteration: the score, its error, its unit.
fn score(line: &str) -> Option<(Printed, Option<f64>, Result<f64, f64>)> {
    let line = ["Result: ", "mean = "].iter().find_map(|head| line.strip_prefix(head)).unwrap_or(line);
    let tokens: Vec<&str> = words(line).into_iter().take_while(|word| !word.starts_with('[')).collect();
    let (value, error, text) = match tokens.as_slice() {
        [value, unit] => (*value, None, *unit),
        [value, sign, error, unit] if sign.ends_with("(99.9%)") => (*value, Some(*error), *unit),
        _ => return None,
    };
    Some((Printed::of(value)?, error.and_then(number), unit(text)?))
}

/// `Result "org.sample.MyBenchmark.measure":`.
fn is_title(line: &str) -> bool {
    line.starts_with("Result \"")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let found = rest.first().and_then(|line| score(line));
    let is_result = |error: Option<f64>| error.is_some() || before.last().is_some_and(|line| is_title(line));
    found.is_some_and(|(_, error, _)| is_result(error))
        && !rest.iter().take(TABLE_WITHIN).any(|line| is_head(line))
}

/// `Iteration   3: 3222.322 ops/s`, one that is measured: its number, and its score.
fn iteration(line: &str) -> Option<(f64, f64)> {
    let (at, rest) = line.strip_prefix("Iteration ")?.split_once(':')?;
    Some((number(at.trim())?, number(words(rest).first()?)?))
}

/// The iterations of all forks, where none is cut off; `own` is the lines before a result, the last first.
fn iterations(own: &[&str]) -> Vec<f64> {
    let has_first = own.iter().any(|line| line.trim_start_matches("# ").starts_with("Fork: 1 of "));
    let all: Vec<(f64, f64)> = own.iter().rev().filter_map(|line| iteration(line)).take(MOST_ROWS).collect();
    let follows = |before: f64, next: f64| next == 1.0 || next == before + 1.0;
    let is_whole = all.first().is_some_and(|(at, _)| *at == 1.0)
        && all.windows(2).all(|pair| follows(pair[0].0, pair[1].0));
    all.into_iter().filter(|_| has_first && is_whole).map(|(_, score)| score).collect()
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let found = run.lines.first().and_then(|line| score(line));
    let (value, error, unit) = found.ok_or("has no score")?;
    // Of this benchmark alone.
    let own: Vec<&str> = run.before[run.previous.min(run.before.len())..]
        .iter()
        .rev()
        .take(HEAD_WITHIN)
        .take_while(|line| score(line).is_none_or(|(_, error, _)| error.is_none()))
        .copied()
        .collect();
    let label = |label: &str| {
        own.iter().find_map(|line| line.trim_start_matches("# ").strip_prefix(label)).map(str::trim)
    };
    let title = own.iter().take(3).find_map(|line| line.strip_prefix("Result \"")?.split('"').next());
    let whole = title.or(label("Benchmark: ")).unwrap_or("benchmark");
    // The table has the class and the method alone.
    let name = whole.rmatch_indices('.').nth(1).map_or(whole, |(at, _)| &whole[at + 1..]);
    let is_sampled = own.first().is_some_and(|line| line.starts_with("N = "));
    let mode = match (&unit, label("Benchmark mode: ")) {
        (_, Some(mode)) if mode.starts_with("Single shot") => "ss",
        _ if is_sampled => "sample",
        (Ok(_), _) => "avgt",
        (Err(_), _) => "thrpt",
    };
    let mut rows = Rows::default();
    let mut score = Score::of(name, mode, value, unit);
    score.error = error;
    if !is_sampled {
        score.single = iterations(&own);
        score.count = Some(score.single.len() as f64).filter(|count| *count > 0.0);
    }
    if run.lines.iter().any(|line| line.starts_with("Percentiles, ")) {
        rows.note("quantiles of sampled times");
    }
    score.figures(&[], &mut rows, known);
    rows.figures("has no score")
}
