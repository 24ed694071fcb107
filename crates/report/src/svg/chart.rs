//! What a chart shows: a grid's points, its axes, its limits, and the same in words. Nothing is drawn here.

use figure::format::{plain, plain_to};
use figure::{Figure, Status, Unit, Verdict};

use super::axis::Axis;
use super::ticks;
use crate::digits::with_unit;
use crate::grid::{Column, Grid, Mode};
use crate::{grid, mark, names, outline};

/// From this ratio of the largest value to the smallest on, an axis of values is logarithmic along sizes: levels of
/// a memory hierarchy differ by factors.
const LOGARITHMIC: f64 = 12.0;
/// From this ratio on, an axis of numbers is logarithmic.
const LOGARITHMIC_POSITIONS: f64 = 100.0;
/// A limit further above the values than this factor would press them flat; it is named, not drawn.
const FARTHEST_LIMIT: f64 = 2.5;
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
    /// Whether values are bars from the left, and rows are names.
    pub is_bars: bool,
    /// What is compared.
    pub series: Vec<Series>,
    /// Limits: what they are, and where.
    pub limits: Vec<(String, Vec<(f64, f64)>)>,
    /// Positions on the x axis that were computed: edges.
    pub edges: Vec<(String, f64)>,
    /// What stands beside.
    pub notes: Vec<String>,
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
}

/// The chart of a grid, if it has values in one unit.
pub(super) fn chart(mode: &Mode, grid: &Grid) -> Option<Chart> {
    let unit = grid.columns.first()?.unit?;
    if grid.figures().all(|figure| figure.value.is_none()) || (!grid.is_companion && grid.unit().is_none()) {
        return None;
    }
    let is_bars = !grid.is_curve();
    if is_bars && grid.rows.len() * grid.columns.len() > MAX_BARS {
        return None;
    }
    let series = if grid.is_companion {
        loaded(grid)?
    } else if is_bars {
        bars(grid)
    } else {
        curves(grid)
    };
    let points = || series.iter().flat_map(|series| series.points.iter().flatten());
    let position_unit = grid.rows.first().and_then(|row| row.unit.as_ref());
    let xs: Vec<f64> = points().map(|point| point.at.0).collect();
    let (limits, far) = limits(grid, is_bars, &xs);
    let mut values: Vec<f64> = points().map(|point| if is_bars { point.at.0 } else { point.at.1 }).collect();
    let intervals = points().filter_map(|point| point.interval).flat_map(|(low, high)| [low, high]);
    let sound = values.iter().copied().map(f64::abs).fold(0.0, f64::max);
    // An interval that is wider than its value runs out of the picture.
    let intervals: Vec<f64> = intervals.filter(|end| *end > 0.0 && *end <= 2.0 * sound).collect();
    values.extend(intervals);
    values.extend(limits.iter().flat_map(|(_, line)| line).map(|at| if is_bars { at.0 } else { at.1 }));
    let is_size = position_unit == Some(&Unit::BYTES);
    let logarithmic = !is_bars && !grid.is_companion && is_size && ratio(&values) >= LOGARITHMIC;
    let convention =
        grid.figures().find_map(|figure| figure.convention).filter(|_| mode.convention().is_some());
    let value_title = match convention.filter(|_| *unit == Unit::GB_PER_S) {
        Some(convention) => format!("{} ({convention})", names::quantity(unit)),
        None => names::quantity(unit),
    };
    let value_axis = ticks::axis(&values, Some(unit), logarithmic, true);
    let (x, x_title, y, y_title) = if is_bars {
        let rows = grid.rows.len() as f64;
        let names =
            grid.rows.iter().enumerate().map(|(at, row)| (at as f64 + 0.5, plain_to(&row.label, MAX_NAME)));
        let names = Axis { low: rows, high: 0.0, is_logarithmic: false, ticks: names.collect() };
        (value_axis, value_title, names, axes_title(grid))
    } else if grid.is_companion {
        let rate = grid.columns.get(1)?.unit?;
        let title = match convention {
            Some(convention) => format!("{} ({convention})", names::quantity(rate)),
            None => names::quantity(rate),
        };
        let ends: Vec<f64> =
            points().filter_map(|point| point.x_interval).flat_map(|(low, high)| [low, high]).collect();
        let most = xs.iter().copied().fold(0.0, f64::max);
        let all: Vec<f64> = xs
            .iter()
            .copied()
            .chain(ends.into_iter().filter(|end| (0.0..=2.0 * most).contains(end)))
            .collect();
        (ticks::axis(&all, Some(rate), false, true), title, value_axis, value_title)
    } else {
        let wide = ratio(&xs) >= if is_size { 8.0 } else { LOGARITHMIC_POSITIONS };
        let mut title = names::title(&grid.down);
        if let Some(unit) = position_unit.filter(|unit| **unit != Unit::BYTES && **unit != Unit::ONE) {
            title.push_str(&format!(", {}", plain_to(unit.symbol(), MAX_NAME)));
        }
        (ticks::axis(&xs, position_unit, wide, false), title, value_axis, value_title)
    };
    let edges =
        mode.derived.iter().filter(|_| is_size && !is_bars).filter(|figure| figure.unit == Unit::BYTES);
    let edges: Vec<(String, f64)> =
        edges.filter_map(|figure| Some((plain_to(&figure.name, MAX_NAME), figure.value?))).collect();
    let title = title(mode, grid);
    let mut notes: Vec<String> = mode
        .derived
        .iter()
        .filter_map(|figure| {
            let verdict = figure.verdict.filter(|verdict| *verdict != Verdict::Valid);
            let verdict = verdict.map_or_else(String::new, |verdict| format!(" ({verdict})"));
            Some(format!(
                "{}: {}{verdict}",
                plain_to(&figure.name, 60),
                with_unit(figure.value?, &figure.unit)
            ))
        })
        .collect();
    notes.extend(far);
    notes.extend(missing(grid));
    let mut chart = Chart {
        title,
        description: String::new(),
        x,
        x_title,
        y,
        y_title,
        is_bars,
        series,
        limits,
        edges,
        notes,
    };
    chart.description = description(&chart, mode, grid);
    Some(chart)
}

