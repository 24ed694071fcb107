//! The report as one page: for a browser, a telephone and paper, from the summary down to every sample.
//!
//! The file needs nothing but itself: no network, no script. Charts are those of [`svg`](crate::svg), in the colours of
//! the page; what is filtered and folded is filtered and folded by the style sheet and the browser. A content security
//! policy forbids the rest, should a record ever get past the escaping: all its text goes through
//! [`plain`](figure::format::plain) and is escaped where it is put in (maud).
//!
//! It stays below [`MAX_BYTES`]: what is too much of a large record is told shorter, then left out, and the page says so.

use std::io::{self, Write};

use figure::format::plain_to;
use figure::{Figure, Record};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{Format, Options, svg};

mod budget;
mod charts;
mod details;
mod facts;
mod matters;
mod tables;
mod theme;
mod top;
mod words;

use budget::Budget;
use words::Links;

pub(crate) const FORMAT: Format =
    Format { name: "html", about: "one page for browsers and paper: charts, tables, every sample", write };

/// The largest page: what a mail or an issue takes, and a telephone opens.
const MAX_BYTES: usize = 1_500_000;
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
    let mut page = page.into_string();
    page.retain(svg::is_xml);
    page.push('\n');
    if page.len() > MAX_BYTES {
        // What is bounded above leaves no room for this, whatever the record holds.
        return Err(io::Error::other(format!(
            "the page would have {} bytes, more than {MAX_BYTES}",
            page.len()
        )));
    }
    out.write_all(page.as_bytes())
}

/// The page with the details of `most` figures and fewer; how many there was room for.
fn page(whole: &Record, most: usize) -> io::Result<(Markup, usize)> {
    let record = &some_of(whole, |_| true);
    let links = Links::to(record, most);
    let mut charts_left = Budget::of(FOR_CHARTS);
    let mut tables_left = Budget::of(FOR_TABLES);
    let mut suites = Vec::new();
    for suite in suites_of(record) {
        let own = some_of(record, |figure| figure.suite == suite);
        let charts = charts::of(&own, &mut charts_left)?;
        let tables = tables::of(&own, &links, &mut tables_left);
        suites.push((suite, charts, tables));
    }
    let spare = charts_left.left() + tables_left.left();
    let details_left = Budget::of(MAX_BYTES - FOR_TOP - FOR_CHARTS - FOR_TABLES + spare);
    let (details, shown) = details::all(record, most, &links, &details_left)?;
    let host = record.machine.hostname.value().map(|name| plain_to(name, 64));
    let title = format!("truebench report{}", host.map_or_else(String::new, |host| format!(": {host}")));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(theme::style())) }
            }
            body {
                a.skip href="#figures" { "Skip to the figures" }
                header { (top::head(record, whole.figures.len())) }
                main {
                    (top::headlines(record, &links))
                    (matters::findings(record, &links))
                    (matters::causes(record, &links))
                    @for (at, (suite, charts, tables)) in suites.iter().enumerate() {
                        section aria-labelledby={ "suite-" (at) } {
                            h2 id={ "suite-" (at) } { (plain_to(suite, 40)) }
                            (charts)
                            (tables)
                        }
                    }
                    (matters::missing(record, &links))
                    (details)
                }
                footer { (top::foot(record)) }
            }
        }
    };
    Ok((page, shown))
}

/// The suites of a page, in the record's order.
fn suites_of(record: &Record) -> Vec<&str> {
    let mut suites = crate::summary::suites(record);
    suites.truncate(MAX_SUITES);
    suites
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
    }
}
