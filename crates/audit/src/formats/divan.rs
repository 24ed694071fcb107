//! divan: a tree of benchmarks of Rust, with extremes, median and mean of each.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::Rows;
use crate::formats::timing::{Around, Harness, Timing, time};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["│ slowest", "│ median", "├─ ", "╰─ "], starts, None, parse);

const HARNESS: Harness = Harness { id: "divan", name: "divan", around: Around::Subtracted };
/// Lines between the head and the first benchmark: modules.
const WITHIN: usize = 12;
/// Characters that a level of the tree is moved in by.
const STEP: usize = 3;

fn is_head(line: &str) -> bool {
    if !line.contains("fastest") {
        return false;
    }
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect();
    words.ends_with(&["fastest", "slowest", "median", "mean", "samples", "iters"])
}

/// A benchmark or a module: its name with the time of the first column behind it, and the cells behind that.
fn branch(line: &str) -> Option<(&str, Vec<&str>)> {
    let rest = line.strip_prefix(['├', '╰'])?.trim_start_matches('─').trim_start();
    let mut cells = rest.split('│').map(str::trim);
    Some((cells.next()?, cells.take(8).collect()))
}

/// The name and the fastest time, which stand in one cell.
fn named(cell: &str) -> (&str, Option<Printed>) {
    let words: Vec<&str> = cell.split_whitespace().collect();
    let fastest = words.len().checked_sub(2).and_then(|at| time(&words[at..].join(" ")));
    let Some(found) = fastest.filter(|_| words.len() > 2) else { return (cell, None) };
    let tail: usize = words[words.len() - 2..].iter().map(|word| word.len()).sum();
    let end = cell.len().saturating_sub(tail + 1);
    (cell.get(..end).unwrap_or(cell).trim_end(), Some(found))
}

fn is_row(line: &str) -> bool {
    branch(line).is_some_and(|(cell, cells)| named(cell).1.is_some() && cells.len() >= 3)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let begins = |line: &str| is_head(line) && rest.iter().skip(1).take(WITHIN).any(|line| is_row(line));
    let is_own = |line: &&&str| is_head(line) || branch(line).is_some();
    begins(line) || is_row(line) && !before.iter().rev().take(4 * WITHIN).any(|line| is_own(&line))
}

/// Where the first bar between two columns stands, in characters: a line is shorter by what was taken off before it.
fn bar(line: &str) -> Option<usize> {
    line.chars().position(|c| c == '│')
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let head = run.lines.first().filter(|line| is_head(line));
    let (whole, column) = match head {
        Some(line) => (line.split_whitespace().next().filter(|name| *name != "fastest"), bar(line)),
        None => (None, None),
    };
    let precision = run.lines.iter().chain(run.before.iter().rev().take(2));
    let precision = precision.filter_map(|line| time(line.strip_prefix("Timer precision:")?)).next();
    let (mut path, mut modules): (Vec<&str>, Vec<&str>) = Default::default();
    for line in run.lines {
        let Some((cell, cells)) = branch(line) else {
            if line.contains("alloc:") || line.contains("B/s") {
                rows.note("throughput and allocations");
            }
            continue;
        };
        let (name, fastest) = named(cell);
        let Some(fastest) = fastest else {
            modules.push(name);
            continue;
        };
        // Modules stand right before their first benchmark; without its head a level is not known.
        match column.zip(bar(line)) {
            Some((head, own)) => {
                path.truncate((head.saturating_sub(own) / STEP).saturating_sub(modules.len()))
            }
            None if modules.is_empty() => path.truncate(path.len().saturating_sub(1)),
            None => path.clear(),
        }
        path.append(&mut modules);
        path.push(name);
        let of = |at: usize| cells.get(at).and_then(|cell| time(cell));
        let count = |at: usize| cells.get(at).and_then(|cell| number(cell));
        // A sample is read by the clock as a whole.
        let each =
            count(4).zip(count(3)).filter(|(_, samples)| *samples > 0.0).map(|(all, samples)| all / samples);
        let step = precision
            .zip(each)
            .filter(|(_, each)| *each >= 1.0)
            .map_or(0.0, |(step, each)| step.value / each);
        let stepped = |time: Printed| Printed { off: time.off.max(step / 2.0), ..time };
        let full = whole.into_iter().chain(path.iter().copied()).collect::<Vec<_>>().join("::");
        let timing = Timing {
            samples: Statistics {
                least: Some(fastest),
                mean: of(2),
                most: of(0),
                deviation: None,
                quantiles: of(1).map(|median| (0.5, stepped(median))).into_iter().collect(),
            },
            repetitions: count(3),
            is_median: true,
            ..Timing::default()
        };
        timing.push(&HARNESS, &mut rows, &full, known);
    }
    rows.figures("has no row of a benchmark")
}
