//! A chart drawn by plotters: the plot, and the areas in it that a pointer finds.

use std::error::Error;
use std::io;

use figure::Verdict;
use maud::{Markup, html};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::chart::{BAR_SHARE, Chart, Form, Point, Series};
use super::marks::{self, FAINT, GRID, INK, LIMIT, SCALE, SHADES};
use super::{Drawing, is_xml};

/// Room above a plot, below it, and to its right.
const ABOVE: u32 = 12;
const BELOW: u32 = 6;
const RIGHT: u32 = 28;
/// Room for the labels of the x axis with its title, and for the title of the y axis.
const X_LABELS: u32 = 48;
const Y_TITLE: u32 = 38;
/// Height of a bar, and of what is above and below bars.
const BAR: u32 = 20;
const AROUND_BARS: u32 = 102;
/// The largest side of a square of a map, and up to how many squares to a side there is room for values in them.
const SIDE: u32 = 50;
const MOST_LABELLED: f64 = 12.0;
/// Width of a character at an axis, on average, and height of a line; the library cannot know a reader's font.
const CHARACTER: u32 = 7;
const LINE: u32 = 18;
/// The size of a mark.
const MARK: u32 = 8;

/// plotters fails only where a surface takes nothing; text always does.
pub(super) type Drawn = Result<(), Box<dyn Error + Send + Sync>>;
pub(super) type Area<'a, C> = DrawingArea<SVGBackend<'a>, C>;
type Plot<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// The plot of a chart, without title and legend, in CSS pixels; only curves take the whole height.
pub(super) fn plot(chart: &Chart, (width, height): (u32, u32)) -> io::Result<Drawing> {
    let rows = || (chart.y.low - chart.y.high) as u32;
    let height = match chart.form {
        Form::Curves => height,
        Form::Map => ABOVE + side(chart, width) * rows() + X_LABELS + BELOW,
        Form::Bars => bars_height(chart.series.iter().map(|series| series.points.len()).sum()),
        Form::Stacks | Form::Intervals => bars_height(rows() as usize),
    };
    let mut spots = html! {};
    let mut drawing = canvas((width, height), |root| {
        spots = draw(root, chart, width)?;
        Ok(())
    })?;
    drawing.spots = spots.into_string();
    Ok(drawing)
}

/// The height of so many bars with their axis.
fn bars_height(bars: usize) -> u32 {
    let bars = u32::try_from(bars).unwrap_or(u32::MAX).saturating_mul(BAR);
    ((bars as f64 / BAR_SHARE) as u32).saturating_add(AROUND_BARS)
}

/// Width of the longest label of an axis.
fn longest(axis: &Axis) -> u32 {
    CHARACTER * axis.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as u32
}

/// An axis of squares, with as many labels of this size as there is room for.
fn thinned(axis: &Axis, label: u32, side: u32) -> Axis {
    let step = label.div_ceil(side.max(1)).max(1) as usize;
    Axis { ticks: axis.ticks.iter().step_by(step).cloned().collect(), ..axis.clone() }
}

/// The side of a square in a map of this width.
fn side(chart: &Chart, width: u32) -> u32 {
    let room = width - BELOW - Y_TITLE - longest(&chart.y) - RIGHT;
    (room / (chart.x.high as u32).max(1)).min(SIDE)
}

/// Elements on a surface of this size, without a document around them.
pub(super) fn canvas(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area<Shift>) -> Drawn,
) -> io::Result<Drawing> {
    let failed = |error| io::Error::other(format!("a chart could not be drawn: {error}"));
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (px(width) as u32, px(height) as u32)).into_drawing_area();
        draw(&root).map_err(failed)?;
        root.present().map_err(|error| failed(error.into()))?;
    }
    // The document around it is written elsewhere: it has a title and a description.
    let inner = svg.split_once(">\n").and_then(|(_, rest)| rest.rsplit_once("</svg>"));
    let (inner, _) = inner.ok_or_else(|| failed("no SVG element".into()))?;
    let elements = inner.chars().filter(|c| is_xml(*c)).collect();
    Ok(Drawing { elements, spots: String::new(), width, height })
}

