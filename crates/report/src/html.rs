//! The report as one page: for a browser, a telephone and paper, from the summary down to every sample.
//!
//! The file needs nothing but itself: no network, no script. Charts are those of [`svg`](crate::svg), in the colours of
//! the page; what is filtered and folded is filtered and folded by the style sheet and the browser. A content security
//! policy forbids the rest, should a record ever get past the escaping: all its text goes through
//! [`plain`](figure::format::plain) and is escaped where it is put in (maud).
//!
//! It stays below [`MAX_BYTES`](frame::MAX_BYTES): what is too much of a large record is told shorter, then left out, and the page says so.

use std::io::{self, Write};

use figure::Record;
use figure::format::plain_to;
use maud::{Markup, html};

use crate::format::{Format, Options};
use crate::{document, summary};

mod blocks;
mod budget;
mod charts;
pub(crate) mod comparison;
mod details;
mod facts;
pub(crate) mod fleet;
mod frame;
mod theme;
mod top;
mod words;

use blocks::Level;
use budget::Budget;
use frame::MAX_BYTES;
use words::Links;

pub(crate) const FORMAT: Format =
    Format { name: "html", about: "one page for browsers and paper: charts, tables, every sample", write };

/// Of that: the style sheet, the top of the page and what surrounds the rest.
const FOR_TOP: usize = 200_000;
/// Charts of all suites together.
const FOR_CHARTS: usize = 500_000;
/// Tables of all suites together.
const FOR_TABLES: usize = 300_000;
/// The most figures that are looked at; what compares figures with one another takes their number squared.
const MAX_FIGURES: usize = 6000;
/// The most findings that are shown.
const MAX_FINDINGS: usize = 60;
/// The most suites.
const MAX_SUITES: usize = 12;

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (page, shown) = page(record, MAX_FIGURES)?;
    // References to details that there was no room for lead nowhere: without them the page only becomes smaller.
    let (page, _) = if shown < record.figures.len().min(MAX_FIGURES) {
        self::page(record, shown)?
    } else {
        (page, shown)
    };
    out.write_all(&frame::bytes(page)?)
}

/// The page with the details of `most` figures and fewer; how many there was room for.
fn page(whole: &Record, most: usize) -> io::Result<(Markup, usize)> {
    let mut record = whole.clone();
    record.figures.truncate(MAX_FIGURES);
    record.findings.truncate(MAX_FINDINGS);
    let record = &record;
    let links = Links::to(record, most);
    let mut charts_left = Budget::of(FOR_CHARTS);
    let mut tables_left = Budget::of(FOR_TABLES);
    let (mut suites, mut headline_charts) = (Vec::new(), Vec::new());
    for suite in summary::by_suite(record).into_iter().take(MAX_SUITES) {
        let (first, charts) = charts::of(&suite, &mut charts_left)?;
        let blocks = blocks::each(&document::suite(&suite), Level::Suite, &links);
        let name = suite.figures.first().map_or_else(String::new, |figure| plain_to(&figure.suite, 40));
        headline_charts.push(first);
        suites.push((name, charts, tables_left.fill(blocks, "tables")));
    }
    let answers = tables_left.fill(blocks::each(&document::answers(record), Level::Part, &links), "parts");
    let end = tables_left.fill(blocks::each(&document::end(record), Level::Part, &links), "parts");
    let spare = charts_left.left() + tables_left.left();
    let details_left = Budget::of(MAX_BYTES - FOR_TOP - FOR_CHARTS - FOR_TABLES + spare);
    let (details, shown) = details::all(record, most, &links, &details_left)?;
    let host = record.machine.hostname.value().map(|name| plain_to(name, 64));
    let title = format!("truebench report{}", host.map_or_else(String::new, |host| format!(": {host}")));
    let main = html! {
        (answers)
        div.charts { @for chart in &headline_charts { (chart) } }
        @for (name, charts, tables) in &suites {
            details.suite open=[(suites.len() == 1).then_some("open")] {
                summary { h2 { (name) } }
                (charts)
                (tables)
            }
        }
        (end)
        (details)
    };
    let page =
        frame::page(&title, "figures", &top::head(record, whole.figures.len()), &main, &top::foot(record));
    Ok((page, shown))
}
