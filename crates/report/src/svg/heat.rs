//! Matrices as heat maps: core to core, node to node. The darker the larger; each square has its value, in words at least.

use figure::format::{number, plain_to};
use figure::{Figure, Verdict, stats};

use super::axis::Axis;
use super::chart::{Chart, Form, MAX_NAME, Point, Series, finite, value_in_words};
use super::marks::SHADES;
use crate::digits::with_unit;
use crate::grid::{Grid, Mode};
use crate::names;

/// Axes that make a map: down, across.
const MAPS: &[(&str, &str)] = &[("cpu_a", "cpu_b"), ("cpu", "memory")];
/// A map has at least so many squares to a side; fewer are bars.
const LEAST: usize = 3;
/// The most squares to a side; of larger matrices a square stands for several cells.
const MOST: usize = 40;
/// From this ratio of the largest value to the smallest on, shades are by ratio.
const LOGARITHMIC: f64 = 12.0;

/// A grid as a map, if its axes and values make one.
pub(super) fn chart(mode: &Mode, grid: &Grid) -> Option<Chart> {
    let across = grid.across.as_ref()?;
    let is_map = MAPS.iter().any(|(down, right)| grid.down.is(down) && across.is(right));
    let unit = grid.unit().filter(|_| is_map && grid.rows.len().min(grid.columns.len()) >= LEAST)?;
    // The cells to a side of a square.
    let block = grid.rows.len().max(grid.columns.len()).div_ceil(MOST).max(1);
    let mut squares = squares(grid, block);
    let mut values: Vec<f64> = squares.iter().map(|(value, _)| *value).collect();
    values.sort_by(f64::total_cmp);
    if values.len() < LEAST {
        return None;
    }
    let shades = Shades { low: values[0], high: values[values.len() - 1] };
    squares.iter_mut().for_each(|(value, point)| point.shade = shades.of(*value));
    let words = |value: f64| with_unit(value, unit);
    let points = squares.into_iter().map(|(_, point)| Some(point)).collect();
    let note = (block > 1).then(|| format!("a square: {block} by {block}, their median"));
    let (rows, columns) = (grid.rows.iter().map(|row| &row.label), grid.columns.iter().map(|c| &c.label));
    Some(Chart {
        title: names::question(mode.info, mode.key, &grid.name(mode.info)),
        description: format!(
            "Heat map of {} by {}: {} to {}, median {}.",
            grid.down.title,
            across.title,
            words(shades.low),
            words(shades.high),
            stats::median(&values).map_or_else(String::new, words),
        ),
        x: axis(columns, block, across.title.clone()),
        y: axis(rows, block, grid.down.title.clone()).reversed(),
        form: Form::Map,
        series: vec![Series { label: String::new(), points }],
        shades: (0..SHADES.len()).map(|shade| words(shades.start(shade))).collect(),
        notes: note.into_iter().collect(),
        ..Chart::default()
    })
}

/// Squares of so many cells to a side, as points with the medians of their cells.
fn squares(grid: &Grid, block: usize) -> Vec<(f64, Point)> {
    let rows: Vec<usize> = (0..grid.rows.len()).collect();
    let rows = rows.chunks(block).enumerate();
    let blocks = rows.flat_map(|(y, rows)| {
        grid.columns.chunks(block).enumerate().map(move |(x, columns)| (x, y, rows, columns))
    });
    let squares = blocks.filter_map(|(x, y, rows, columns)| {
        let cells = rows.iter().flat_map(|row| columns.iter().filter_map(|column| column.cells[*row]));
        square(&cells.collect::<Vec<_>>(), (x as f64 + 0.5, y as f64 + 0.5))
    });
    squares.collect()
}

fn square(figures: &[&Figure], at: (f64, f64)) -> Option<(f64, Point)> {
    let figures: Vec<&Figure> = figures.iter().copied().filter(|figure| finite(figure).is_some()).collect();
    let value = stats::median(&figures.iter().filter_map(|figure| figure.value).collect::<Vec<_>>())?;
    let first = figures.first()?;
    let words = match figures.as_slice() {
        [one] => format!("{}: {}", plain_to(&one.name, 80), value_in_words(one)),
        several => format!(
            "median of {}, {} and others: {}",
            several.len(),
            plain_to(&first.name, 60),
            with_unit(value, &first.unit)
        ),
    };
    // The worst verdict among them; a mark on each square would hide its value.
    let verdict = figures.iter().filter_map(|figure| figure.verdict).max();
    let is_bare = verdict.is_none_or(|verdict| verdict < Verdict::Suspect);
    Some((value, Point { at, verdict, label: number(value), words, is_bare, ..Point::default() }))
}

/// Shades between the smallest and the largest value.
struct Shades {
    low: f64,
    high: f64,
}

impl Shades {
    fn is_logarithmic(&self) -> bool {
        self.low > 0.0 && self.high / self.low >= LOGARITHMIC
    }

    fn of(&self, value: f64) -> usize {
        let share = if self.is_logarithmic() {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        let steps = SHADES.len();
        if share.is_finite() { ((share * steps as f64) as usize).min(steps - 1) } else { 0 }
    }

    /// The least value of a shade.
    fn start(&self, shade: usize) -> f64 {
        let share = shade as f64 / SHADES.len() as f64;
        if self.is_logarithmic() {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }
}

/// An axis with a name for each square.
fn axis<'a>(names: impl Iterator<Item = &'a String>, block: usize, title: String) -> Axis {
    Axis::of_names(names.step_by(block), MAX_NAME / 3, title)
}
