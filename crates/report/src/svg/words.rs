//! A chart in words: what stands beside it, and its description for those who do not see it.

use figure::format::{counted, plain, plain_to};
use figure::{Figure, Status, Verdict};

use super::axis::Axis;
use super::chart::{Chart, Form, label};
use crate::digits::with_unit;
use crate::grid::{self, Grid, Mode};
use crate::{mark, names};

/// What the marks and names mean, and what was computed from the points.
pub(super) fn notes(mode: &Mode, grid: &Grid, has_intervals: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if has_intervals {
        notes.push("whiskers: 95 % interval, where wider than the mark".to_owned());
    }
    if grid.is_companion {
        notes.push(format!("numbers at points: {}", grid.down.title.clone()));
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

/// What a chart of these grids lacks, in a line for each status.
pub(super) fn missing(mode: &Mode, grids: &[&Grid]) -> Vec<String> {
    // The grids as they were planned, with the columns of which nothing was measured.
    let is_shown = |planned: &&Grid| {
        let key = |grid: &Grid| (grid.label.clone(), grid.down.clone(), grid.across.clone());
        grids.iter().any(|grid| key(grid) == key(planned))
    };
    let planned = || mode.grids.iter().filter(is_shown).flat_map(Grid::figures);
    let figures = || planned().filter(|figure| figure.value.is_none());
    let count = |status| figures().filter(|figure| figure.status == status).count();
    [Status::NotAvailable, Status::Failed, Status::Interrupted]
        .into_iter()
        .map(|status| (status, count(status)))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{}: {}", status, counted(count, "figure")))
        .collect()
}

/// The chart in words, for those who do not see it.
pub(super) fn description(chart: &Chart, mode: &Mode, grids: &[&Grid]) -> String {
    let is_bars = chart.form == Form::Bars;
    let sort = if is_bars { "Bar chart" } else { "Line chart" };
    let scale = |axis: &Axis| if axis.is_logarithmic { ", logarithmic" } else { "" };
    let mut text = format!(
        "{sort}. Across: {}{}. Upwards: {}{}.",
        chart.x_title,
        scale(&chart.x),
        chart.y_title,
        scale(&chart.y)
    );
    for (grid, column) in grids.iter().flat_map(|grid| grid.values().map(move |column| (grid, column))) {
        let rows = grid.rows.iter().zip(&column.cells);
        let points: Vec<_> =
            rows.filter_map(|(row, figure)| Some((row, (*figure)?, (*figure)?.value?))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        let name = if grids.len() > 1 { grid.name(mode.info) } else { label(grid, column) };
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let told = |(row, figure, value): &(&grid::Position, &Figure, f64)| {
            let head = if row.number.is_some() && row.unit.is_none() {
                grid.down.head.clone() + " "
            } else {
                String::new()
            };
            format!("{} at {head}{}", with_unit(*value, &figure.unit), row.label)
        };
        let values = if is_bars {
            points.iter().map(told).collect::<Vec<_>>().join(", ")
        } else {
            format!("{}, from {} to {}", counted(points.len(), "point"), told(first), told(last))
        };
        let verdicts = mark::VERDICTS.iter().map(|verdict| {
            (verdict, points.iter().filter(|(_, figure, _)| figure.verdict == Some(*verdict)).count())
        });
        let verdicts: Vec<String> = verdicts
            .filter(|(_, count)| *count > 0)
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        text.push_str(&format!(" {name}{values}; {}.", verdicts.join(", ")));
    }
    for (status, reason, what) in grid::missing(mode) {
        let what = if what.is_empty() { String::new() } else { format!("{what}: ") };
        text.push_str(&format!(" {what}{}: {}.", status, plain(&reason)));
    }
    text
}
