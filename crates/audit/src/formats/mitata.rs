//! mitata and `deno bench`, which prints alike: mean, extremes and quantiles of each benchmark.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::formats::timing::{Around, Harness, Timing, digits, time, times};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::Printed;

pub(super) const FORMAT: Format = Format::lines(
    HARNESS.name,
    &["(min … max)", "/iter "],
    |before, rest| starts(before, rest) && !is_of_deno(before, rest),
    None,
    |run, known| parse(run, known, &HARNESS),
);
pub(super) const DENO: Format = Format::lines(
    OF_DENO.name,
    &["time/iter (avg)", "| Deno ", "runtime: deno"],
    |before, rest| starts(before, rest) && is_of_deno(before, rest),
    None,
    |run, known| parse(run, known, &OF_DENO),
);

/// Operations below 10 µs (Deno, cli/js/40_bench.js) or 16 to 65 µs (mitata, src/lib.mjs) are timed in batches, all others each.
const HARNESS: Harness = Harness { id: "mitata", name: "mitata", around: Around::Loop };
const OF_DENO: Harness = Harness { id: "deno-bench", name: "deno bench", around: Around::Loop };
/// Lines between two of a run: groups, summaries, files.
const WITHIN: usize = 30;

fn is_head(line: &str) -> bool {
    line.contains("(min … max)") && line.contains("avg") && line.contains("p75")
}

/// A row: name, mean, rate, extremes, quantiles. Of mitata since 1.0.2 the extremes stand in the next line (src/main.mjs).
struct Row<'a> {
    name: &'a str,
    mean: Printed,
    rate: Option<Printed>,
    extremes: Vec<Printed>,
    quantiles: Vec<Printed>,
}

/// Where the first time of a line begins, in bytes.
fn first_time(line: &str) -> Option<usize> {
    let mut starts = line.char_indices().filter(|(at, c)| {
        c.is_ascii_digit() && line[..*at].chars().next_back().is_none_or(|before| before.is_whitespace())
    });
    starts.find_map(|(at, _)| {
        let words: Vec<&str> = line[at..].split_whitespace().take(2).collect();
        let is_time = words.len() == 2 && time(&words.join(" ")).is_some();
        is_time.then_some(at)
    })
}

/// `Zig add *   8.1 ns   123,300,000 (  8.0 ns …  61.6 ns)   8.0 ns  11.1 ns  12.7 ns`; a table has bars between them.
fn row(line: &str) -> Option<Row<'_>> {
    let (head, rest) = line.rsplit_once('…')?;
    let (before, least) = head.rsplit_once('(')?;
    let (most, behind) = rest.split_once(')')?;
    let at = first_time(before)?;
    let name = before[..at].trim().trim_end_matches('|').trim();
    let words: Vec<&str> = before[at..].split_whitespace().filter(|word| *word != "|").take(8).collect();
    let mean = time(&words.get(..2)?.join(" "))?;
    let extremes: Option<Vec<_>> = [least, most].into_iter().map(time).collect();
    (!name.is_empty()).then(|| Row {
        name,
        mean,
        rate: words.get(2).and_then(|word| digits(word)),
        extremes: extremes.unwrap_or_default(),
        quantiles: times(&behind.replace('|', " ")),
    })
}

/// `name   11.94 ns/iter  11.92 ns █`, of mitata since 1.0.2: mean and p75.
fn row_of_two(line: &str) -> Option<Row<'_>> {
    let at = Some(line).filter(|line| line.contains("/iter ")).and_then(first_time)?;
    let all = times(&line[at..]);
    let name = line[..at].trim();
    let mean = *all.first()?;
    let p75 = *all.get(1)?;
    (!name.is_empty()).then(|| Row { name, mean, rate: None, extremes: Vec::new(), quantiles: vec![p75] })
}

/// `(11.62 ns … 45.66 ns)  14.64 ns █▅`, the line behind: extremes and p99.
fn second(line: &str) -> Option<(Vec<Printed>, Option<Printed>)> {
    let (extremes, rest) = line.trim().strip_prefix('(')?.split_once(')')?;
    let (least, most) = extremes.split_once('…')?;
    Some((vec![time(least)?, time(most)?], times(rest).first().copied()))
}

fn of(line: &str) -> Option<Row<'_>> {
    row(line).or_else(|| row_of_two(line))
}

fn is_own(line: &str) -> bool {
    is_head(line) || of(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_first = || !continues(before, WITHIN, is_own);
    if is_head(line) {
        return is_first() && rest.iter().skip(1).take(WITHIN).any(|line| of(line).is_some());
    }
    // A row alone is known by its quantiles, or by the line of the extremes behind it.
    let has_more = row(line).is_some_and(|row| row.quantiles.len() >= 3)
        || row_of_two(line).is_some() && rest.get(1).is_some_and(|next| second(next).is_some());
    has_more && is_first()
}

/// Whether the machine's lines before, or the column of the rate, are Deno's.
fn is_of_deno(before: &[&str], rest: &[&str]) -> bool {
    let is_deno = |line: &str| line.starts_with("Runtime | Deno") || line.starts_with("runtime: deno");
    let has_rate = rest.first().is_some_and(|line| {
        is_head(line) && line.contains("iter/s") || row(line).is_some_and(|row| row.rate.is_some())
    });
    has_rate || before.iter().rev().take(6).any(|line| is_deno(line))
}

fn parse(run: &Run, known: &Known, harness: &Harness) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut group = String::new();
    for (at, line) in run.lines.iter().enumerate() {
        if let Some(own) = line.strip_prefix("group ").or_else(|| line.strip_prefix("• ")) {
            group = own.trim().to_owned();
        }
        let Some(row) = of(line) else { continue };
        let below = run.lines.get(at + 1).and_then(|next| second(next)).filter(|_| row.extremes.is_empty());
        let (extremes, p99) = below.unwrap_or((row.extremes, None));
        // The last of three is p995 by Deno, and p999 by mitata before 1.0: neither is above the other's place.
        let shares = [0.75, 0.99, 0.995];
        let quantiles = row.quantiles.iter().copied().chain(p99).take(3);
        let timing = Timing {
            samples: Statistics {
                least: extremes.first().copied(),
                mean: Some(row.mean),
                most: extremes.get(1).copied(),
                deviation: None,
                quantiles: shares.into_iter().zip(quantiles).collect(),
            },
            rate: row.rate,
            ..Timing::default()
        };
        let name = if group.is_empty() { row.name.to_owned() } else { format!("{group} {}", row.name) };
        timing.push(harness, &mut rows, &name, known);
    }
    if run.lines.iter().any(|line| line.starts_with("summary")) {
        rows.note("the summary's ratios");
    }
    rows.figures("has no row of a benchmark")
}
