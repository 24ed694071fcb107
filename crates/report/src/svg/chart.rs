//! What a chart shows: a grid's points, its axes, its limits, and the same in words. Nothing is drawn here.

use figure::format::{number, plain_to};
use figure::{Figure, Unit, Verdict};

use super::axis::Axis;
use super::limits::{Line, limits};
use super::{ticks, words};
use crate::digits::with_unit;
use crate::grid::{Column, Grid, Mode, Position};
use crate::names;

/// From this ratio of the largest value to the smallest on, an axis of values is logarithmic along sizes: levels of
/// a memory hierarchy differ by factors.
const LOGARITHMIC: f64 = 12.0;
/// From this ratio on, an axis of sizes is logarithmic.
const LOGARITHMIC_SIZES: f64 = 8.0;
/// From this ratio on, any other axis of positions is.
const LOGARITHMIC_POSITIONS: f64 = 100.0;
/// The most characters of a name at an axis.
pub(super) const MAX_NAME: usize = 28;
/// The most rows of bars; more are no picture.
const MAX_BARS: usize = 60;

/// A chart.
#[derive(Debug)]
pub(super) struct Chart {
    /// Its title.
    pub title: String,
    /// What it shows, in words.
    pub description: String,
    /// The axis to the right.
    pub x: Axis,
    /// Its title.
    pub x_title: String,
    /// The axis upwards.
    pub y: Axis,
    /// Its title.
    pub y_title: String,
    /// How values are drawn.
    pub form: Form,
    /// What is compared.
    pub series: Vec<Series>,
    /// Limits: what they are, and where.
    pub limits: Vec<(String, Vec<(f64, f64)>)>,
    /// Positions on the x axis that were computed: edges.
    pub edges: Vec<(String, f64)>,
    /// What stands beside.
    pub notes: Vec<String>,
}

/// How the values of a chart are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Over positions, with lines between them.
    Curves,
    /// As bars from the left; rows are names.
    Bars,
    /// As bars that follow one another in a row: the parts of a sum.
    Stacks,
    /// As points with their intervals; rows are names, and a series has a place for each.
    Intervals,
}

impl Form {
    /// Whether lengths are drawn.
    pub fn is_bars(self) -> bool {
        matches!(self, Form::Bars | Form::Stacks)
    }
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
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Where it stands.
    pub at: (f64, f64),
    /// Its value's interval.
    pub interval: Option<(f64, f64)>,
    /// For a point whose position was measured too, that interval.
    pub x_interval: Option<(f64, f64)>,
    /// What it is worth.
    pub verdict: Option<Verdict>,
    /// What stands beside it.
    pub label: String,
    /// What a page says of it under the pointer; empty for nothing.
    pub told: String,
    /// Whether it is a point of the line only, without a mark.
    pub is_bare: bool,
    /// Where a bar begins, if not at zero.
    pub from: Option<f64>,
}

impl Point {
    /// A bare point: what is known besides is added.
    pub fn at(x: f64, y: f64) -> Point {
        Point {
            at: (x, y),
            interval: None,
            x_interval: None,
            verdict: None,
            label: String::new(),
            told: String::new(),
            is_bare: false,
            from: None,
        }
    }
}

/// A figure's value in words, with its interval and its verdict: `28.8 ns (28.1 to 29.0), valid`.
pub(super) fn told(figure: &Figure) -> String {
    let Some(value) = figure.value else { return String::new() };
    let mut text = with_unit(value, &figure.unit);
    if let Some(interval) = &figure.interval {
        text.push_str(&format!(" ({} to {})", number(interval.low), number(interval.high)));
    }
    let verdict = figure.verdict.map_or_else(|| "not judged".to_owned(), |verdict| verdict.to_string());
    format!("{text}, {verdict}")
}

/// The same with a place before it; parts without words are left out.
fn placed(places: &[&str], figure: &Figure) -> String {
    let places: Vec<&str> = places.iter().copied().filter(|place| !place.is_empty()).collect();
    let head = if places.is_empty() { plain_to(&figure.name, 60) } else { places.join(", ") };
    format!("{head}: {}", told(figure))
}

