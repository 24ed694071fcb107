//! The curves, matrices and lists of a mode as charts.

use figure::format::plain_to;
use figure::{Figure, Unit};

use super::axis::{Axis, Scale};
use super::chart::{
    BAR_SHARE, Chart, Form, Line, MAX_NAME, Point, Series, finite, interval, points, value_in_words,
};
use super::limits::limits;
use super::words;
use crate::digits::with_unit;
use crate::grid::{Column, Grid, Mode, Position};
use crate::{groups, names};

/// From this ratio of the largest value to the smallest on, an axis of values is logarithmic along sizes: levels of
/// a memory hierarchy differ by factors.
const LOGARITHMIC: f64 = 12.0;
/// From this ratio on, an axis of sizes is logarithmic.
const LOGARITHMIC_SIZES: f64 = 8.0;
/// From this ratio on, any other axis of positions is.
const LOGARITHMIC_POSITIONS: f64 = 100.0;
/// The most rows of bars; more are no picture.
const MAX_BARS: usize = 60;
/// The points of more curves than these have no labels, which would lie on one another: a pointer finds their words.
const MOST_LABELLED: usize = 2;
/// The fewest points of a curve: two have no shape.
const MIN_POINTS: usize = 3;

/// The charts of a mode: one for each grid that has values in one unit; curves with companions together.
pub(super) fn charts(mode: &Mode) -> Vec<Chart> {
    let mode = &Mode { grids: mode.grids.iter().map(upright).collect(), ..mode.clone() };
    let mut grids: Vec<Grid> = mode.grids.iter().filter_map(Grid::measured).flat_map(by_unit).collect();
    // Values over rates are what their mode is about.
    grids.sort_by_key(|grid| !grid.is_companion);
    let groups = groups::in_order(grids.iter().enumerate().map(|(at, grid)| {
        let units: Vec<Option<&Unit>> = grid.columns.iter().map(|column| column.unit).collect();
        (((!grid.is_companion).then_some(at), units, &grid.down), grid)
    }));
    let mut charts: Vec<Chart> = groups.iter().filter_map(|(_, grids)| chart(mode, grids)).collect();
    // Of several with one title each names its contents, unless it is the only curve.
    let titles: Vec<String> = charts.iter().map(|chart| chart.title.clone()).collect();
    let curves = charts.iter().filter(|chart| chart.form == Form::Curves).count();
    for chart in charts.iter_mut().filter(|chart| chart.form != Form::Curves || curves > 1) {
        if titles.iter().filter(|title| **title == chart.title).count() > 1 {
            let series: Vec<&str> = chart.series.iter().map(|series| series.label.as_str()).collect();
            let contents = match chart.form {
                Form::Bars if series.iter().all(|label| label.is_empty()) => chart.y.title.clone(),
                Form::Bars => series.join(", "),
                _ => format!("{} by {}", chart.y.title, chart.x.title),
            };
            let question = chart.title.trim_end_matches('?');
            chart.title = format!("{question}: {}?", plain_to(&contents, 80));
        }
    }
    charts
}

/// A grid of several units as one for each unit: a chart has one axis of values.
fn by_unit(grid: Grid) -> Vec<Grid> {
    if grid.is_companion {
        return vec![grid];
    }
    let columns = groups::in_order(grid.columns.iter().map(|column| (column.unit, column.clone())));
    columns.into_iter().map(|(_, columns)| Grid { columns, ..grid.clone() }).collect()
}

