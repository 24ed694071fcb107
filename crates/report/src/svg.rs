//! A record's curves and matrices as charts, one below the other in one SVG document.
//!
//! The drawing is that of plotters. It knows neither titles nor descriptions, so each chart is set as a picture
//! of its own into a document that has them (SVG 2, section 5.8; WAI-ARIA Graphics): text stays text, a
//! screen reader is told in words what the curves show, and the background is white whatever is behind it.

use std::fmt::Write as _;
use std::io::{self, Write};

use figure::Record;
use figure::format::plain_to;

use crate::{Format, Options, grid, summary};

mod axis;
mod chart;
mod draw;
mod marks;
mod pareto;
mod ticks;
mod words;

use chart::Chart;

pub(crate) const FORMAT: Format = Format { name: "svg", about: "charts of curves and matrices", write };

/// Width of the document and of each chart, in CSS pixels: what a page beside a navigation bears.
const WIDTH: u32 = 900;
/// Height of what stands above the charts.
const HEADER: u32 = 64;
/// Space below each chart.
const GAP: u32 = 16;

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let modes = grid::modes(record);
    let charts: Vec<Chart> =
        pareto::charts(record).into_iter().chain(modes.iter().flat_map(chart::charts)).collect();
    if charts.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the record holds no curve or matrix to draw; measure one (truebench memory --help lists the modes), \
             or take another format",
        ));
    }
    out.write_all(document(record, &charts).map_err(io::Error::other)?.as_bytes())
}

/// The whole document.
fn document(record: &Record, charts: &[Chart]) -> Result<String, draw::Failed> {
    let height = HEADER + charts.iter().map(|chart| draw::height(chart) + GAP).sum::<u32>();
    let host = record
        .machine
        .hostname
        .value()
        .map_or_else(String::new, |name| format!(" on {}", plain_to(name, 64)));
    let title = format!(
        "{} {}{host}, {}",
        plain_to(&record.tool.name, 40),
        plain_to(&record.tool.version, 40),
        plain_to(&record.started, 40)
    );
    let machine = plain_to(&summary::machine(&record.machine), 140);
    let mut text = String::new();
    // A document that groups pictures: were it a picture itself, nothing in it would be read out.
    write!(
        text,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="group" aria-labelledby="title description">
<title id="title">{title}</title>
<desc id="description">{count} charts of what was measured on this machine: {machine}</desc>
<rect width="100%" height="100%" fill="white"/>
<text x="16" y="28" font-family="sans-serif" font-size="16" font-weight="bold" fill="{ink}">{title}</text>
<text x="16" y="48" font-family="sans-serif" font-size="11" fill="{faint}">{machine}</text>
"#,
        title = escaped(&title),
        machine = escaped(&machine),
        count = charts.len(),
        ink = marks::hex(marks::INK),
        faint = marks::hex(marks::FAINT),
    )?;
    let mut top = HEADER;
    for (number, chart) in (1..).zip(charts) {
        let height = draw::height(chart);
        let drawing = draw::draw(chart)?;
        let scale = draw::SCALE;
        write!(
            text,
            r#"<svg y="{top}" width="{WIDTH}" height="{height}" viewBox="0 0 {wide} {high}" role="img" aria-labelledby="title-{number} description-{number}">
<title id="title-{number}">{title}</title>
<desc id="description-{number}">{description}</desc>
{drawing}</svg>
"#,
            wide = WIDTH * scale,
            high = height * scale,
            title = escaped(&chart.title),
            description = escaped(&chart.description),
        )?;
        top += height + GAP;
    }
    text.push_str("</svg>\n");
    Ok(text)
}

/// Text in which XML takes nothing for markup; what XML 1.0 (section 2.2) does not allow is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            _ if is_xml(c) => escaped.push(c),
            _ => {}
        }
    }
    escaped
}

/// Whether XML 1.0 has this character.
fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
