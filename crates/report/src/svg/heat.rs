//! Matrices as heat maps: core to core, node to node. The darker the larger; each square has its value, in words at least.

use figure::format::{number, plain_to};
use figure::{Figure, Unit, Verdict, stats};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::chart::{MAX_NAME, told};
use super::draw::{self, Failed, SCALE, px};
use super::marks::{self, FAINT, INK};
use super::{Drawing, Picture, legend};
use crate::digits::with_unit;
use crate::grid::{Grid, Mode};
use crate::{mark, names};

/// Axes that make a map: down, across.
const MAPS: &[(&str, &str)] = &[("cpu_a", "cpu_b"), ("cpu", "memory")];
/// A map has at least so many squares to a side; fewer are bars.
const LEAST: usize = 3;
/// The most squares to a side; of larger matrices a square stands for several cells.
const MOST: usize = 40;
/// Up to so many squares to a side there is room for values in them.
const MOST_TOLD: usize = 12;
/// Width of a map, and the largest side of a square.
const WIDTH: u32 = 560;
const SIDE: u32 = 34;
/// Room for the labels below and to the left.
const LABELS: u32 = 56;
/// From this ratio of the largest value to the smallest on, shades are by ratio.
const LOGARITHMIC: f64 = 12.0;

/// Shades from light to dark: one hue, so that only lightness counts (after ColorBrewer's Blues).
const SHADES: [RGBColor; 7] = [
    RGBColor(0xe8, 0xf0, 0xf8),
    RGBColor(0xc8, 0xdc, 0xee),
    RGBColor(0x9e, 0xca, 0xe1),
    RGBColor(0x6b, 0xae, 0xd6),
    RGBColor(0x42, 0x8f, 0xc4),
    RGBColor(0x21, 0x6f, 0xb0),
    RGBColor(0x08, 0x45, 0x8b),
];
/// Letters on light and on dark squares, the same in all themes, as squares are.
const ON_LIGHT: RGBColor = RGBColor(0, 0, 0);
const ON_DARK: RGBColor = RGBColor(0xfe, 0xfe, 0xfe);
/// The first shade that needs light letters.
const DARK: usize = 4;

/// A square.
struct Square {
    /// The median of the cells it stands for.
    value: f64,
    /// The worst verdict among them.
    verdict: Option<Verdict>,
    told: String,
}

/// Whether a grid is drawn as a map.
pub(super) fn is_map(grid: &Grid) -> bool {
    let is_map = |(down, across): &(&str, &str)| {
        grid.down.is(down) && grid.across.as_ref().is_some_and(|axis| axis.is(across))
    };
    MAPS.iter().any(is_map)
        && grid.rows.len() >= LEAST
        && grid.columns.len() >= LEAST
        && grid.unit().is_some()
        && squares(grid).iter().flatten().flatten().count() >= LEAST
}

/// A grid as a map.
pub(super) fn picture(mode: &Mode, grid: &Grid) -> Result<Picture, Failed> {
    let unit = grid.unit().cloned().unwrap_or(Unit::ONE);
    let squares = squares(grid);
    let mut values: Vec<f64> = squares.iter().flatten().flatten().map(|square| square.value).collect();
    values.sort_by(f64::total_cmp);
    let scale = Scale::over(&values);
    let title = names::question(mode.info, mode.key, &grid.name(mode.info));
    let told = |value: Option<&f64>| value.map_or_else(String::new, |value| with_unit(*value, &unit));
    let description = format!(
        "Heat map of {} by {}: {} to {}, median {}.",
        grid.down.title.clone(),
        across_title(grid),
        told(values.first()),
        told(values.last()),
        told(stats::median(&values).as_ref()),
    );
    let plot = plot(grid, &squares, &scale)?;
    let legend = shades(&scale, &unit, &squares, grid)?;
    Ok(Picture { title, description, plot, legend })
}

fn across_title(grid: &Grid) -> String {
    grid.across.as_ref().map_or_else(String::new, |axis| axis.title.clone())
}

/// How many cells a square stands for, to a side.
fn block(grid: &Grid) -> usize {
    grid.rows.len().max(grid.columns.len()).div_ceil(MOST).max(1)
}

fn squares(grid: &Grid) -> Vec<Vec<Option<Square>>> {
    let block = block(grid);
    let rows: Vec<usize> = (0..grid.rows.len()).collect();
    rows.chunks(block)
        .map(|rows| {
            grid.columns
                .chunks(block)
                .map(|columns| {
                    let cells =
                        rows.iter().flat_map(|row| columns.iter().filter_map(|column| column.cells[*row]));
                    square(&cells.collect::<Vec<_>>())
                })
                .collect()
        })
        .collect()
}

fn square(figures: &[&Figure]) -> Option<Square> {
    let known: Vec<&&Figure> = figures.iter().filter(|f| f.value.is_some_and(f64::is_finite)).collect();
    let values: Vec<f64> = known.iter().filter_map(|figure| figure.value).collect();
    let value = stats::median(&values)?;
    let first = known.first()?;
    let words = match known.as_slice() {
        [one] => format!("{}: {}", plain_to(&one.name, 80), told(one)),
        several => format!(
            "median of {}, {} and others: {}",
            several.len(),
            plain_to(&first.name, 60),
            with_unit(value, &first.unit)
        ),
    };
    Some(Square { value, verdict: known.iter().filter_map(|figure| figure.verdict).max(), told: words })
}