fn chart(mode: &Mode, grids: &[&Grid]) -> Option<Chart> {
    let grid = *grids.first()?;
    if !grid.is_companion && grid.unit().is_none() {
        return None;
    }
    let form = form(grid);
    let is_bars = form == Form::Bars;
    let rows = rows(grid);
    // One number is no picture.
    if is_bars && !(2..=MAX_BARS).contains(&(rows.len() * grid.columns.len())) {
        return None;
    }
    let series: Vec<Series> = grids.iter().flat_map(|grid| series(mode, grid, grids.len())).collect();
    let (limits, far) = limits(&series, grid, form);
    let is_size = !is_bars && grid.rows.iter().all(|row| row.unit == Some(Unit::BYTES));
    let [x, y] = axes(mode, grid, &rows, &series, &limits)?;
    let edges = mode.derived.iter().filter(|figure| is_size && figure.unit == Unit::BYTES);
    let edges = edges.filter_map(|figure| Some((plain_to(&figure.name, MAX_NAME), figure.value?))).collect();
    let label = if grids.len() > 1 { String::new() } else { grid.name(mode.info) };
    let title = names::question(mode.info, mode.key, &label);
    let has_labels = points(&series).any(|point| !point.label.is_empty());
    let has_intervals = points(&series).any(|point| point.interval.is_some());
    let mut notes = words::notes(mode, grid, has_intervals, has_labels);
    notes.extend(far);
    notes.extend(words::missing(mode, grids));
    let chart = Chart { title, x, y, form, series, limits, edges, notes, ..Chart::default() };
    chart.points().next()?;
    Some(Chart { description: words::description(&chart, mode, grids), ..chart })
}

/// Names have no order that a line could follow.
fn form(grid: &Grid) -> Form {
    let rows = (0..grid.rows.len()).filter(|row| grid.has_value(*row)).count();
    let is_curve = grid.is_companion || (grid.is_curve() && rows >= MIN_POINTS);
    if is_curve { Form::Curves } else { Form::Bars }
}

/// The rows that are drawn. A curve is interrupted at rows without a value; bars have no such rows.
fn rows(grid: &Grid) -> Vec<usize> {
    let is_bars = form(grid) == Form::Bars;
    (0..grid.rows.len()).filter(|row| !is_bars || grid.has_value(*row)).collect()
}

/// A grid whose rows are what is compared. One row of several columns becomes rows of one: bars are below one another, under
/// their names. A list by rank has the names of its figures.
fn upright<'a>(grid: &Grid<'a>) -> Grid<'a> {
    match (grid.rows.as_slice(), grid.columns.as_slice()) {
        ([place], [_, _, ..]) if grid.unit().is_some() && !grid.is_companion => {
            let cells = grid.columns.iter().flat_map(|column| column.cells.first().copied()).collect();
            Grid {
                label: format!("{} {} {}", grid.label, place.label, grid.down.head).trim().to_owned(),
                down: grid.across.clone().unwrap_or_default(),
                rows: grid.columns.iter().map(|column| Position::named(column.label.clone())).collect(),
                columns: vec![Column { label: String::new(), unit: grid.unit(), cells }],
                ..Grid::default()
            }
        }
        (rows, [column]) if grid.down.is("rank") => {
            let name = |(row, figure): (&Position, &Option<&Figure>)| {
                Position::named(
                    figure.map_or_else(|| row.label.clone(), |figure| plain_to(&figure.name, MAX_NAME)),
                )
            };
            let down = names::Axis { title: "name".to_owned(), ..grid.down.clone() };
            Grid { down, rows: rows.iter().zip(&column.cells).map(name).collect(), ..grid.clone() }
        }
        _ => grid.clone(),
    }
}

