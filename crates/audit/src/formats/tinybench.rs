//! tinybench: its tables, and those of `vitest bench`, which runs it.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, continues};
use crate::formats::timing::{Around, Harness, Timing, digits, plus_minus};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["Task name", "Task Name"], starts, None, parse);
pub(super) const VITEST: Format =
    Format::lines(OF_VITEST.name, &[" p995 ", " rme "], starts_vitest, None, parse_vitest);

const HARNESS: Harness = Harness { id: "tinybench", name: "tinybench", around: Around::Clock };
const OF_VITEST: Harness = Harness { id: "vitest", name: "vitest bench", around: Around::Clock };
/// Lines between two of a run.
const WITHIN: usize = 30;
/// Columns of vitest's table, behind the name: times in milliseconds.
const COLUMNS: usize = 10;

/// `· fast-glob  3,435.74  0.0518  2.9782  0.2911  0.3880  1.0141  1.5011  2.7710  ±3.58%     1719   fastest`.
fn row_vitest(line: &str) -> Option<(String, Timing)> {
    let bare = Some(line).filter(|line| line.contains('±'))?.trim_start_matches(['·', '•', '-', ' ']);
    let tokens: Vec<&str> = bare.split_whitespace().take(64).collect();
    let error = tokens.iter().position(|token| token.starts_with('±') && token.ends_with('%'))?;
    let from = error.checked_sub(COLUMNS - 2).filter(|from| *from > 0)?;
    let columns: Option<Vec<Printed>> = tokens[from..error].iter().map(|token| Printed::of(token)).collect();
    let columns = columns?;
    let [rate, least, most, mean, rest @ ..] = columns.as_slice() else { return None };
    let nanoseconds = |time: &Printed| time.times(1e6);
    let count = tokens.get(error + 1).and_then(|token| number(token))?;
    let quantiles = [0.75, 0.99, 0.995, 0.999].into_iter().zip(rest.iter().map(nanoseconds)).collect();
    let timing = Timing {
        samples: Statistics {
            least: Some(nanoseconds(least)),
            mean: Some(nanoseconds(mean)),
            most: Some(nanoseconds(most)),
            deviation: None,
            quantiles,
        },
        rate: Some(*rate),
        error: plus_minus(tokens[error]),
        repetitions: Some(count),
        operations: Some(count),
        ..Timing::default()
    };
    Some((tokens[..from].join(" "), timing))
}

fn is_vitest(line: &str) -> bool {
    row_vitest(line).is_some()
}

fn starts_vitest(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_vitest(line)) && !continues(before, WITHIN, is_vitest)
}

/// The file and the suite that a table is of: ` ✓ bench/get.bench.ts > get() 2779ms`.
fn suite(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['·', ' ']).strip_prefix(['✓', '√', '❯'])?.trim();
    let (name, took) = rest.rsplit_once(' ')?;
    took.ends_with("ms").then(|| name.trim())
}

fn parse_vitest(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let near = run.before.iter().rev().take(4).find_map(|line| suite(line));
    let mut of = near.unwrap_or_default();
    for line in run.lines {
        of = suite(line).unwrap_or(of);
        let Some((name, timing)) = row_vitest(line) else { continue };
        let name = if of.is_empty() { name } else { format!("{of} {name}") };
        timing.push(&OF_VITEST, &mut rows, &name, known);
    }
    rows.figures("has no row of its table")
}

/// The cells of a row of `console.table`, without quotes. The borders at its ends are off.
fn cells(line: &str) -> Vec<&str> {
    let bare = line.trim_matches(|c: char| c == '│' || c == '|' || c.is_whitespace());
    let bar = if bare.contains('│') { '│' } else { '|' };
    bare.split(bar).map(|cell| cell.trim().trim_matches('\'').trim()).take(16).collect()
}

/// The names of the columns, in small letters.
fn head(line: &str) -> Option<Vec<String>> {
    if !line.contains("Task name") && !line.contains("Task Name") {
        return None;
    }
    Some(cells(line).iter().map(|cell| cell.to_lowercase()).collect())
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    let Some(columns) = rest.first().and_then(|line| head(line)) else { return false };
    rest.iter().skip(1).take(4).any(|line| row(&columns, line).is_some())
}

/// A row: name and times, `1414.87 ± 0.25%` or with the error in a column of its own.
fn row(columns: &[String], line: &str) -> Option<(String, Timing)> {
    let cells = cells(line);
    let at = |start: &str| columns.iter().position(|column| column.starts_with(start));
    let of = |start: &str| cells.get(at(start)?).copied();
    let value = |cell: &str| digits(cell.split('±').next()?.split_whitespace().next()?);
    let factor = |start: &str| {
        let unit = columns.get(at(start)?)?.split_once('(')?.1.split(')').next()?.to_owned();
        crate::formats::micro::nanoseconds(unit.trim())
    };
    let time = |start: &str| Some(value(of(start)?)?.times(factor(start)?));
    let mean = time("average time").or_else(|| time("latency average")).or_else(|| time("latency avg"));
    let median = time("latency median").or_else(|| time("latency med"));
    mean.or(median)?;
    let error = ["margin", "average time", "latency average", "latency avg"]
        .iter()
        .find_map(|start| plus_minus(of(start)?).or_else(|| percent(of(start)?)));
    let count = of("samples").and_then(number);
    let timing = Timing {
        samples: Statistics {
            mean,
            quantiles: median.map(|median| (0.5, median)).into_iter().collect(),
            ..Statistics::default()
        },
        // Since its version 3 the mean of the rates of all samples, which is not one over the mean time.
        rate: of("ops/sec").and_then(value),
        error,
        repetitions: count,
        operations: count,
        ..Timing::default()
    };
    Some((of("task name")?.to_owned(), timing))
}

fn percent(cell: &str) -> Option<f64> {
    let (_, rest) = cell.split_once('±')?;
    Some(number(rest.trim().strip_suffix('%')?)? / 100.0)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let mut columns = Vec::new();
    for line in run.lines {
        match head(line) {
            Some(own) => columns = own,
            None => {
                if let Some((name, timing)) = row(&columns, line) {
                    timing.push(&HARNESS, &mut rows, &name, known);
                }
            }
        }
    }
    if columns.iter().any(|column| column.starts_with("throughput")) {
        rows.note("throughput, which is a mean of rates");
    }
    rows.figures("has no row of its table")
}