/// Draws the plot; the areas that a pointer finds in it.
fn draw(area: &Area<Shift>, chart: &Chart, width: u32) -> Result<Markup, Box<dyn Error + Send + Sync>> {
    let (y_labels, side) = (Y_TITLE + longest(&chart.y), side(chart, width));
    let (x, y, right) = match chart.form {
        Form::Map => (
            thinned(&chart.x, longest(&chart.x) + CHARACTER, side),
            thinned(&chart.y, LINE, side),
            width - BELOW - y_labels - side * chart.x.high as u32,
        ),
        _ => (chart.x.clone(), chart.y.clone(), RIGHT),
    };
    let mut plot = ChartBuilder::on(area)
        .margin_top(px(ABOVE))
        .margin_right(px(right))
        .margin_bottom(px(BELOW))
        .margin_left(px(BELOW))
        .x_label_area_size(px(X_LABELS))
        .y_label_area_size(px(y_labels))
        .build_cartesian_2d(x, y)?;
    let mut mesh = plot.configure_mesh();
    mesh.bold_line_style(GRID.stroke_width(SCALE))
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT.stroke_width(SCALE))
        .label_style(font(12, INK))
        .axis_desc_style(font(12, INK))
        .x_desc(&chart.x.title)
        .y_desc(&chart.y.title)
        .set_all_tick_mark_size(px(4));
    match chart.form {
        Form::Curves => {}
        Form::Map => drop(mesh.disable_mesh()),
        Form::Bars | Form::Stacks | Form::Intervals => drop(mesh.disable_y_mesh()),
    }
    mesh.draw()?;
    draw_edges(area, &plot, chart)?;
    for (number, series) in chart.series.iter().enumerate() {
        match chart.form {
            Form::Curves => {
                draw_line(&plot, number, series)?;
                draw_intervals(&plot, number, series)?;
            }
            Form::Bars | Form::Stacks => draw_bars(&plot, chart, number, series)?,
            Form::Intervals => draw_intervals(&plot, number, series)?,
            Form::Map => draw_squares(&plot, chart, series)?,
        }
    }
    for (_, line) in &chart.limits {
        // Over bars a piece for each, from one point to the next.
        let length = if chart.form == Form::Curves { line.len().max(1) } else { 2 };
        for piece in line.chunks(length) {
            dashed(&plot, piece, (px(6), px(4)), LIMIT.stroke_width(SCALE))?;
        }
    }
    if matches!(chart.form, Form::Curves | Form::Intervals) {
        draw_marks(&plot, chart)?;
        draw_labels(&plot, chart)?;
    }
    let spots = chart.points().filter(|point| !point.words.is_empty());
    let spots = spots.map(|point| (spot(&plot, chart, point), &point.words));
    Ok(html! {
        @for ((x, y, width, height), words) in spots {
            rect.spot x=(x) y=(y) width=(width) height=(height) { title { (words) } }
        }
    })
}

/// The area over a mark, a bar or a square where a pointer finds its words: left, top, width, height.
fn spot(plot: &Plot, chart: &Chart, point: &Point) -> (i32, i32, i32, i32) {
    let (x, y) = plot.backend_coord(&point.at);
    match chart.form {
        Form::Curves | Form::Intervals => (x - px(8), y - px(8), px(16), px(16)),
        Form::Bars | Form::Stacks => {
            let (from, _) = plot.backend_coord(&(foot(chart, point), point.at.1));
            (from.min(x), y - px(BAR) / 2, (from - x).abs(), px(BAR))
        }
        Form::Map => {
            let (left, top) = plot.backend_coord(&(point.at.0 - 0.5, point.at.1 - 0.5));
            (left, top, 2 * (x - left), 2 * (y - top))
        }
    }
}