/// `Idle latency by array size`; of a mode with several tables, which.
fn title(mode: &Mode, grid: &Grid) -> String {
    let known = names::mode(mode.key).map_or_else(|| plain_to(mode.key, 60), str::to_owned);
    let mut first = known.chars();
    let mut title: String = first.next().into_iter().flat_map(char::to_uppercase).chain(first).collect();
    if !grid.label.is_empty() {
        title.push_str(&format!(", {}", names::grid(mode.key, &grid.label)));
    }
    title
}

fn axes_title(grid: &Grid) -> String {
    names::title(&grid.down)
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

fn label(grid: &Grid, column: &Column) -> String {
    match &grid.across {
        Some(across) => format!("{} {}", names::head(across), column.label),
        None => column.label.clone(),
    }
}

/// Values over positions.
fn curves(grid: &Grid) -> Vec<Series> {
    let series = grid.columns.iter().map(|column| {
        let points = grid.rows.iter().zip(&column.cells).map(|(row, figure)| {
            let figure = (*figure)?;
            Some(Point {
                at: (row.number?, figure.value.filter(|value| value.is_finite())?),
                interval: interval(figure),
                x_interval: None,
                verdict: figure.verdict,
                label: String::new(),
            })
        });
        Series { label: label(grid, column), points: points.collect() }
    });
    series.collect()
}

/// Values as bars: rows from above, the series of a row below one another.
fn bars(grid: &Grid) -> Vec<Series> {
    let count = grid.columns.len() as f64;
    let series = grid.columns.iter().enumerate().map(|(number, column)| {
        let points = column.cells.iter().enumerate().map(|(row, figure)| {
            let figure = (*figure)?;
            let middle = row as f64 + 0.5 + (number as f64 + 0.5 - count / 2.0) * BAR_SHARE / count;
            Some(Point {
                at: (figure.value.filter(|value| value.is_finite())?, middle),
                interval: interval(figure),
                x_interval: None,
                verdict: figure.verdict,
                label: with_unit(figure.value?, &figure.unit),
            })
        });
        Series { label: label(grid, column), points: points.collect() }
    });
    series.collect()
}

/// The share of a row that its bars take.
pub(super) const BAR_SHARE: f64 = 0.72;

/// Values over what was measured beside them, each point with its position on the axis.
fn loaded(grid: &Grid) -> Option<Vec<Series>> {
    let (values, rates) = (grid.columns.first()?, grid.columns.get(1)?);
    let points = grid.rows.iter().zip(values.cells.iter().zip(&rates.cells)).map(|(row, (figure, rate))| {
        let (figure, rate) = ((*figure)?, (*rate)?);
        Some(Point {
            at: (rate.value.filter(|v| v.is_finite())?, figure.value.filter(|v| v.is_finite())?),
            interval: interval(figure),
            x_interval: interval(rate),
            // A point is worth no more than either of its two figures.
            verdict: figure.verdict.zip(rate.verdict).map(|(one, other)| one.max(other)),
            label: row.label.clone(),
        })
    });
    let points = points.collect();
    Some(vec![Series { label: String::new(), points }])
}

/// A limit's text, and its line.
type Line = (String, Vec<(f64, f64)>);

/// Limits as lines, each basis once; and in words those that are too far away to be drawn.
fn limits(grid: &Grid, is_bars: bool, xs: &[f64]) -> (Vec<Line>, Vec<String>) {
    let mut lines: Vec<(String, &Unit, Vec<(f64, f64)>)> = Vec::new();
    let column = || grid.columns.iter().take(if grid.is_companion { 1 } else { usize::MAX });
    let points = column().flat_map(|column| grid.rows.iter().zip(&column.cells));
    let mut largest: f64 = 0.0;
    for (row, figure) in points {
        let Some(figure) = figure.filter(|figure| figure.value.is_some()) else { continue };
        largest = largest.max(figure.value.unwrap_or_default());
        let Some(limit) = figure.limit.as_ref().filter(|limit| limit.value.is_finite()) else { continue };
        let basis = plain_to(&limit.basis, 100);
        let at = (row.number.unwrap_or_default(), limit.value);
        match lines.iter_mut().find(|(known, ..)| *known == basis) {
            Some((_, _, line)) if !line.contains(&at) => line.push(at),
            Some(_) => {}
            None => lines.push((basis, &figure.unit, vec![at])),
        }
    }
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (basis, unit, mut line) in lines {
        let (low, high) = line.iter().fold((f64::MAX, f64::MIN), |(l, h), at| (l.min(at.1), h.max(at.1)));
        let value = if low == high {
            with_unit(high, unit)
        } else {
            format!("{} to {}", with_unit(low, unit), with_unit(high, unit))
        };
        let text = format!("limit {value}: {basis}");
        if high > FARTHEST_LIMIT * largest || low <= 0.0 {
            far.push(format!("{text} (not drawn)"));
            continue;
        }
        if is_bars {
            // Only where it is the same for all bars.
            if low == high {
                near.push((text, vec![(high, 0.0), (high, grid.rows.len() as f64)]));
            } else {
                far.push(text);
            }
            continue;
        }
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        if low == high || grid.is_companion {
            let ends = xs.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            line = vec![(ends.0, high), (ends.1, high)];
        }
        near.push((text, line));
    }
    (near, far)
}

/// What has no value, in a line for each status.
fn missing(grid: &Grid) -> Vec<String> {
    let count =
        |status| grid.figures().filter(|figure| figure.value.is_none() && figure.status == status).count();
    [Status::NotAvailable, Status::Failed, Status::Interrupted]
        .into_iter()
        .map(|status| (status, count(status)))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| {
            format!("{}: {}", outline::state(status), crate::summary::counted(count, "figure"))
        })
        .collect()
}

