//! What the marks, colours and lines of a chart mean, and what is to be said beside it.

use figure::Verdict;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, Form, Series};
use super::draw::{Area, Failed, SCALE, px, text};
use super::marks::{self, FAINT, INK, LIMIT};
use crate::mark;

/// Its width.
pub(super) const WIDTH: u32 = 240;
/// Characters of a line, and of one behind a mark.
const COLUMNS: usize = 36;
const BEHIND_MARK: usize = 30;
/// The most lines of a text.
const MAX_LINES: usize = 4;

/// What stands in the legend, from above.
enum Entry<'a> {
    Series(usize, &'a str),
    Verdict(Option<Verdict>, String),
    Limit(&'a str),
    Note(&'a str),
}

fn entries(chart: &Chart) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry> = Vec::new();
    let is_shown = |series: &Series| !series.label.is_empty() && series.points.iter().any(Option::is_some);
    let named = chart.series.iter().enumerate().filter(|(_, series)| is_shown(series));
    entries.extend(named.map(|(number, series)| Entry::Series(number, &series.label)));
    let points = || chart.series.iter().flat_map(|series| series.points.iter().flatten());
    for verdict in mark::VERDICTS.into_iter().map(Some).chain([None]) {
        if points().any(|point| !point.is_bare && point.verdict == verdict) {
            let text = verdict.map_or_else(
                || "not judged".to_owned(),
                |verdict| format!("{verdict}: {}", mark::meaning(verdict)),
            );
            entries.push(Entry::Verdict(verdict, text));
        }
    }
    entries.extend(chart.limits.iter().map(|(text, _)| Entry::Limit(text)));
    entries.extend(chart.notes.iter().map(|note| Entry::Note(note)));
    entries
}

/// Height of a line, and between two entries.
const LINE: u32 = 15;
const BETWEEN: u32 = 5;

fn wrapped(entry: &Entry) -> Vec<String> {
    let (text, columns) = match entry {
        Entry::Series(_, text) | Entry::Limit(text) => (*text, BEHIND_MARK),
        Entry::Verdict(_, text) => (text.as_str(), BEHIND_MARK),
        Entry::Note(text) => (*text, COLUMNS),
    };
    let mut lines: Vec<String> = textwrap::wrap(text, columns).into_iter().map(String::from).collect();
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        lines[MAX_LINES - 1].push('…');
    }
    lines
}

/// The height of a legend, in CSS pixels.
pub(super) fn height(chart: &Chart) -> u32 {
    let entry = |entry: &Entry| LINE * wrapped(entry).len() as u32 + BETWEEN;
    LINE + entries(chart).iter().map(entry).sum::<u32>()
}

/// Draws it, `top` CSS pixels below the upper edge.
pub(super) fn draw(area: &Area<Shift>, chart: &Chart, top: u32) -> Result<(), Failed> {
    let mut y = px(top + 8);
    let bottom = area.dim_in_pixel().1 as i32 - px(LINE) / 2;
    for entry in entries(chart) {
        let middle = (px(16), y);
        match &entry {
            Entry::Series(number, _) => {
                let colour = marks::colour(*number);
                if chart.form != Form::Curves {
                    let corners = [(px(6), y - px(5)), (px(26), y + px(5))];
                    area.draw(&Rectangle::new(corners, colour.mix(0.45).filled()))?;
                } else {
                    sample(area, y, marks::dashes(*number), colour.stroke_width(2 * SCALE))?;
                }
            }
            Entry::Verdict(verdict, _) => area.draw(&marks::mark(middle, *verdict, marks::colour(0)))?,
            Entry::Limit(_) => sample(area, y, Some((px(6), px(4))), LIMIT.stroke_width(SCALE))?,
            Entry::Note(_) => {}
        }
        let left = if matches!(entry, Entry::Note(_)) { px(6) } else { px(34) };
        let colour = if matches!(entry, Entry::Note(_) | Entry::Limit(_)) { FAINT } else { INK };
        for line in wrapped(&entry) {
            if y > bottom {
                return Ok(());
            }
            text(area, &line, (left, y), 12, false, colour, Pos::new(HPos::Left, VPos::Center))?;
            y += px(LINE);
        }
        y += px(BETWEEN);
    }
    Ok(())
}

/// A piece of line in the legend.
fn sample(area: &Area<Shift>, y: i32, dashes: Option<(i32, i32)>, style: ShapeStyle) -> Result<(), Failed> {
    let line = vec![(px(4), y), (px(28), y)];
    match dashes {
        Some((dash, gap)) => area.draw(&DashedPathElement::new(line, dash, gap, style))?,
        None => area.draw(&PathElement::new(line, style))?,
    }
    Ok(())
}
