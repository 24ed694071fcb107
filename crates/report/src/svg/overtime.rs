//! Columns over time: what a program or a load did from second to second.

use figure::format::plain_to;
use figure::series::{Column, Timeline};
use figure::{Figure, Unit};

use super::axis::{Axis, Scale};
use super::chart::{Chart, Point, Series, points};
use crate::digits::with_unit;
use crate::{mark, names};

/// Columns that are drawn together, and the question that they answer. Other columns are in tables.
const LINES: &[(&str, &[&str])] = &[
    ("How many page faults, over time?", &["minor", "major"]),
    ("How many CPUs does it keep busy, over time?", &["user", "system"]),
    ("How much memory, over time?", &["resident"]),
    ("How many answers, over time?", &["load.answers", "load.failures"]),
    ("How long do answers take, over time?", &["load.p50", "load.p99"]),
    ("How many CPUs does the server keep busy, over time?", &["server.user", "server.system"]),
];
/// The most points of a line; more are thinned to the largest of each stretch, so that no peak is lost.
const MOST: usize = 150;
/// The most characters of a column's name.
const MAX_NAME: usize = 28;

/// The charts of a figure's time line.
pub(super) fn charts(figure: &Figure) -> Vec<Chart> {
    let Some(timeline) = &figure.timeline else { return Vec::new() };
    LINES.iter().filter_map(|(title, names)| chart(figure, timeline, title, names)).collect()
}

fn chart(figure: &Figure, timeline: &Timeline, title: &str, names: &[&str]) -> Option<Chart> {
    let columns = names.iter().filter_map(|name| timeline.columns.iter().find(|c| c.name == *name));
    let columns: Vec<&Column> = columns.collect();
    let unit = &columns.first()?.unit;
    if columns.iter().any(|column| column.unit != *unit) {
        return None;
    }
    let series: Vec<Series> = columns.iter().map(|column| line(timeline, column)).collect();
    if points(&series).count() < 2 {
        return None;
    }
    let values: Vec<f64> = points(&series).map(|point| point.at.1).collect();
    let seconds: Vec<f64> = points(&series).map(|point| point.at.0).collect();
    let ranges: Vec<String> = columns.iter().filter_map(|column| range(column)).collect();
    let x_title = "seconds since the beginning".to_owned();
    let y_title = if *unit == Unit::ONE { "CPUs".to_owned() } else { names::quantity(unit) };
    let note = figure.verdict.map(|verdict| format!("{} the figure is {verdict}", mark::of(verdict)));
    Some(Chart {
        title: title.replacen('?', &format!(" ({})?", plain_to(&figure.name, 60)), 1),
        description: format!("Line chart. Across: {x_title}. Upwards: {y_title}. {}.", ranges.join(". ")),
        x: Axis::over(&seconds, None, Scale::Lengths, x_title),
        y: Axis::over(&values, Some(unit), Scale::Lengths, y_title),
        series,
        notes: note.into_iter().collect(),
        ..Chart::default()
    })
}

fn line(timeline: &Timeline, column: &Column) -> Series {
    let finite = |value: &f64| value.is_finite();
    let all: Vec<Option<(f64, f64)>> = timeline
        .seconds
        .iter()
        .zip(&column.values)
        .map(|(at, value)| Some((Some(*at).filter(finite)?, value.filter(finite)?)))
        .collect();
    let stretch = all.len().div_ceil(MOST).max(1);
    let name = plain_to(&column.name, MAX_NAME);
    let points = all.chunks(stretch).map(|points| {
        let (at, value) = points.iter().flatten().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        let words = format!("{name} at {at:.1} s: {}", with_unit(value, &column.unit));
        Some(Point { at: (at, value), words, is_bare: true, ..Point::default() })
    });
    Series { points: points.collect(), label: name.clone() }
}

/// `minor: from 0 to 12`.
fn range(column: &Column) -> Option<String> {
    let values = || column.values.iter().flatten().copied().filter(|value| value.is_finite());
    let ends = [values().reduce(f64::min)?, values().reduce(f64::max)?];
    let [low, high] = ends.map(|end| with_unit(end, &column.unit));
    Some(format!("{}: from {low} to {high}", plain_to(&column.name, MAX_NAME)))
}
