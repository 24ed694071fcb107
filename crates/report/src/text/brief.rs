//! A run on one screen: the machine, the headline figures of each suite, and what matters most.

use std::io::{self, Write};

use comfy_table::Cell;
use figure::format::{plain, plain_to};
use figure::{Record, Severity};

use super::page::Page;
use super::{cells, header};
use crate::digits::with_unit;
use crate::{Format, MIN_WIDTH, Options, headlines, mark, matters};

/// The most findings that are told.
const MAX_FINDINGS: usize = 8;

pub(crate) const FORMAT: Format =
    Format { name: "summary", about: "one screen: the headline figures and what matters most", write };

fn write(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options.width.max(MIN_WIDTH), options.colour, options.ascii);
    header::header(&mut page, record);
    table(&mut page, record);
    missing(&mut page, record);
    findings(&mut page, record);
    out.write_all(page.text().as_bytes())
}

fn table(page: &mut Page, record: &Record) {
    let suites = headlines::of(record);
    let chosen: Vec<(&str, &headlines::Named)> =
        suites.iter().flat_map(|(suite, figures)| figures.iter().map(move |named| (*suite, named))).collect();
    if chosen.is_empty() {
        return;
    }
    page.title("Headline figures");
    let has_limit = page.width() >= cells::WIDTH_FOR_LIMIT
        && chosen.iter().any(|(_, (_, figure))| figure.limit.is_some());
    let mut heads = vec!["suite", "figure", "value", "±"];
    heads.extend(has_limit.then_some("of limit"));
    let mut table = cells::empty(page);
    table.set_header(heads.iter().copied().chain(["verdict"]).map(cells::head));
    let mut above = "";
    for (suite, (name, figure)) in chosen {
        let shown = if suite == above { String::new() } else { plain_to(suite, 20) };
        above = suite;
        let value = figure.value.map_or_else(String::new, |value| with_unit(value, &figure.unit));
        let mut row = vec![shown, name.clone(), value, cells::half_width(figure)];
        row.extend(has_limit.then(|| cells::of_limit(figure)));
        let row = row.into_iter().map(Cell::new).chain([cells::verdict(figure, page.width())]);
        table.add_row(row);
    }
    cells::lay(&mut table, |at| (2..heads.len()).contains(&at));
    cells::print(page, &table);
    page.aside("±: 95 % interval of the median; of limit: what it is held against stands in the report");
}

/// Suites of which nothing could be measured.
fn missing(page: &mut Page, record: &Record) {
    for (suite, reason) in headlines::missing(record) {
        let style = mark::severity_style(Severity::Warning);
        page.item("!", style, &format!("{}: not measured: {}", plain_to(suite, 20), plain(reason)));
    }
}

fn findings(page: &mut Page, record: &Record) {
    let all = matters::findings(record);
    if all.is_empty() {
        return;
    }
    page.title("What matters most");
    for finding in all.iter().take(MAX_FINDINGS) {
        page.item(
            mark::of_severity(finding.severity),
            mark::severity_style(finding.severity),
            &plain(&finding.text()),
        );
    }
    if let Some(more) = all.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) {
        page.aside(&format!("{more} more in the report"));
    }
}