/// The two axes, the one to the right first.
fn axes(mode: &Mode, grid: &Grid, rows: &[usize], series: &[Series], limits: &[Line]) -> Option<[Axis; 2]> {
    let is_bars = form(grid) == Form::Bars;
    let along = |at: (f64, f64)| if is_bars { at.0 } else { at.1 };
    let position_unit = grid.rows.first().and_then(|row| row.unit.as_ref());
    let is_size = position_unit == Some(&Unit::BYTES);
    let convention = grid.figures().find_map(|figure| figure.convention);
    let convention = convention.filter(|_| mode.convention().is_some());
    let titled = |unit: &Unit| match convention.filter(|_| *unit == Unit::GB_PER_S) {
        Some(convention) => format!("{} ({convention})", names::quantity(unit)),
        // A time over the rate at which it was observed.
        None if grid.is_companion && *unit == Unit::NANOSECONDS => "latency, ns".to_owned(),
        None => names::quantity(unit),
    };
    let mut values = with_intervals(points(series).map(|point| (along(point.at), point.interval)));
    values.extend(limits.iter().flat_map(|(_, line)| line).map(|at| along(*at)));
    let is_wide = !is_bars && !grid.is_companion && is_size && ratio(&values) >= LOGARITHMIC;
    let unit = grid.columns.first()?.unit?;
    let scale = if is_wide { Scale::Logarithmic } else { Scale::Lengths };
    let value = Axis::over(&values, Some(unit), scale, titled(unit));
    let mut title = grid.down.title.clone();
    if is_bars {
        let names = rows.iter().map(|row| &grid.rows[*row].label);
        return Some([value, Axis::of_names(names, MAX_NAME, title).reversed()]);
    }
    if grid.is_companion {
        let rate = grid.columns.get(1)?.unit?;
        let rates = with_intervals(points(series).map(|point| (point.at.0, point.x_interval)));
        return Some([Axis::over(&rates, Some(rate), Scale::Lengths, titled(rate)), value]);
    }
    let positions: Vec<f64> = points(series).map(|point| point.at.0).collect();
    let is_wide = ratio(&positions) >= if is_size { LOGARITHMIC_SIZES } else { LOGARITHMIC_POSITIONS };
    if let Some(unit) = position_unit.filter(|unit| !is_size && **unit != Unit::ONE) {
        title.push_str(&format!(", {}", plain_to(unit.symbol(), MAX_NAME)));
    }
    let scale = if is_wide { Scale::Logarithmic } else { Scale::Positions };
    Some([Axis::over(&positions, position_unit, scale, title), value])
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

/// The ratio of the largest value to the smallest, if both are above zero.
fn ratio(values: &[f64]) -> f64 {
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if low > 0.0 { high / low } else { 1.0 }
}

/// A series for each column: values over positions, or as bars, rows from above and the bars of a row below one another. Of a grid
/// with a companion one series: values over the rates at which they were observed.
fn series(mode: &Mode, grid: &Grid, curves: usize) -> Vec<Series> {
    let is_bars = form(grid) == Form::Bars;
    let count = grid.columns.len() as f64;
    let series = grid.values().enumerate().map(|(number, column)| {
        let label = match grid.is_companion {
            false => words::label(grid, column),
            true if curves > 1 => grid.name(mode.info),
            true => String::new(),
        };
        let point = |(row, at): (usize, &usize)| -> Option<Point> {
            let (figure, place) = (column.cells[*at]?, &grid.rows[*at]);
            let value = finite(figure)?;
            if is_bars {
                let middle = row as f64 + 0.5 + (number as f64 + 0.5 - count / 2.0) * BAR_SHARE / count;
                let point = Point::of(figure, &[&place.label, &label], (value, middle));
                return Some(Point { label: with_unit(value, &figure.unit), ..point });
            }
            let places = [label.as_str(), &place.label];
            if !grid.is_companion {
                return Some(Point::of(figure, &places, (place.number?, value)));
            }
            let rate = grid.columns.get(1)?.cells[*at]?;
            let point = Point::of(figure, &places, (finite(rate)?, value));
            Some(Point {
                x_interval: interval(rate),
                // A point is worth no more than either of its two figures.
                verdict: figure.verdict.zip(rate.verdict).map(|(one, other)| one.max(other)),
                label: if curves > MOST_LABELLED { String::new() } else { place.label.clone() },
                words: format!("{} at {}", point.words, value_in_words(rate)),
                ..point
            })
        };
        let points = rows(grid).iter().enumerate().map(point).collect();
        Series { points, label }
    });
    series.collect()
}
