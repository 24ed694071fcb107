//! Columns over time: what a program or a load did from second to second.

use figure::Figure;
use figure::format::plain_to;
use figure::series::{Column, Timeline};

use super::chart::{Chart, Form, Point, Series};
use super::ticks;
use crate::digits::with_unit;
use crate::{mark, names};
use figure::Unit;

/// What is drawn together, and what it is called. Other columns are told in tables.
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
    let points = || series.iter().flat_map(|series| series.points.iter().flatten());
    if points().count() < 2 {
        return None;
    }
    let values: Vec<f64> = points().map(|point| point.at.1).collect();
    let seconds: Vec<f64> = points().map(|point| point.at.0).chain([0.0]).collect();
    let each: Vec<String> = columns.iter().filter_map(|column| in_words(column)).collect();
    let y_title = if *unit == Unit::ONE { "CPUs".to_owned() } else { names::quantity(unit) };
    Some(Chart {
        title: title.replacen('?', &format!(" ({})?", plain_to(&figure.name, 60)), 1),
        description: format!(
            "Line chart. Across: seconds since the beginning. Upwards: {y_title}. {}.",
            each.join(". ")
        ),
        x: ticks::axis(&seconds, None, false, true),
        x_title: "seconds since the beginning".to_owned(),
        y: ticks::axis(&values, Some(unit), false, true),
        y_title,
        form: Form::Curves,
        series,
        limits: Vec::new(),
        edges: Vec::new(),
        notes: figure
            .verdict
            .map(|verdict| format!("{} the figure is {verdict}", mark::of(verdict)))
            .into_iter()
            .collect(),
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
    let name = plain_to(&column.name, 28);
    let points = all.chunks(stretch).map(|points| {
        let (at, value) = points.iter().flatten().copied().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        Some(Point {
            told: format!("{name} at {at:.1} s: {}", with_unit(value, &column.unit)),
            is_bare: true,
            ..Point::at(at, value)
        })
    });
    Series { points: points.collect(), label: name.clone() }
}

fn in_words(column: &Column) -> Option<String> {
    let values = || column.values.iter().flatten().copied().filter(|value| value.is_finite());
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let unit = &column.unit;
    Some(format!(
        "{}: from {} to {}",
        plain_to(&column.name, 28),
        with_unit(low, unit),
        with_unit(high, unit)
    ))
}