/// The charts of a mode: one for each grid that has values in one unit; curves with companions together.
pub(super) fn charts(mode: &Mode) -> Vec<Chart> {
    let mode = &upright(mode);
    let grids: Vec<Grid> = mode.grids.iter().filter_map(Grid::measured).flat_map(by_unit).collect();
    let mut groups: Vec<Vec<&Grid>> = Vec::new();
    let units = |grid: &Grid| grid.columns.iter().map(|column| column.unit.cloned()).collect::<Vec<_>>();
    for grid in &grids {
        let alike = |group: &&mut Vec<&Grid>| {
            grid.is_companion
                && group[0].is_companion
                && units(group[0]) == units(grid)
                && group[0].down == grid.down
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(grid),
            None => groups.push(vec![grid]),
        }
    }
    let mut charts: Vec<Chart> = groups.iter().filter_map(|grids| chart(mode, grids)).collect();
    // Of several with one title each says what it holds.
    let titles: Vec<String> = charts.iter().map(|chart| chart.title.clone()).collect();
    for chart in &mut charts {
        if titles.iter().filter(|title| **title == chart.title).count() > 1 {
            let series: Vec<&str> = chart.series.iter().map(|series| series.label.as_str()).collect();
            let holds = if chart.form == Form::Bars && series.iter().all(|label| label.is_empty()) {
                chart.y_title.clone()
            } else if chart.form == Form::Bars {
                series.join(", ")
            } else {
                format!("{} by {}", chart.y_title, chart.x_title)
            };
            let question = chart.title.trim_end_matches('?');
            chart.title = format!("{question}: {}?", plain_to(&holds, 80));
        }
    }
    charts
}

/// A grid of several units as one for each unit: a chart has one axis of values.
fn by_unit(grid: Grid) -> Vec<Grid> {
    if grid.is_companion || grid.unit().is_some() {
        return vec![grid];
    }
    let mut grids: Vec<Grid> = Vec::new();
    for column in &grid.columns {
        match grids.iter_mut().find(|other| other.columns[0].unit == column.unit) {
            Some(other) => other.columns.push(column.clone()),
            None => grids.push(Grid { columns: vec![column.clone()], ..grid.clone() }),
        }
    }
    grids
}

fn chart(mode: &Mode, grids: &[&Grid]) -> Option<Chart> {
    let grid = *grids.first()?;
    let is_bars = form(grid) == Form::Bars;
    if !grid.is_companion && grid.unit().is_none() {
        return None;
    }
    // Rows without a value are told in words.
    let rows: Vec<usize> = (0..grid.rows.len()).filter(|row| grid.has_value(*row)).collect();
    // One number is no picture.
    if rows.is_empty()
        || (is_bars && rows.len() * grid.columns.len() < 2)
        || (is_bars && rows.len() * grid.columns.len() > MAX_BARS)
    {
        return None;
    }
    let series = if grid.is_companion {
        grids.iter().filter_map(|grid| loaded(mode, grid, grids.len() > 1)).collect()
    } else if is_bars {
        bars(grid, &rows)
    } else {
        curves(grid)
    };
    if series.iter().all(|series: &Series| series.points.iter().all(Option::is_none)) {
        return None;
    }
    let xs: Vec<f64> = points(&series).map(|point| point.at.0).collect();
    let (limits, far) = limits(grids, is_bars, &rows, &xs);
    let is_size = !is_bars && grid.rows.iter().all(|row| row.unit == Some(Unit::BYTES));
    let [(x, x_title), (y, y_title)] = axes(mode, grid, &rows, &series, &limits)?;
    let edges = mode.derived.iter().filter(|figure| is_size && figure.unit == Unit::BYTES);
    let edges: Vec<(String, f64)> =
        edges.filter_map(|figure| Some((plain_to(&figure.name, MAX_NAME), figure.value?))).collect();
    let title = title(mode, &if grids.len() > 1 { String::new() } else { grid.name(mode.info) });
    let mut notes = words::notes(mode, grid, points(&series).any(|point| point.interval.is_some()));
    notes.extend(far);
    notes.extend(words::missing(mode, grids));
    let description = String::new();
    let mut chart =
        Chart { title, description, x, x_title, y, y_title, form: form(grid), series, limits, edges, notes };
    chart.description = words::description(&chart, mode, grids);
    Some(chart)
}

