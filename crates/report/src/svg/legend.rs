//! The legend of a chart: its series, shades, marks, limits and notes.

use std::io;

use figure::Verdict;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::Drawing;
use super::chart::{Chart, Form, Series};
use super::draw::{Area, Drawn, anchored, canvas, px};
use super::marks::{self, FAINT, INK, LIMIT, SCALE, SHADES};
use crate::mark;

/// Its width.
pub(super) const WIDTH: u32 = 240;
/// Characters of a line, and of one behind a sample.
const COLUMNS: usize = 36;
const BEHIND_SAMPLE: usize = 30;
/// The most lines of a text.
const MAX_LINES: usize = 4;
/// Height of a line, and between two entries.
const LINE: u32 = 15;
const BETWEEN: u32 = 5;

/// What an entry explains, as it is drawn before the text.
enum Sample {
    Line(usize),
    Area(RGBAColor),
    Mark(Option<Verdict>, RGBColor),
    Limit,
    Nothing,
}

/// The legend of a chart.
pub(super) fn legend(chart: &Chart) -> io::Result<Drawing> {
    let entries = entries(chart);
    let height = LINE + entries.iter().map(|(lines, _)| LINE * lines.len() as u32 + BETWEEN).sum::<u32>();
    canvas((WIDTH, height), |area| {
        let mut y = px(8);
        for (lines, sample) in &entries {
            draw_sample(area, sample, y)?;
            let (left, colour) = match sample {
                Sample::Nothing => (px(6), FAINT),
                Sample::Limit => (px(34), FAINT),
                _ => (px(34), INK),
            };
            for line in lines {
                let style = anchored(12, colour, HPos::Left, VPos::Center);
                area.draw(&Text::new(line.as_str(), (left, y), style))?;
                y += px(LINE);
            }
            y += px(BETWEEN);
        }
        Ok(())
    })
}

/// The entries from above: the lines of a text, and the sample before it.
fn entries(chart: &Chart) -> Vec<(Vec<String>, Sample)> {
    let is_shown = |series: &Series| !series.label.is_empty() && series.points.iter().any(Option::is_some);
    let named = chart.series.iter().enumerate().filter(|(_, series)| is_shown(series));
    let series = named.map(|(number, series)| match chart.form {
        Form::Curves => (Sample::Line(number), series.label.clone()),
        _ => (Sample::Area(marks::area(number)), series.label.clone()),
    });
    let shades = SHADES.into_iter().zip(&chart.shades);
    let shades = shades.map(|(shade, least)| (Sample::Area(shade.to_rgba()), format!("from {least}")));
    let colour = if chart.form == Form::Map { FAINT } else { marks::colour(0) };
    let has_mark = |verdict| chart.points().any(|point| !point.is_bare && point.verdict == verdict);
    let verdicts = mark::VERDICTS.into_iter().map(Some).chain([None]).filter(|verdict| has_mark(*verdict));
    let verdicts = verdicts.map(|verdict| {
        let text = verdict.map_or_else(
            || "not judged".to_owned(),
            |verdict| format!("{verdict}: {}", mark::meaning(verdict)),
        );
        (Sample::Mark(verdict, colour), text)
    });
    let limits = chart.limits.iter().map(|(text, _)| (Sample::Limit, text.clone()));
    let notes = chart.notes.iter().map(|note| (Sample::Nothing, note.clone()));
    let entries = series.chain(shades).chain(verdicts).chain(limits).chain(notes);
    entries.map(|(sample, text)| (lines(&sample, &text), sample)).collect()
}

/// A text in the lines that it takes.
fn lines(sample: &Sample, text: &str) -> Vec<String> {
    let columns = if matches!(sample, Sample::Nothing) { COLUMNS } else { BEHIND_SAMPLE };
    let mut lines: Vec<String> = textwrap::wrap(text, columns).into_iter().map(String::from).collect();
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines[MAX_LINES - 1].push('…');
    }
    lines
}

fn draw_sample(area: &Area<Shift>, sample: &Sample, y: i32) -> Drawn {
    let line = [(px(4), y), (px(28), y)];
    let dashed = |(dash, gap), style| DashedPathElement::new(line, dash, gap, style);
    match sample {
        Sample::Line(number) => {
            let style = marks::colour(*number).stroke_width(2 * SCALE);
            match marks::dashes(*number) {
                Some(dashes) => area.draw(&dashed(dashes, style))?,
                None => area.draw(&PathElement::new(line, style))?,
            }
        }
        Sample::Area(colour) => {
            area.draw(&Rectangle::new([(px(6), y - px(5)), (px(26), y + px(5))], colour.filled()))?;
        }
        Sample::Mark(verdict, colour) => area.draw(&marks::mark((px(16), y), *verdict, *colour))?,
        Sample::Limit => area.draw(&dashed((px(6), px(4)), LIMIT.stroke_width(SCALE)))?,
        Sample::Nothing => {}
    }
    Ok(())
}