/// Values and their shades.
struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// Over ascending values.
    fn over(values: &[f64]) -> Scale {
        let (low, high) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(1.0));
        Scale { low, high, is_logarithmic: low > 0.0 && high / low >= LOGARITHMIC }
    }

    fn shade(&self, value: f64) -> usize {
        let share = if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        let steps = SHADES.len();
        if share.is_finite() { ((share * steps as f64) as usize).min(steps - 1) } else { 0 }
    }

    /// Where a shade begins.
    fn start(&self, shade: usize) -> f64 {
        let share = shade as f64 / SHADES.len() as f64;
        if self.is_logarithmic {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }
}

fn letters(shade: usize) -> RGBColor {
    if shade >= DARK { ON_DARK } else { ON_LIGHT }
}

/// An axis of names, with as many labels as there is room for.
fn axis(labels: &[&str], block: usize, is_down: bool) -> Axis {
    const MOST_LABELS: usize = 20;
    let squares = labels.len().div_ceil(block);
    let step = squares.div_ceil(MOST_LABELS).max(1);
    let ticks = (0..squares).step_by(step);
    let ticks = ticks.map(|at| (at as f64 + 0.5, plain_to(labels[at * block], MAX_NAME / 3))).collect();
    let end = squares as f64;
    let (low, high) = if is_down { (end, 0.0) } else { (0.0, end) };
    Axis { low, high, is_logarithmic: false, ticks }
}

fn plot(grid: &Grid, squares: &[Vec<Option<Square>>], scale: &Scale) -> Result<Drawing, Failed> {
    let rows: Vec<&str> = grid.rows.iter().map(|row| row.label.as_str()).collect();
    let columns: Vec<&str> = grid.columns.iter().map(|column| column.label.as_str()).collect();
    let (down, across) = (squares.len() as u32, squares.first().map_or(1, Vec::len).max(1) as u32);
    let side = ((WIDTH - 2 * LABELS) / across).clamp(8, SIDE);
    // As wide as other plots, so that letters are as large as theirs.
    let width = WIDTH.max(side * across + 2 * LABELS);
    let height = side * down + LABELS + 12;
    let has_room = across as usize <= MOST_TOLD && down as usize <= MOST_TOLD;
    let mut words = String::new();
    let elements = draw::canvas(width, height, |root| {
        let mut plot = ChartBuilder::on(root)
            .margin_top(px(8))
            .margin_right(px(width - LABELS - side * across))
            .x_label_area_size(px(LABELS - 8))
            .y_label_area_size(px(LABELS))
            .build_cartesian_2d(axis(&columns, block(grid), false), axis(&rows, block(grid), true))?;
        plot.configure_mesh()
            .disable_mesh()
            .axis_style(FAINT.stroke_width(SCALE))
            .label_style(draw::font(11, INK))
            .axis_desc_style(draw::font(12, INK))
            .x_desc(across_title(grid))
            .y_desc(grid.down.title.clone())
            .set_all_tick_mark_size(px(3))
            .draw()?;
        for (row, squares) in squares.iter().enumerate() {
            for (column, square) in squares.iter().enumerate() {
                let Some(square) = square else { continue };
                let (x, y) = (column as f64, row as f64);
                let shade = scale.shade(square.value);
                let area = plot.plotting_area();
                area.draw(&Rectangle::new([(x, y), (x + 1.0, y + 1.0)], SHADES[shade].filled()))?;
                let middle = (x + 0.5, y + 0.5);
                if let Some(verdict) = square.verdict.filter(|verdict| *verdict >= Verdict::Suspect) {
                    area.draw(&marks::mark((x + 0.5, y + 0.8), Some(verdict), FAINT))?;
                }
                if has_room {
                    let style = draw::font(10, letters(shade)).pos(Pos::new(HPos::Center, VPos::Center));
                    area.draw(&Text::new(number(square.value), middle, style))?;
                }
                let (left, top) = plot.backend_coord(&(x, y));
                words.push_str(&draw::spot((left, top), (px(side), px(side)), &super::escaped(&square.told)));
            }
        }
        Ok(())
    })?;
    Ok(Drawing { elements: elements + &words, width, height })
}

/// What the shades mean.
fn shades(
    scale: &Scale,
    unit: &Unit,
    squares: &[Vec<Option<Square>>],
    grid: &Grid,
) -> Result<Drawing, Failed> {
    const LINE: u32 = 18;
    let verdicts = mark::VERDICTS.into_iter().filter(|verdict| {
        *verdict >= Verdict::Suspect
            && squares.iter().flatten().flatten().any(|s| s.verdict == Some(*verdict))
    });
    let verdicts: Vec<Verdict> = verdicts.collect();
    let block = block(grid);
    let lines = SHADES.len() + verdicts.len() + usize::from(block > 1);
    let height = LINE * (lines as u32 + 1);
    let elements = draw::canvas(legend::WIDTH, height, |area| {
        let left = Pos::new(HPos::Left, VPos::Center);
        let mut y = px(LINE);
        for (shade, colour) in SHADES.iter().enumerate() {
            area.draw(&Rectangle::new([(px(6), y - px(7)), (px(28), y + px(7))], colour.filled()))?;
            let words = format!("from {}", with_unit(scale.start(shade), unit));
            draw::text(area, &words, (px(36), y), 12, false, INK, left)?;
            y += px(LINE);
        }
        for verdict in verdicts {
            area.draw(&marks::mark((px(16), y), Some(verdict), FAINT))?;
            draw::text(
                area,
                &format!("{verdict}: {}", mark::meaning(verdict)),
                (px(36), y),
                12,
                false,
                INK,
                left,
            )?;
            y += px(LINE);
        }
        if block > 1 {
            let words = format!("a square: {block} by {block}, their median");
            draw::text(area, &words, (px(6), y), 12, false, FAINT, left)?;
        }
        Ok(())
    })?;
    Ok(Drawing { elements, width: legend::WIDTH, height })
}
