//! A chart drawn by plotters: the plot to the left, to the right what its marks mean.

use figure::Verdict;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::chart::{BAR_SHARE, Chart, Form, MAX_NAME, Point, Series};
use super::marks::{self, FAINT, GRID, INK, LIMIT};
use super::{Drawing, WIDTH, escaped, is_xml, legend};

/// Units of the drawing for each CSS pixel: plotters places everything on whole units, and curves need finer ones.
pub(super) const SCALE: u32 = 4;
/// Height of a chart of curves.
const HEIGHT: u32 = 420;
/// Width of a plot without its legend, and its height if it is one of curves: what a telephone shows with letters
/// that can be read.
const APART: (u32, u32) = (560, 340);
/// Room above a plot: for a title, and without one.
const TITLED: u32 = 40;
const UNTITLED: u32 = 12;
/// Height of a bar, and of what stands above and below bars.
const BAR: u32 = 20;
const AROUND_BARS: u32 = 130;
/// Width of a character at an axis, on average; the library cannot know a reader's font.
const CHARACTER: u32 = 7;

/// The size of a mark.
const MARK: u32 = 8;

/// Why a chart could not be drawn: the library says so of a surface that takes nothing; text always does.
#[derive(Debug)]
pub(super) struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a chart could not be drawn: {}", self.0)
    }
}

impl std::error::Error for Failed {}

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Failed {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Failed(error.to_string())
    }
}

impl From<std::fmt::Error> for Failed {
    fn from(error: std::fmt::Error) -> Self {
        Failed(error.to_string())
    }
}

pub(super) type Area<'a, C> = DrawingArea<SVGBackend<'a>, C>;
type Plot<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// The height of a chart, in CSS pixels.
pub(super) fn height(chart: &Chart) -> u32 {
    match chart.form {
        Form::Curves => HEIGHT,
        _ => rows_height(chart).max(TITLED + legend::height(chart)),
    }
}

/// The height of rows with their axis.
fn rows_height(chart: &Chart) -> u32 {
    let lengths = chart.series.iter().map(|series| series.points.len());
    let bars: usize = if chart.form == Form::Bars { lengths.sum() } else { lengths.max().unwrap_or(0) };
    let rows = u32::try_from(bars).unwrap_or(u32::MAX).saturating_mul(BAR);
    let rows = (rows as f64 / BAR_SHARE) as u32;
    rows.saturating_add(AROUND_BARS)
}

/// The elements of a chart with its title and its legend, without a document around them.
pub(super) fn draw(chart: &Chart) -> Result<String, Failed> {
    canvas(WIDTH, height(chart), |root| {
        text(root, &chart.title, (px(16), px(24)), 15, true, INK, Pos::new(HPos::Left, VPos::Bottom))?;
        let (plot, beside) = root.split_horizontally(px(WIDTH - legend::WIDTH));
        draw_plot(&plot, chart, TITLED)?;
        legend::draw(&beside, chart, TITLED)
    })
}

/// The plot with what a pointer finds in it, and the legend: for a page that has the title, and sets the two side by side or one
/// below the other.
pub(super) fn apart(chart: &Chart) -> Result<(Drawing, Drawing), Failed> {
    let (width, height) = match chart.form {
        Form::Curves => APART,
        _ => (APART.0, rows_height(chart) + UNTITLED - TITLED),
    };
    let mut words = String::new();
    let plot = canvas(width, height, |root| {
        words = draw_plot(root, chart, UNTITLED)?;
        Ok(())
    })?;
    let high = legend::height(chart);
    let legend = canvas(legend::WIDTH, high, |root| legend::draw(root, chart, 0))?;
    Ok((
        Drawing { elements: plot + &words, width, height },
        Drawing { elements: legend, width: legend::WIDTH, height: high },
    ))
}

/// What is drawn on a surface of this size, as elements without a document around them.
pub(super) fn canvas(
    width: u32,
    height: u32,
    draw: impl FnOnce(&Area<Shift>) -> Result<(), Failed>,
) -> Result<String, Failed> {
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (px(width) as u32, px(height) as u32)).into_drawing_area();
        draw(&root)?;
        root.present()?;
    }
    // The document around is ours: it has a title and a description.
    let inner = svg.split_once(">\n").and_then(|(_, rest)| rest.rsplit_once("</svg>"));
    inner
        .map(|(inner, _)| inner.chars().filter(|c| is_xml(*c)).collect())
        .ok_or_else(|| Failed("no SVG element".to_owned()))
}