/// Lines across the plot at the edges, with their names.
fn draw_edges(area: &Area<Shift>, plot: &Plot, chart: &Chart) -> Drawn {
    for (name, at) in chart.edges.iter().filter(|(_, at)| (0.0..=1.0).contains(&chart.x.share(*at))) {
        dashed(plot, &[(*at, chart.y.low), (*at, chart.y.high)], (px(2), px(3)), LIMIT.stroke_width(SCALE))?;
        let (x, y) = plot.backend_coord(&(*at, chart.y.high));
        let (left, top) = area.get_base_pixel();
        let style = anchored(11, FAINT, HPos::Left, VPos::Top);
        area.draw(&Text::new(name.as_str(), (x - left + px(4), y - top + px(3)), style))?;
    }
    Ok(())
}

/// Lines between the points that are worth their name.
fn draw_line(plot: &Plot, number: usize, series: &Series) -> Drawn {
    let style = marks::colour(number).stroke_width(2 * SCALE);
    for run in series.points.split(Option::is_none) {
        let points = run.iter().flatten().filter(|point| point.verdict != Some(Verdict::Invalid));
        let line: Vec<(f64, f64)> = points.map(|point| point.at).collect();
        match marks::dashes(number) {
            Some(dashes) => dashed(plot, &line, dashes, style)?,
            None => plot.plotting_area().draw(&PathElement::new(line, style))?,
        }
    }
    Ok(())
}

/// The intervals of points.
fn draw_intervals(plot: &Plot, number: usize, series: &Series) -> Drawn {
    let thin = marks::colour(number).stroke_width(SCALE);
    for point in series.points.iter().flatten() {
        let (x, y) = point.at;
        if let Some((low, high)) = point.interval {
            whisker(plot, [(x, low), (x, high)], (px(3), 0), thin)?;
        }
        if let Some((low, high)) = point.x_interval {
            whisker(plot, [(low, y), (high, y)], (0, px(3)), thin)?;
        }
    }
    Ok(())
}

/// The marks of points: the better the verdict the lower, so that none hides what is wrong.
fn draw_marks(plot: &Plot, chart: &Chart) -> Drawn {
    let numbered = chart.series.iter().enumerate();
    let points =
        numbered.flat_map(|(number, series)| series.points.iter().flatten().map(move |p| (number, p)));
    let mut points: Vec<(usize, &Point)> = points.filter(|(_, point)| !point.is_bare).collect();
    points.sort_by_key(|(_, point)| point.verdict);
    for (number, point) in points {
        plot.plotting_area().draw(&marks::mark(point.at, point.verdict, marks::colour(number)))?;
    }
    Ok(())
}

/// The labels of points; one that would lie on another is left out.
fn draw_labels(plot: &Plot, chart: &Chart) -> Drawn {
    let mut placed: Vec<(i32, i32, i32)> = Vec::new();
    let left = plot.plotting_area().get_pixel_range().0.start;
    for point in chart.points() {
        let (x, y) = plot.backend_coord(&point.at);
        let width = px(CHARACTER * point.label.chars().count() as u32 + 4);
        // To the left, away from a curve that rises; at the axis to the right.
        let (start, shift, side) =
            if x - width < left { (x, px(4), HPos::Left) } else { (x - width, -px(4), HPos::Right) };
        let touches = |(other, above, wide): &(i32, i32, i32)| {
            start < other + wide && *other < start + width && (y - above).abs() < px(12)
        };
        if !point.label.is_empty() && !placed.iter().any(touches) {
            label(plot, point, point.at, (shift, -px(4)), anchored(10, FAINT, side, VPos::Bottom))?;
            placed.push((start, y, width));
        }
    }
    Ok(())
}

/// The beginning of a point's bar.
fn foot(chart: &Chart, point: &Point) -> f64 {
    point.from.unwrap_or(chart.x.low.max(0.0))
}

