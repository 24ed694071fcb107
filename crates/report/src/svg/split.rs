//! Figures that are sums, as bars of their parts: where the CPU time of a request goes.

use figure::format::{percent, plain_to};
use figure::series::mode_of;
use figure::{Figure, Record};

use super::chart::{Chart, Form, MAX_NAME, Point, Series, told};
use super::ticks;
use crate::digits::with_unit;
use crate::{names, outline};

/// As many parts as there are colours that can be told apart; the others are the rest.
const MOST_PARTS: usize = 5;
/// The most rows.
const MOST_ROWS: usize = 24;

/// A chart for each series whose figures are split up.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let mut groups: Vec<(&str, Vec<&Figure>)> = Vec::new();
    for figure in record.figures.iter().filter(|figure| figure.value.is_some() && !figure.parts.is_empty()) {
        let Some(series) = figure.series.as_deref() else { continue };
        match groups.iter_mut().find(|(known, _)| *known == series) {
            Some((_, members)) => members.push(figure),
            None => groups.push((series, vec![figure])),
        }
    }
    groups.into_iter().filter_map(|(series, figures)| chart(record, series, &figures)).collect()
}

fn chart(record: &Record, series: &str, figures: &[&Figure]) -> Option<Chart> {
    let rows = figures.get(..MOST_ROWS).unwrap_or(figures);
    let unit = &rows.first()?.unit;
    if rows.iter().any(|figure| figure.unit != *unit || !is_sum(figure)) {
        return None;
    }
    let largest = largest(rows);
    let value = |figure: &Figure, name: &str| -> f64 {
        figure.parts.iter().filter(|part| part.name == name).map(|part| part.value).sum()
    };
    let whole = |figure: &Figure| figure.value.unwrap_or_default();
    // Where each row has come to.
    let mut ends = vec![0.0; rows.len()];
    let mut series_of = |label: &str, of: &dyn Fn(&Figure) -> f64, is_last: bool| {
        let points = rows.iter().enumerate().map(|(row, figure)| {
            let (from, part) = (ends[row], of(figure).max(0.0));
            ends[row] = from + part;
            let share = if whole(figure) > 0.0 { part / whole(figure) } else { 0.0 };
            let place = plain_to(&figure.name, 60);
            let words = format!("{place}: {label} {}, {}", with_unit(part, unit), percent(share));
            Some(Point {
                from: Some(from),
                told: if part > 0.0 { words } else { String::new() },
                is_bare: !is_last,
                verdict: figure.verdict.filter(|_| is_last),
                label: if is_last { with_unit(whole(figure), unit) } else { String::new() },
                ..Point::at(ends[row], row as f64 + 0.5)
            })
        });
        Series { label: label.to_owned(), points: points.collect() }
    };
    let mut all: Vec<Series> = largest
        .iter()
        .map(|name| series_of(&plain_to(name, MAX_NAME), &|figure| value(figure, name), false))
        .collect();
    let rest = |figure: &Figure| whole(figure) - largest.iter().map(|name| value(figure, name)).sum::<f64>();
    all.push(series_of("rest", &rest, true));
    let sums: Vec<f64> = rows.iter().map(|figure| whole(figure)).chain(ends).collect();
    let labels = rows.iter().enumerate();
    let labels = labels.map(|(at, figure)| (at as f64 + 0.5, place(record, figure)));
    let title = title(record, series);
    let each: Vec<String> = rows.iter().map(|figure| in_words(figure, &largest)).collect();
    Some(Chart {
        description: format!("Stacked bars. {}.", each.join(". ")),
        title,
        x: ticks::axis(&sums, Some(unit), false, true),
        x_title: names::quantity(unit),
        y: super::axis::Axis {
            low: rows.len() as f64,
            high: 0.0,
            is_logarithmic: false,
            ticks: labels.collect(),
        },
        y_title: "figure".to_owned(),
        form: Form::Stacks,
        series: all,
        limits: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
    })
}

/// What sums are called, by the last word of their series.
const SUMS: &[(&str, &str)] = &[("cpu", "Where does the CPU time of a request go")];

/// `Where does the CPU time of a request go, as many requests as the server answers?`
fn title(record: &Record, series: &str) -> String {
    let known = SUMS.iter().find(|(word, _)| series.rsplit('.').next() == Some(word));
    match known.zip(names::title(names::info(record, mode_of(series)))) {
        Some(((_, what), mode)) => format!("{what}, {mode}?"),
        None => format!("What is {} made of?", names::words(series)),
    }
}

/// Where a figure stands: `200, nethttp`.
fn place(record: &Record, figure: &Figure) -> String {
    let info = names::info(record, names::mode_of_figure(figure));
    let mut axes: Vec<&String> = figure.at.keys().collect();
    axes.sort_by_key(|axis| names::rank(info, axis));
    let places: Vec<String> = axes.into_iter().map(|axis| outline::coordinate(&figure.at[axis])).collect();
    let place = if places.is_empty() { figure.name.clone() } else { places.join(", ") };
    plain_to(&place, MAX_NAME)
}

/// Whether the parts are finite, and no more than the whole.
fn is_sum(figure: &Figure) -> bool {
    let sum: f64 = figure.parts.iter().map(|part| part.value).sum();
    let whole = figure.value.unwrap_or_default();
    sum.is_finite() && whole.is_finite() && sum >= 0.0 && sum <= whole * 1.01
}

/// The names of the parts that are largest in any of the figures.
fn largest<'a>(figures: &[&'a Figure]) -> Vec<&'a str> {
    let mut parts: Vec<(&str, f64)> = Vec::new();
    for part in figures.iter().flat_map(|figure| &figure.parts) {
        match parts.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, most)) => *most = most.max(part.value),
            None => parts.push((&part.name, part.value)),
        }
    }
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts.into_iter().take(MOST_PARTS).map(|(name, _)| name).collect()
}

fn in_words(figure: &Figure, names: &[&str]) -> String {
    let parts = figure.parts.iter().filter(|part| names.contains(&part.name.as_str()));
    let parts: Vec<String> =
        parts.map(|part| format!("{} {}", plain_to(&part.name, MAX_NAME), percent(part.share))).collect();
    format!("{} {}: {}", plain_to(&figure.name, 60), told(figure), parts.join(", "))
}