/// Draws the plot, `top` CSS pixels below the upper edge; what a pointer finds in it, as elements.
fn draw_plot(area: &Area<Shift>, chart: &Chart, top: u32) -> Result<String, Failed> {
    let longest =
        chart.y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0).min(MAX_NAME);
    let labels = 38 + CHARACTER * longest as u32;
    let mut plot = ChartBuilder::on(area)
        .margin_top(px(top))
        .margin_right(px(28))
        .margin_bottom(px(6))
        .margin_left(px(6))
        .x_label_area_size(px(48))
        .y_label_area_size(px(labels))
        .build_cartesian_2d(chart.x.clone(), chart.y.clone())?;
    let mut mesh = plot.configure_mesh();
    mesh.bold_line_style(GRID.stroke_width(SCALE))
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT.stroke_width(SCALE))
        .label_style(font(12, INK))
        .axis_desc_style(font(12, INK))
        .x_desc(&chart.x_title)
        .y_desc(&chart.y_title)
        .set_all_tick_mark_size(px(4));
    let is_curves = chart.form == Form::Curves;
    if !is_curves {
        mesh.disable_y_mesh();
    }
    mesh.draw()?;
    if is_curves {
        draw_limits(&plot, chart)?;
    }
    for (name, at) in &chart.edges {
        if chart.x.share(*at) > 1.0 || chart.x.share(*at) < 0.0 {
            continue;
        }
        dashed(&plot, &[(*at, chart.y.low), (*at, chart.y.high)], (px(2), px(3)), LIMIT.stroke_width(SCALE))?;
        let (x, y) = plot.backend_coord(&(*at, chart.y.high));
        let style = font(11, FAINT).pos(Pos::new(HPos::Left, VPos::Top));
        let place = area.get_base_pixel();
        area.draw(&Text::new(name.as_str(), (x - place.0 + px(4), y - place.1 + px(3)), style))?;
    }
    for (number, series) in chart.series.iter().enumerate() {
        match chart.form {
            Form::Curves => {
                draw_line(&plot, number, series)?;
                draw_intervals(&plot, number, series)?;
            }
            Form::Bars | Form::Stacks => draw_bars(&plot, chart, number, series)?,
            Form::Intervals => draw_intervals(&plot, number, series)?,
        }
    }
    if !is_curves {
        draw_limits(&plot, chart)?;
    }
    if !chart.form.is_bars() {
        draw_marks(&plot, chart)?;
        draw_labels(&plot, chart)?;
    }
    Ok(spots(&plot, chart))
}

/// Lines of limits; over bars a piece for each, from one point to the next.
fn draw_limits(plot: &Plot, chart: &Chart) -> Result<(), Failed> {
    for (_, line) in &chart.limits {
        let length = if chart.form == Form::Curves { line.len().max(1) } else { 2 };
        for piece in line.chunks(length) {
            dashed(plot, piece, (px(6), px(4)), LIMIT.stroke_width(SCALE))?;
        }
    }
    Ok(())
}

/// What a pointer finds: over each mark or bar an area that is not seen, with its words. The plotting library has no words.
fn spots(plot: &Plot, chart: &Chart) -> String {
    let mut text = String::new();
    for point in chart.series.iter().flat_map(|series| series.points.iter().flatten()) {
        if point.told.is_empty() {
            continue;
        }
        let (x, y) = plot.backend_coord(&point.at);
        let words = escaped(&point.told);
        if !chart.form.is_bars() {
            text.push_str(&format!(
                r#"<circle class="spot" cx="{x}" cy="{y}" r="{}"><title>{words}</title></circle>"#,
                px(8)
            ));
        } else {
            let zero = point.from.unwrap_or(chart.x.low.max(0.0));
            let (from, _) = plot.backend_coord(&(zero, point.at.1));
            let (left, width) = (from.min(x), (from - x).abs());
            text.push_str(&spot((left, y - px(BAR) / 2), (width, px(BAR)), &words));
        }
        text.push('\n');
    }
    text
}

/// An area that is not seen, with its words, which are escaped.
pub(super) fn spot((x, y): (i32, i32), (width, height): (i32, i32), words: &str) -> String {
    format!(
        r#"<rect class="spot" x="{x}" y="{y}" width="{width}" height="{height}"><title>{words}</title></rect>"#
    )
}

/// Lines between the points that are worth their name.
fn draw_line(plot: &Plot, number: usize, series: &Series) -> Result<(), Failed> {
    let colour = marks::colour(number);
    let style = colour.stroke_width(2 * SCALE);
    for run in series.points.split(Option::is_none) {
        let line: Vec<(f64, f64)> = run
            .iter()
            .flatten()
            .filter(|point| point.verdict != Some(Verdict::Invalid))
            .map(|point| point.at)
            .collect();
        match marks::dashes(number) {
            Some(dashes) => dashed(plot, &line, dashes, style)?,
            None => plot.plotting_area().draw(&PathElement::new(line, style))?,
        }
    }
    Ok(())
}