/// The chart in words, for those who do not see it.
fn description(chart: &Chart, mode: &Mode, grid: &Grid) -> String {
    let sort = if chart.is_bars { "Bar chart" } else { "Line chart" };
    let scale = |axis: &Axis| if axis.is_logarithmic { ", logarithmic" } else { "" };
    let mut text = format!(
        "{sort}. Across: {}{}. Upwards: {}{}.",
        chart.x_title,
        scale(&chart.x),
        chart.y_title,
        scale(&chart.y)
    );
    for column in grid.columns.iter().take(if grid.is_companion { 1 } else { usize::MAX }) {
        let rows = grid.rows.iter().zip(&column.cells);
        let points: Vec<_> =
            rows.filter_map(|(row, figure)| Some((row, (*figure)?, (*figure)?.value?))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
        let name = label(grid, column);
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let told = |(row, figure, value): &(&grid::Position, &Figure, f64)| {
            format!("{} at {}", with_unit(*value, &figure.unit), row.label)
        };
        let values = if chart.is_bars {
            points.iter().map(told).collect::<Vec<_>>().join(", ")
        } else {
            format!("{} points, from {} to {}", points.len(), told(first), told(last))
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
        text.push_str(&format!(" {what}{}: {}.", outline::state(status), plain(&reason)));
    }
    text
}
