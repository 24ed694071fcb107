//! The report as one page: for a browser, a telephone and paper, from the summary down to every sample.
//!
//! The file needs nothing but itself: no network, no script. Charts are those of [`svg`](crate::svg), in the colours of
//! the page; what is filtered and folded is filtered and folded by the style sheet and the browser. A content security
//! policy forbids the rest, should a record ever get past the escaping: all its text goes through
//! [`plain`](figure::format::plain) and is escaped where it is put in (maud).
//!
//! It stays below [`MAX_BYTES`](frame::MAX_BYTES): what is too much of a large record is told shorter, then left out, and the page says so.

use std::io::{self, Write};

use figure::format::plain_to;
use figure::{Figure, Record};
use maud::{Markup, html};

use crate::{Format, Options, summary};

pub(crate) mod budget;
pub(crate) mod charts;
mod details;
mod facts;
pub(crate) mod frame;
mod matters;
pub(crate) mod tables;
mod theme;
mod top;
pub(crate) mod words;

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
    let record = &some_of(whole, |_| true);
    let links = Links::to(record, most);
    let mut charts_left = Budget::of(FOR_CHARTS);
    let mut tables_left = Budget::of(FOR_TABLES);
    let (mut suites, mut headline_charts) = (Vec::new(), Vec::new());
    for suite in summary::suites(record).into_iter().take(MAX_SUITES) {
        let own = some_of(record, |figure| figure.suite == suite);
        let (first, charts) = charts::of(&own, &mut charts_left)?;
        let tables = tables::of(&own, &links, &mut tables_left);
        headline_charts.push(first);
        suites.push((suite, charts, tables));
    }
    let spare = charts_left.left() + tables_left.left();
    let details_left = Budget::of(MAX_BYTES - FOR_TOP - FOR_CHARTS - FOR_TABLES + spare);
    let (details, shown) = details::all(record, most, &links, &details_left)?;
    let host = record.machine.hostname.value().map(|name| plain_to(name, 64));
    let title = format!("truebench report{}", host.map_or_else(String::new, |host| format!(": {host}")));
    let main = html! {
        (matters::usable(record, &links))
        (top::headlines(record, &links))
        (matters::meaning(record, &links))
        div.charts { @for chart in &headline_charts { (chart) } }
        @for (suite, charts, tables) in &suites {
            details.suite open=[(suites.len() == 1).then_some("open")] {
                summary { h2 { (plain_to(suite, 40)) } }
                (charts)
                (tables)
            }
        }
        (matters::causes(record, &links))
        (matters::missing(record, &links))
        (details)
    };
    let page =
        frame::page(&title, "figures", &top::head(record, whole.figures.len()), &main, &top::foot(record));
    Ok((page, shown))
}

/// The record with those figures that are asked for, as many as are looked at.
fn some_of(record: &Record, is_wanted: impl Fn(&Figure) -> bool) -> Record {
    let figures = record.figures.iter().filter(|figure| is_wanted(figure)).take(MAX_FIGURES);
    Record {
        schema: record.schema,
        tool: record.tool.clone(),
        machine: record.machine.clone(),
        started: record.started.clone(),
        duration: record.duration,
        command: record.command.clone(),
        interrupted: record.interrupted.clone(),
        observer: record.observer.clone(),
        figures: figures.cloned().collect(),
        findings: record.findings.iter().take(MAX_FINDINGS).cloned().collect(),
        series: record.series.clone(),
    }
}