/// Names have no order that a line could follow, and two points no shape.
fn form(grid: &Grid) -> Form {
    const LEAST: usize = 3;
    let rows = (0..grid.rows.len()).filter(|row| grid.has_value(*row)).count();
    if grid.is_companion || (grid.is_curve() && rows >= LEAST) { Form::Curves } else { Form::Bars }
}

/// One row of several columns as rows of one: bars stand one below the other, under their names.
fn upright<'a>(mode: &Mode<'a>) -> Mode<'a> {
    let grids = mode.grids.iter().map(|grid| match grid.rows.as_slice() {
        [place] if grid.columns.len() > 1 && grid.unit().is_some() && !grid.is_companion => {
            let named =
                |column: &Column<'a>| Position { label: column.label.clone(), number: None, unit: None };
            let cells = grid.columns.iter().flat_map(|column| column.cells.first().copied()).collect();
            Grid {
                label: format!("{} {} {}", grid.label, place.label, grid.down.head.clone()).trim().to_owned(),
                down: grid.across.clone().unwrap_or_default(),
                across: None,
                rows: grid.columns.iter().map(named).collect(),
                columns: vec![Column { label: String::new(), unit: grid.unit(), cells }],
                is_companion: false,
            }
        }
        _ => named(grid),
    });
    Mode { grids: grids.collect(), derived: mode.derived.clone(), ..*mode }
}

/// A list by rank under the names of its figures: what is compared are things, not places.
fn named<'a>(grid: &Grid<'a>) -> Grid<'a> {
    let mut grid = grid.clone();
    if grid.down.names == ["rank"] && grid.columns.len() == 1 {
        for (row, figure) in grid.rows.iter_mut().zip(&grid.columns[0].cells) {
            let name = figure.map_or_else(|| row.label.clone(), |figure| plain_to(&figure.name, MAX_NAME));
            *row = Position { label: name, number: None, unit: None };
        }
        grid.down.title = "name".to_owned();
    }
    grid
}

fn points(series: &[Series]) -> impl Iterator<Item = &Point> {
    series.iter().flat_map(|series| series.points.iter().flatten())
}

/// The two axes with their titles, the one to the right first.
fn axes(
    mode: &Mode,
    grid: &Grid,
    rows: &[usize],
    series: &[Series],
    limits: &[Line],
) -> Option<[(Axis, String); 2]> {
    let is_bars = form(grid) == Form::Bars;
    let along = |at: (f64, f64)| if is_bars { at.0 } else { at.1 };
    let position_unit = grid.rows.first().and_then(|row| row.unit.as_ref());
    let is_size = position_unit == Some(&Unit::BYTES);
    let convention = grid.figures().find_map(|figure| figure.convention);
    let convention = convention.filter(|_| mode.convention().is_some());
    let titled = |unit: &Unit| match convention.filter(|_| *unit == Unit::GB_PER_S) {
        Some(convention) => format!("{} ({convention})", names::quantity(unit)),
        None => names::quantity(unit),
    };
    let mut values = with_intervals(points(series).map(|point| (along(point.at), point.interval)));
    values.extend(limits.iter().flat_map(|(_, line)| line).map(|at| along(*at)));
    let logarithmic = !is_bars && !grid.is_companion && is_size && ratio(&values) >= LOGARITHMIC;
    let unit = grid.columns.first()?.unit?;
    let value = (ticks::axis(&values, Some(unit), logarithmic, true), titled(unit));
    if is_bars {
        let label = |row: usize| plain_to(&grid.rows[row].label, MAX_NAME);
        let names = rows.iter().enumerate().map(|(at, row)| (at as f64 + 0.5, label(*row)));
        let names = Axis { low: rows.len() as f64, high: 0.0, is_logarithmic: false, ticks: names.collect() };
        return Some([value, (names, grid.down.title.clone())]);
    }
    if grid.is_companion {
        let rate = grid.columns.get(1)?.unit?;
        let rates = with_intervals(points(series).map(|point| (point.at.0, point.x_interval)));
        return Some([(ticks::axis(&rates, Some(rate), false, true), titled(rate)), value]);
    }
    let positions: Vec<f64> = points(series).map(|point| point.at.0).collect();
    let wide = ratio(&positions) >= if is_size { LOGARITHMIC_SIZES } else { LOGARITHMIC_POSITIONS };
    let mut title = grid.down.title.clone();
    if let Some(unit) = position_unit.filter(|unit| !is_size && **unit != Unit::ONE) {
        title.push_str(&format!(", {}", plain_to(unit.symbol(), MAX_NAME)));
    }
    Some([(ticks::axis(&positions, position_unit, wide, false), title), value])
}

