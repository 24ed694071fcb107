//! A record's curves and matrices as charts, one below the other in one SVG document.
//!
//! The drawing is that of plotters. It knows neither titles nor descriptions, so each chart is set as a picture
//! of its own into a document that has them (SVG 2, section 5.8; WAI-ARIA Graphics): text stays text, a
//! screen reader is told in words what the curves show, and the background is white whatever is behind it.

use std::fmt::Write as _;
use std::io::{self, Write};

use figure::format::plain_to;
use figure::{Figure, Record};

use crate::{Format, Options, grid, loads, outline};

mod axis;
mod chart;
mod draw;
pub(crate) mod forest;
mod heat;
mod legend;
mod limits;
mod marks;
mod overtime;
mod pareto;
mod sections;
mod spectrum;
mod split;
mod ticks;
mod words;

use chart::Chart;
pub(crate) use marks::named as colours;

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

/// A chart for a page that sets the title above it, and the legend where there is room.
#[derive(Debug)]
pub(crate) struct Picture {
    /// Its title; untrusted parts are plain, not escaped.
    pub title: String,
    /// What it shows, in words; likewise.
    pub description: String,
    /// The plot; the classes of its elements: `spot` for what a pointer finds and is not seen.
    pub plot: Drawing,
    /// What its marks mean.
    pub legend: Drawing,
}

/// Elements of SVG, in which foreign text is escaped.
#[derive(Debug)]
pub(crate) struct Drawing {
    /// The elements.
    pub elements: String,
    /// Width, in CSS pixels.
    pub width: u32,
    /// Height, in CSS pixels.
    pub height: u32,
}

impl Drawing {
    /// The coordinates that the elements use: left, top, width, height.
    pub fn view_box(&self) -> String {
        format!("0 0 {} {}", self.width * draw::SCALE, self.height * draw::SCALE)
    }
}

/// What a record has to look at, in the order in which one reads it: single figures against their limits, allocators, curves and
/// matrices, spectra, sums. The time lines of figures: [`overtime`].
pub(crate) fn pictures(record: &Record) -> io::Result<Vec<Picture>> {
    let of_sections = outline::sections(record);
    let headlines = of_sections.iter().filter(|section| section.headline).flat_map(sections::charts);
    let charts: Vec<Chart> = headlines.chain(pareto::charts(record)).collect();
    let mut pictures: Vec<Picture> = charts.iter().map(picture).collect::<io::Result<_>>()?;
    for mut mode in grid::modes(record) {
        // Of a load the rate; what follows from it is told in tables and spectra.
        mode.grids.retain(|grid| grid.figures().all(|f| !loads::is_of_load(f) || !f.rounds.is_empty()));
        for grid in mode.grids.iter().filter(|grid| heat::is_map(grid)) {
            pictures.push(heat::picture(&mode, grid).map_err(io::Error::other)?);
        }
        mode.grids.retain(|grid| !heat::is_map(grid));
        for chart in chart::charts(&mode) {
            pictures.push(picture(&chart)?);
        }
    }
    for chart in spectrum::charts(record).iter().chain(&split::charts(record)) {
        pictures.push(picture(chart)?);
    }
    Ok(pictures)
}

/// A figure over time.
pub(crate) fn overtime(figure: &Figure) -> io::Result<Vec<Picture>> {
    overtime::charts(figure).iter().map(picture).collect()
}

fn picture(chart: &Chart) -> io::Result<Picture> {
    let (plot, legend) = draw::apart(chart).map_err(io::Error::other)?;
    Ok(Picture { title: chart.title.clone(), description: chart.description.clone(), plot, legend })
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
    let machine = plain_to(&record.machine.summary(), 140);
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
pub(crate) fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
