//! A record's curves and matrices as charts, one below the other in one SVG document.
//!
//! The drawing is that of plotters. It knows neither titles nor descriptions, so each chart is set as a picture
//! of its own into a document that has them (SVG 2, section 5.8; WAI-ARIA Graphics): text stays text, a
//! screen reader reads in words what the curves show, and the background is white whatever is behind it.

use std::io::{self, Write};

use figure::format::plain_to;
use figure::{Figure, Record};
use maud::{Markup, PreEscaped, html};
use plotters::style::RGBColor;

use crate::format::{Format, Options};
use crate::grid::Mode;
use crate::{grid, loads, outline};

mod axis;
mod chart;
mod draw;
pub(crate) mod forest;
mod heat;
mod legend;
mod limits;
mod marks;
mod modes;
mod overtime;
mod pareto;
mod sections;
mod spectrum;
mod split;
mod words;

use chart::Chart;
pub(crate) use marks::named as colours;

pub(crate) const FORMAT: Format = Format { name: "svg", about: "charts of curves and matrices", write };

/// Width and height of a plot of curves in the document, in CSS pixels: what a page beside a navigation bears.
const IN_DOCUMENT: (u32, u32) = (660, 392);
/// The same in a page, which has the legend where there is room: what a telephone shows with letters that can be read.
const IN_PAGE: (u32, u32) = (560, 340);
/// Height of the document's header, and of the title of each chart.
const HEADER: u32 = 64;
const TITLE: u32 = 28;
/// Space below each chart.
const GAP: u32 = 16;

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let charts: Vec<Chart> =
        pareto::charts(record).into_iter().chain(grid::modes(record).iter().flat_map(of_mode)).collect();
    if charts.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the record holds no curve or matrix to draw; measure one (truebench memory --help lists the modes), \
             or take another format",
        ));
    }
    out.write_all(document(record, &charts)?.as_bytes())
}

/// A chart for a page that sets the title above it, and the legend where there is room.
#[derive(Debug)]
pub(crate) struct Picture {
    /// Its title; untrusted parts are plain, not escaped.
    pub title: String,
    /// What it shows, in words; likewise.
    pub description: String,
    /// The plot.
    pub plot: Drawing,
    /// What its marks mean.
    pub legend: Drawing,
}

/// Elements of SVG, in which foreign text is escaped.
#[derive(Debug)]
pub(crate) struct Drawing {
    /// The elements.
    pub elements: String,
    /// Areas of the class `spot` that a pointer finds, each with its words; a style must hide them.
    pub spots: String,
    /// Width, in CSS pixels.
    pub width: u32,
    /// Height, in CSS pixels.
    pub height: u32,
}

impl Drawing {
    /// The coordinates that the elements use: left, top, width, height.
    pub fn view_box(&self) -> String {
        format!("0 0 {} {}", self.width * marks::SCALE, self.height * marks::SCALE)
    }
}

/// The pictures of a record in the order in which one reads it: single figures against their limits, allocators, curves and
/// matrices, spectra, sums. The time lines of figures: [`overtime`].
pub(crate) fn pictures(record: &Record) -> io::Result<Vec<Picture>> {
    let sections = outline::sections(record);
    let headlines = sections.iter().filter(|section| section.headline).flat_map(sections::charts);
    let modes = grid::modes(record).into_iter().flat_map(|mut mode| {
        // Of a load the rate; the figures that follow from it are in tables and spectra.
        mode.grids.retain(|grid| grid.figures().all(|f| !loads::is_of_load(f) || !f.rounds.is_empty()));
        of_mode(&mode)
    });
    let charts = headlines.chain(pareto::charts(record)).chain(modes);
    let charts = charts.chain(spectrum::charts(record)).chain(split::charts(record));
    charts.map(|chart| picture(&chart)).collect()
}

/// A figure over time.
pub(crate) fn overtime(figure: &Figure) -> io::Result<Vec<Picture>> {
    overtime::charts(figure).iter().map(picture).collect()
}

/// The maps of a mode, then its curves and bars.
fn of_mode(mode: &Mode) -> Vec<Chart> {
    let maps: Vec<Option<Chart>> = mode.grids.iter().map(|grid| heat::chart(mode, grid)).collect();
    let others = mode.grids.iter().zip(&maps).filter(|(_, map)| map.is_none());
    let others = Mode { grids: others.map(|(grid, _)| grid.clone()).collect(), ..mode.clone() };
    maps.into_iter().flatten().chain(modes::charts(&others)).collect()
}

fn picture(chart: &Chart) -> io::Result<Picture> {
    Ok(Picture {
        title: chart.title.clone(),
        description: chart.description.clone(),
        plot: draw::plot(chart, IN_PAGE)?,
        legend: legend::legend(chart)?,
    })
}

/// The whole document: a group of pictures. Were it a picture itself, nothing in it would be read out.
fn document(record: &Record, charts: &[Chart]) -> io::Result<String> {
    let host = record.machine.hostname.value();
    let host = host.map_or_else(String::new, |name| format!(" on {}", plain_to(name, 64)));
    let [tool, version, started] =
        [&record.tool.name, &record.tool.version, &record.started].map(|text| plain_to(text, 40));
    let title = format!("{tool} {version}{host}, {started}");
    let machine = plain_to(&record.machine.summary(), 140);
    let width = IN_DOCUMENT.0 + legend::WIDTH;
    let mut bottom = HEADER;
    let mut pictures = Vec::new();
    for (number, chart) in (1..).zip(charts) {
        let (plot, legend) = (draw::plot(chart, IN_DOCUMENT)?, legend::legend(chart)?);
        let height = TITLE + plot.height.max(legend.height);
        pictures.push(html! {
            svg y=(bottom) width=(width) height=(height) role="img"
                aria-labelledby={ "title-" (number) " description-" (number) } {
                title id={ "title-" (number) } { (chart.title) }
                desc id={ "description-" (number) } { (chart.description) }
                (line(24, 15, true, marks::INK, &chart.title))
                @for (left, drawing) in [(0, &plot), (IN_DOCUMENT.0, &legend)] {
                    svg x=(left) y=(TITLE) width=(drawing.width) height=(drawing.height)
                        viewBox=(drawing.view_box()) { (PreEscaped(&drawing.elements)) }
                }
            }
        });
        bottom += height + GAP;
    }
    let document = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(bottom) viewBox={ "0 0 " (width) " " (bottom) }
            role="group" aria-labelledby="title description" {
            title id="title" { (title) }
            desc id="description" { (charts.len()) " charts of what was measured on this machine: " (machine) }
            rect width="100%" height="100%" fill="white" {}
            (line(28, 16, true, marks::INK, &title))
            (line(48, 11, false, marks::FAINT, &machine))
            @for picture in pictures { (picture) }
        }
    };
    let mut document = document.into_string();
    document.retain(is_xml);
    document.push('\n');
    Ok(document)
}

/// A line of text above the pictures, or one of them.
fn line(y: u32, size: u32, is_bold: bool, colour: RGBColor, text: &str) -> Markup {
    html! {
        text x="16" y=(y) font-family="sans-serif" font-size=(size) font-weight=[is_bold.then_some("bold")]
            fill=(marks::hex(colour)) { (text) }
    }
}

/// Whether XML 1.0 (section 2.2) has this character.
pub(crate) fn is_xml(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