/// Values and the ends of their intervals; an interval that is wider than the largest value runs out of the
/// picture, or the curve would lie flat.
fn with_intervals(points: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> Vec<f64> {
    let (values, intervals): (Vec<f64>, Vec<Option<(f64, f64)>>) = points.unzip();
    let most = values.iter().copied().map(f64::abs).fold(0.0, f64::max);
    let ends = intervals.into_iter().flatten().flat_map(|(low, high)| [low, high]);
    let ends: Vec<f64> = ends.filter(|end| *end > 0.0 && *end <= 2.0 * most).collect();
    values.into_iter().chain(ends).collect()
}

/// The question that a chart answers; of a mode with several tables, which.
fn title(mode: &Mode, label: &str) -> String {
    names::question(mode.info, mode.key, label)
}

/// The ratio of the largest value to the smallest, if both are above zero.
fn ratio(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if low > 0.0 { high / low } else { 1.0 }
}

fn interval(figure: &Figure) -> Option<(f64, f64)> {
    figure.interval.as_ref().map(|interval| (interval.low, interval.high))
}

/// The name of a column in a chart.
pub(super) fn label(grid: &Grid, column: &Column) -> String {
    match &grid.across {
        Some(across) => format!("{} {}", across.head, column.label),
        None => column.label.clone(),
    }
}

/// Values over positions.
fn curves(grid: &Grid) -> Vec<Series> {
    let series = grid.columns.iter().map(|column| {
        let name = label(grid, column);
        let points = grid.rows.iter().zip(&column.cells).map(|(row, figure)| {
            let figure = (*figure)?;
            Some(Point {
                interval: interval(figure),
                verdict: figure.verdict,
                told: placed(&[&name, &row.label], figure),
                ..Point::at(row.number?, figure.value.filter(|value| value.is_finite())?)
            })
        });
        Series { points: points.collect(), label: name.clone() }
    });
    series.collect()
}

/// Values as bars: rows from above, the series of a row below one another.
fn bars(grid: &Grid, rows: &[usize]) -> Vec<Series> {
    let count = grid.columns.len() as f64;
    let series = grid.columns.iter().enumerate().map(|(number, column)| {
        let name = label(grid, column);
        let points = rows.iter().enumerate().map(|(row, at)| {
            let figure = column.cells[*at]?;
            let middle = row as f64 + 0.5 + (number as f64 + 0.5 - count / 2.0) * BAR_SHARE / count;
            Some(Point {
                interval: interval(figure),
                verdict: figure.verdict,
                label: with_unit(figure.value?, &figure.unit),
                told: placed(&[&grid.rows[*at].label, &name], figure),
                ..Point::at(figure.value.filter(|value| value.is_finite())?, middle)
            })
        });
        Series { points: points.collect(), label: name.clone() }
    });
    series.collect()
}

/// The share of a row that its bars take.
pub(super) const BAR_SHARE: f64 = 0.72;

/// Values over what was measured beside them, each point with its position on the axis.
fn loaded(mode: &Mode, grid: &Grid, is_named: bool) -> Option<Series> {
    let (values, rates) = (grid.columns.first()?, grid.columns.get(1)?);
    let name = if is_named { grid.name(mode.info) } else { String::new() };
    let points = grid.rows.iter().zip(values.cells.iter().zip(&rates.cells)).map(|(row, (figure, rate))| {
        let (figure, rate) = ((*figure)?, (*rate)?);
        Some(Point {
            told: format!("{} at {}", placed(&[&name, &row.label], figure), told(rate)),
            interval: interval(figure),
            x_interval: interval(rate),
            // A point is worth no more than either of its two figures.
            verdict: figure.verdict.zip(rate.verdict).map(|(one, other)| one.max(other)),
            label: row.label.clone(),
            ..Point::at(rate.value.filter(|v| v.is_finite())?, figure.value.filter(|v| v.is_finite())?)
        })
    });
    Some(Series { points: points.collect(), label: name.clone() })
}
