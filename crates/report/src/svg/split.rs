//! Figures that are sums, as bars of their parts: where the CPU time of a request goes.

use figure::format::{percent, plain_to};
use figure::series::mode_of;
use figure::{Figure, Record};

use super::axis::{Axis, Scale};
use super::chart::{Chart, Form, MAX_NAME, Point, Series, value_in_words};
use crate::digits::with_unit;
use crate::{groups, names, outline};

/// As many parts as there are distinct colours; the others are the rest.
const MOST_PARTS: usize = 5;
/// The most rows.
const MOST_ROWS: usize = 24;
/// What sums are called, by the last word of their series.
const SUMS: &[(&str, &str)] = &[("cpu", "Where does the CPU time of a request go")];

/// A chart for each series whose figures are split up.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let split = record.figures.iter().filter(|figure| figure.value.is_some() && !figure.parts.is_empty());
    let groups = groups::in_order(split.filter_map(|figure| Some((figure.series.as_deref()?, figure))));
    groups.into_iter().filter_map(|(series, figures)| chart(record, series, &figures)).collect()
}

fn chart(record: &Record, series: &str, figures: &[&Figure]) -> Option<Chart> {
    let rows = figures.get(..MOST_ROWS).unwrap_or(figures);
    let unit = &rows.first()?.unit;
    if rows.iter().any(|figure| figure.unit != *unit || !is_sum(figure)) {
        return None;
    }
    let largest = largest(rows);
    // The end of each row so far.
    let mut ends = vec![0.0; rows.len()];
    let parts = largest.iter().map(|name| plain_to(name, MAX_NAME)).chain(["rest".to_owned()]);
    let all: Vec<Series> = parts
        .enumerate()
        .map(|(at, label)| {
            let name = largest.get(at);
            let points = rows.iter().zip(&mut ends).enumerate().map(|(row, (figure, end))| {
                let size = match name {
                    Some(name) => part(figure, name),
                    None => whole(figure) - largest.iter().map(|name| part(figure, name)).sum::<f64>(),
                };
                Some(point(figure, (row, end), size.max(0.0), &label, name.is_none()))
            });
            Series { points: points.collect(), label: label.clone() }
        })
        .collect();
    let sums: Vec<f64> = rows.iter().map(|figure| whole(figure)).chain(ends).collect();
    let names: Vec<String> = rows.iter().map(|figure| place(record, figure)).collect();
    let words: Vec<String> = rows.iter().map(|figure| in_words(figure, &largest)).collect();
    Some(Chart {
        title: title(record, series),
        description: format!("Stacked bars. {}.", words.join(". ")),
        x: Axis::over(&sums, Some(unit), Scale::Lengths, names::quantity(unit)),
        y: Axis::of_names(names.iter(), MAX_NAME, "figure".to_owned()).reversed(),
        form: Form::Stacks,
        series: all,
        ..Chart::default()
    })
}

/// A part of a figure, from the end of the row so far; the last has the mark of the whole.
fn point(figure: &Figure, (row, end): (usize, &mut f64), size: f64, label: &str, is_last: bool) -> Point {
    let from = *end;
    *end += size;
    let share = if whole(figure) > 0.0 { size / whole(figure) } else { 0.0 };
    let size_in_words = with_unit(size, &figure.unit);
    let words = format!("{}: {label} {size_in_words}, {}", plain_to(&figure.name, 60), percent(share));
    Point {
        at: (*end, row as f64 + 0.5),
        from: Some(from),
        words: if size > 0.0 { words } else { String::new() },
        is_bare: !is_last,
        verdict: figure.verdict.filter(|_| is_last),
        label: if is_last { with_unit(whole(figure), &figure.unit) } else { String::new() },
        ..Point::default()
    }
}

fn whole(figure: &Figure) -> f64 {
    figure.value.unwrap_or_default()
}

fn part(figure: &Figure, name: &str) -> f64 {
    figure.parts.iter().filter(|part| part.name == name).map(|part| part.value).sum()
}

/// `Where does the CPU time of a request go, as many requests as the server answers?`
fn title(record: &Record, series: &str) -> String {
    let known = SUMS.iter().find(|(word, _)| series.rsplit('.').next() == Some(word));
    match known.zip(names::title(names::info(record, mode_of(series)))) {
        Some(((_, question), mode)) => format!("{question}, {mode}?"),
        None => format!("What is {} made of?", names::words(series)),
    }
}

/// The place of a figure: `200, nethttp`.
fn place(record: &Record, figure: &Figure) -> String {
    let info = names::info(record, names::mode_of_figure(figure));
    let mut axes: Vec<&String> = figure.at.keys().collect();
    axes.sort_by_key(|axis| names::rank(info, axis));
    let places: Vec<String> = axes.into_iter().map(|axis| outline::coordinate(&figure.at[axis])).collect();
    if places.is_empty() { figure.name.clone() } else { places.join(", ") }
}

/// Whether the parts are finite, and no more than the whole.
fn is_sum(figure: &Figure) -> bool {
    let sum: f64 = figure.parts.iter().map(|part| part.value).sum();
    sum.is_finite() && whole(figure).is_finite() && sum >= 0.0 && sum <= whole(figure) * 1.01
}

/// The names of the parts that are largest in any of the figures.
fn largest<'a>(figures: &[&'a Figure]) -> Vec<&'a str> {
    let parts = figures.iter().flat_map(|figure| &figure.parts);
    let parts = groups::in_order(parts.map(|part| (part.name.as_str(), part.value)));
    let most = |values: Vec<f64>| values.into_iter().fold(f64::MIN, f64::max);
    let mut parts: Vec<(&str, f64)> = parts.into_iter().map(|(name, values)| (name, most(values))).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts.into_iter().take(MOST_PARTS).map(|(name, _)| name).collect()
}

fn in_words(figure: &Figure, names: &[&str]) -> String {
    let parts = figure.parts.iter().filter(|part| names.contains(&part.name.as_str()));
    let parts: Vec<String> =
        parts.map(|part| format!("{} {}", plain_to(&part.name, MAX_NAME), percent(part.share))).collect();
    format!("{} {}: {}", plain_to(&figure.name, 60), value_in_words(figure), parts.join(", "))
}
