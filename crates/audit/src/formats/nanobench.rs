//! nanobench: its Markdown table.

use figure::Figure;

use crate::format::Format;
use crate::formats::micro::{Rows, nanoseconds};
use crate::formats::timing::{Around, Harness, Timing};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines(HARNESS.name, &["ns/op |", "err% |", "MdAPE |"], starts, None, parse);

const HARNESS: Harness = Harness { id: "nanobench", name: "nanobench", around: Around::Loop };

/// A bar within a name is none of the table's.
fn cells(line: &str, columns: usize) -> Vec<&str> {
    let bare = line.trim_matches(|c: char| c == '|' || c.is_whitespace());
    let mut cells: Vec<&str> = bare.splitn(columns.clamp(1, 32), '|').map(str::trim).collect();
    // Of `|          |   5.83 |` the first cell is empty, and its bar was taken off.
    if cells.len() + 1 == columns {
        cells.insert(0, "");
    }
    cells
}

/// The names of the columns, and nanoseconds of the unit of time.
fn head(line: &str) -> Option<(Vec<&str>, f64)> {
    let columns = cells(line, 32);
    let factor = columns.iter().find_map(|column| nanoseconds(column.strip_suffix("/op")?))?;
    let has = |name: &str| columns.contains(&name);
    (columns.len() > 3 && (has("err%") || has("MdAPE"))).then_some((columns, factor))
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.contains("/op") && head(line).is_some())
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut rows = Rows::default();
    let first = run.lines.first().and_then(|line| head(line)).ok_or("has no head of its table")?;
    let (columns, factor) = first;
    let title = columns.last().copied().filter(|title| *title != "benchmark");
    for line in run.lines.iter().skip(1) {
        let cells = cells(line, columns.len());
        let at = |name: &str| columns.iter().position(|column| *column == name);
        let of = |name: &str| Printed::of(cells.get(at(name)?)?);
        let timed = columns
            .iter()
            .position(|column| column.strip_suffix("/op").is_some_and(|unit| nanoseconds(unit).is_some()));
        let value = timed.and_then(|at| Printed::of(cells.get(at)?));
        let (Some(value), Some(name)) = (value, cells.get(columns.len() - 1)) else { continue };
        let share =
            ["err%", "MdAPE"].iter().find_map(|name| number(cells.get(at(name)?)?.strip_suffix('%')?));
        let name = name.split('`').nth(1).unwrap_or(name);
        let name = title.map_or(name.to_owned(), |title| format!("{title} {name}"));
        let timing = Timing {
            samples: Statistics { mean: Some(value.times(factor)), ..Statistics::default() },
            rate: of("op/s"),
            error: share.map(|share| share / 100.0),
            seconds: of("total").map(|total| total.value),
            ..Timing::default()
        };
        timing.push(&HARNESS, &mut rows, &name, known);
        if line.contains("Unstable with") {
            rows.note("its own warnings of unstable results");
        }
    }
    if columns.contains(&"ins/op") {
        rows.note("counted events");
    }
    rows.figures("has no row of its table")
}
