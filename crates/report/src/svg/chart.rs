//! What a chart shows: its points, its axes, its limits, and the same in words. Nothing is drawn here.

use figure::format::{number, plain_to};
use figure::{Figure, Limit, Verdict};

use super::axis::Axis;
use crate::digits::with_unit;

/// The most characters of a name at an axis.
pub(super) const MAX_NAME: usize = 28;
/// The share of a row that its bars take.
pub(super) const BAR_SHARE: f64 = 0.72;
/// A limit's text, and its line.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// A chart.
#[derive(Debug, Default)]
pub(super) struct Chart {
    /// The question that it answers.
    pub title: String,
    /// What it shows, in words.
    pub description: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// How values are drawn.
    pub form: Form,
    /// What is compared.
    pub series: Vec<Series>,
    /// Limits with their lines.
    pub limits: Vec<Line>,
    /// Positions on the x axis that were computed: edges.
    pub edges: Vec<(String, f64)>,
    /// The least value of each shade of a map, in words.
    pub shades: Vec<String>,
    /// Remarks in the legend.
    pub notes: Vec<String>,
}

impl Chart {
    /// The points of all series.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        points(&self.series)
    }
}

/// The points of several series.
pub(super) fn points(series: &[Series]) -> impl Iterator<Item = &Point> {
    series.iter().flat_map(|series| series.points.iter().flatten())
}

/// How the values of a chart are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Over positions, with lines between them.
    #[default]
    Curves,
    /// As bars from the left; rows are names.
    Bars,
    /// As bars that follow one another in a row: the parts of a sum.
    Stacks,
    /// As points with their intervals; rows are names, and a series has a place for each.
    Intervals,
    /// As squares, the darker the larger; rows and columns are names.
    Map,
}

/// Points of one series.
#[derive(Debug)]
pub(super) struct Series {
    /// Its name; empty if there is only one.
    pub label: String,
    /// Its points along the axis; `None` where there is no value.
    pub points: Vec<Option<Point>>,
}

/// A measured point.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// Its position on both axes.
    pub at: (f64, f64),
    /// Its value's interval.
    pub interval: Option<(f64, f64)>,
    /// The interval of its position, if that was measured too.
    pub x_interval: Option<(f64, f64)>,
    /// Its value's limit.
    pub limit: Option<Limit>,
    /// The verdict that its mark shows.
    pub verdict: Option<Verdict>,
    /// The text next to it.
    pub label: String,
    /// The text that a page shows under the pointer; empty for none.
    pub words: String,
    /// Whether it has no mark.
    pub is_bare: bool,
    /// The beginning of a bar, if it is not at zero.
    pub from: Option<f64>,
    /// The shade of a square.
    pub shade: usize,
}

impl Point {
    /// A figure at a position, with the names of its place.
    pub fn of(figure: &Figure, places: &[&str], at: (f64, f64)) -> Point {
        let places: Vec<&str> = places.iter().copied().filter(|place| !place.is_empty()).collect();
        let head = if places.is_empty() { plain_to(&figure.name, 60) } else { places.join(", ") };
        Point {
            at,
            interval: interval(figure),
            limit: figure.limit.clone(),
            verdict: figure.verdict,
            words: format!("{head}: {}", value_in_words(figure)),
            ..Point::default()
        }
    }
}

/// The ends of a figure's interval.
pub(super) fn interval(figure: &Figure) -> Option<(f64, f64)> {
    figure.interval.as_ref().map(|interval| (interval.low, interval.high))
}

/// The value of a figure, if it can be drawn.
pub(super) fn finite(figure: &Figure) -> Option<f64> {
    figure.value.filter(|value| value.is_finite())
}

/// A figure's value with its interval and its verdict: `28.8 ns (28.1 to 29.0), valid`.
pub(super) fn value_in_words(figure: &Figure) -> String {
    let Some(value) = figure.value else { return String::new() };
    let mut text = with_unit(value, &figure.unit);
    if let Some(interval) = &figure.interval {
        text.push_str(&format!(" ({} to {})", number(interval.low), number(interval.high)));
    }
    let verdict = figure.verdict.map_or_else(|| "not judged".to_owned(), |verdict| verdict.to_string());
    format!("{text}, {verdict}")
}
