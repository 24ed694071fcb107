//! A chart in words: its notes, and its description for those who do not see it.

use figure::format::{counted, plain, plain_to};
use figure::{Figure, Status, Verdict};

use super::axis::Axis;
use super::chart::{Chart, Form};
use crate::digits::with_unit;
use crate::grid::{self, Column, Grid, Mode, Position};
use crate::{mark, names};

/// The name of a column in a chart.
pub(super) fn label(grid: &Grid, column: &Column) -> String {
    match &grid.across {
        Some(across) => format!("{} {}", across.head, column.label),
        None => column.label.clone(),
    }
}

/// The meaning of marks and names, and the figures that were computed from the points.
pub(super) fn notes(mode: &Mode, grid: &Grid, has_intervals: bool, has_labels: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if has_intervals {
        notes.push("whiskers: 95 % interval, where wider than the mark".to_owned());
    }
    if grid.is_companion && has_labels {
        notes.push(format!("numbers at points: {}", grid.down.title));
    }
    let labels = grid.columns.iter().map(|column| column.label.as_str()).chain([grid.label.as_str()]);
    notes.extend(names::meanings(mode.info, labels));
    notes.extend(mode.derived.iter().filter_map(|figure| {
        let verdict = figure.verdict.filter(|verdict| *verdict != Verdict::Valid);
        let verdict = verdict.map_or_else(String::new, |verdict| format!(" ({verdict})"));
        Some(format!("{}: {}{verdict}", plain_to(&figure.name, 60), with_unit(figure.value?, &figure.unit)))
    }));
    notes
}

/// The figures without a value that these grids were planned with, in a line for each status.
pub(super) fn missing(mode: &Mode, grids: &[&Grid]) -> Vec<String> {
    // The grids as they were planned, with the columns without a value.
    let is_shown = |planned: &&Grid| {
        let key = |grid: &Grid| (grid.label.clone(), grid.down.clone(), grid.across.clone());
        grids.iter().any(|grid| key(grid) == key(planned))
    };
    let planned = mode.grids.iter().filter(is_shown).flat_map(Grid::figures);
    let missing: Vec<Status> = planned.filter(|f| f.value.is_none()).map(|figure| figure.status).collect();
    [Status::NotAvailable, Status::Failed, Status::Interrupted]
        .into_iter()
        .map(|status| (status, missing.iter().filter(|other| **other == status).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{status}: {}", counted(count, "figure")))
        .collect()
}

/// The chart in words, for those who do not see it.
pub(super) fn description(chart: &Chart, mode: &Mode, grids: &[&Grid]) -> String {
    let is_bars = chart.form == Form::Bars;
    let sort = if is_bars { "Bar chart" } else { "Line chart" };
    let axis =
        |axis: &Axis| format!("{}{}", axis.title, if axis.is_logarithmic { ", logarithmic" } else { "" });
    let mut text = format!("{sort}. Across: {}. Upwards: {}.", axis(&chart.x), axis(&chart.y));
    for (grid, column) in grids.iter().flat_map(|grid| grid.values().map(move |column| (grid, column))) {
        let rows = grid.rows.iter().zip(&column.cells);
        let points: Vec<(&Position, &Figure, f64)> =
            rows.filter_map(|(row, figure)| Some((row, (*figure)?, (*figure)?.value?))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        let name = if grids.len() > 1 { grid.name(mode.info) } else { label(grid, column) };
        let name = if name.is_empty() { name } else { format!("{name}: ") };
        let at = |(row, figure, value): &(&Position, &Figure, f64)| {
            let is_bare = row.number.is_some() && row.unit.is_none();
            let head = if is_bare { format!("{} ", grid.down.head) } else { String::new() };
            format!("{} at {head}{}", with_unit(*value, &figure.unit), row.label)
        };
        let values = if is_bars {
            points.iter().map(at).collect::<Vec<_>>().join(", ")
        } else {
            format!("{}, from {} to {}", counted(points.len(), "point"), at(first), at(last))
        };
        let verdicts = mark::VERDICTS.iter().filter_map(|verdict| {
            let count = points.iter().filter(|(_, figure, _)| figure.verdict == Some(*verdict)).count();
            (count > 0).then(|| format!("{count} {verdict}"))
        });
        text.push_str(&format!(" {name}{values}; {}.", verdicts.collect::<Vec<_>>().join(", ")));
    }
    for (status, reason, place) in grid::missing(mode) {
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        text.push_str(&format!(" {place}{status}: {}.", plain(&reason)));
    }
    text
}