/// Bars with their values; those that are not worth their name hollow.
fn draw_bars(plot: &Plot, chart: &Chart, number: usize, series: &Series) -> Drawn {
    let colour = marks::colour(number);
    let in_a_row = if chart.form == Form::Stacks { 1 } else { chart.series.len() };
    let half = BAR_SHARE / in_a_row as f64 / 2.0 * 0.86;
    for point in series.points.iter().flatten() {
        let (value, row) = point.at;
        let style = if point.verdict == Some(Verdict::Invalid) {
            colour.stroke_width(2 * SCALE)
        } else {
            marks::area(number).filled()
        };
        let corners = [(foot(chart, point), row - half), (value, row + half)];
        plot.plotting_area().draw(&Rectangle::new(corners, style))?;
        if let Some((low, high)) = point.interval {
            whisker(plot, [(low, row), (high, row)], (0, px(3)), colour.stroke_width(SCALE))?;
        }
        if !point.is_bare {
            plot.plotting_area().draw(&marks::mark(point.at, point.verdict, colour))?;
        }
        // Behind the interval; at the foot of the first bar where there is no room.
        let end = point.interval.map_or(value, |(_, high)| high.max(value));
        let (from, shift) = match chart.x.share(end) > 0.85 {
            true => (chart.x.low.max(0.0), px(6)),
            false => (end, px(10)),
        };
        label(plot, point, (from, row), (shift, 0), anchored(11, INK, HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// Squares in their shades, with their values where there is room.
fn draw_squares(plot: &Plot, chart: &Chart, series: &Series) -> Drawn {
    let has_room = chart.x.high.max(chart.y.low) <= MOST_LABELLED;
    for point in series.points.iter().flatten() {
        let (x, y) = point.at;
        let corners = [(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)];
        let area = plot.plotting_area();
        area.draw(&Rectangle::new(corners, SHADES[point.shade].filled()))?;
        if !point.is_bare {
            area.draw(&marks::mark((x, y + 0.3), point.verdict, FAINT))?;
        }
        if has_room {
            let style = anchored(10, marks::on_shade(point.shade), HPos::Center, VPos::Center);
            label(plot, point, point.at, (0, 0), style)?;
        }
    }
    Ok(())
}

/// An interval: a line with caps, `cap` to either side. One that its mark hides is left out.
fn whisker(plot: &Plot, ends: [(f64, f64); 2], cap: (i32, i32), style: ShapeStyle) -> Drawn {
    let [from, to] = ends.map(|end| plot.backend_coord(&end));
    if (from.0 - to.0).abs() + (from.1 - to.1).abs() <= px(MARK) {
        return Ok(());
    }
    plot.plotting_area().draw(&PathElement::new(ends.to_vec(), style))?;
    for end in ends {
        let cap = PathElement::new(vec![(-cap.0, -cap.1), cap], style);
        plot.plotting_area().draw(&(EmptyElement::at(end) + cap))?;
    }
    Ok(())
}

fn dashed(plot: &Plot, line: &[(f64, f64)], (dash, gap): (i32, i32), style: ShapeStyle) -> Drawn {
    if line.len() > 1 {
        let line = line.iter().copied();
        plot.plotting_area().draw(&DashedPathElement::new(line, dash, gap, style))?;
    }
    Ok(())
}

/// A point's label, `shift` units away from a position.
fn label(plot: &Plot, point: &Point, at: (f64, f64), shift: (i32, i32), style: TextStyle) -> Drawn {
    let text = Text::new(point.label.clone(), shift, style);
    Ok(plot.plotting_area().draw(&(EmptyElement::at(at) + text))?)
}

/// A font of `size` CSS pixels.
fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    /// plotters divides sizes by this, to make up for what fonts leave above their letters.
    const LEADING: f64 = 1.24;
    let size = f64::from(size * SCALE) * LEADING;
    TextStyle { color: colour.to_backend_color(), ..TextStyle::from(("sans-serif", size).into_font()) }
}

/// A font whose text has its anchor here.
pub(super) fn anchored(size: u32, colour: RGBColor, across: HPos, down: VPos) -> TextStyle<'static> {
    font(size, colour).pos(Pos::new(across, down))
}

/// CSS pixels in units of the drawing.
pub(super) fn px(pixels: u32) -> i32 {
    i32::try_from(pixels.saturating_mul(SCALE)).unwrap_or(i32::MAX)
}