/// The intervals of points.
fn draw_intervals(plot: &Plot, number: usize, series: &Series) -> Result<(), Failed> {
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
fn draw_marks(plot: &Plot, chart: &Chart) -> Result<(), Failed> {
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

/// What stands beside points; where it would lie on another label it is left out.
fn draw_labels(plot: &Plot, chart: &Chart) -> Result<(), Failed> {
    let mut placed: Vec<(i32, i32, i32)> = Vec::new();
    let left = plot.plotting_area().get_pixel_range().0.start;
    for point in chart.series.iter().flat_map(|series| series.points.iter().flatten()) {
        let (x, y) = plot.backend_coord(&point.at);
        let width = px(CHARACTER * point.label.chars().count() as u32 + 4);
        // To the left, away from a curve that rises; at the axis to the right.
        let (start, shift, side) =
            if x - width < left { (x, px(4), HPos::Left) } else { (x - width, -px(4), HPos::Right) };
        let touches = |(other, above, wide): &(i32, i32, i32)| {
            start < other + wide && *other < start + width && (y - above).abs() < px(12)
        };
        if !point.label.is_empty() && !placed.iter().any(touches) {
            let style = font(10, FAINT).pos(Pos::new(side, VPos::Bottom));
            let label = Text::new(point.label.clone(), (shift, -px(4)), style);
            plot.plotting_area().draw(&(EmptyElement::at(point.at) + label))?;
            placed.push((start, y, width));
        }
    }
    Ok(())
}

/// Bars from zero with their values; those that are not worth their name hollow.
fn draw_bars(plot: &Plot, chart: &Chart, number: usize, series: &Series) -> Result<(), Failed> {
    let colour = marks::colour(number);
    let in_a_row = if chart.form == Form::Stacks { 1 } else { chart.series.len() };
    let half = BAR_SHARE / in_a_row as f64 / 2.0 * 0.86;
    let zero = chart.x.low.max(0.0);
    for point in series.points.iter().flatten() {
        let Point { at: (value, row), .. } = *point;
        let corners = [(point.from.unwrap_or(zero), row - half), (value, row + half)];
        let style = if point.verdict == Some(Verdict::Invalid) {
            colour.stroke_width(2 * SCALE)
        } else {
            colour.mix(0.45).filled()
        };
        plot.plotting_area().draw(&Rectangle::new(corners, style))?;
        if let Some((low, high)) = point.interval {
            whisker(plot, [(low, row), (high, row)], (0, px(3)), colour.stroke_width(SCALE))?;
        }
        if !point.is_bare {
            plot.plotting_area().draw(&marks::mark((value, row), point.verdict, colour))?;
        }
        // Behind the interval; at the foot of the bar where there is no room.
        let end = point.interval.map_or(value, |(_, high)| high.max(value));
        let (from, shift) = if chart.x.share(end) > 0.85 { (zero, px(6)) } else { (end, px(10)) };
        let style = font(11, INK).pos(Pos::new(HPos::Left, VPos::Center));
        let label = Text::new(point.label.clone(), (shift, 0), style);
        plot.plotting_area().draw(&(EmptyElement::at((from, row)) + label))?;
    }
    Ok(())
}

/// An interval: a line with caps, `cap` to either side. One that its mark hides is left out.
fn whisker(plot: &Plot, ends: [(f64, f64); 2], cap: (i32, i32), style: ShapeStyle) -> Result<(), Failed> {
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

fn dashed(
    plot: &Plot,
    line: &[(f64, f64)],
    (dash, gap): (i32, i32),
    style: ShapeStyle,
) -> Result<(), Failed> {
    if line.len() > 1 {
        let line = line.iter().copied();
        plot.plotting_area().draw(&DashedPathElement::new(line, dash, gap, style))?;
    }
    Ok(())
}

/// Words at a place.
pub(super) fn text(
    area: &Area<Shift>,
    words: &str,
    at: (i32, i32),
    size: u32,
    bold: bool,
    colour: RGBColor,
    pos: Pos,
) -> Result<(), Failed> {
    let style = font(size, colour).pos(pos);
    let style = if bold { TextStyle { font: style.font.style(FontStyle::Bold), ..style } } else { style };
    Ok(area.draw(&Text::new(words, at, style))?)
}

/// A font of `size` CSS pixels.
pub(super) fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    /// plotters divides sizes by this, to make up for what fonts leave above their letters.
    const LEADING: f64 = 1.24;
    let size = f64::from(size * SCALE) * LEADING;
    TextStyle { color: colour.to_backend_color(), ..TextStyle::from(("sans-serif", size).into_font()) }
}

/// CSS pixels in units of the drawing.
pub(super) fn px(pixels: u32) -> i32 {
    i32::try_from(pixels.saturating_mul(SCALE)).unwrap_or(i32::MAX)
}
