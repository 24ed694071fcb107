//! A comparison as one page, in the style of a record's: ratios as charts and tables.

use std::io::{self, Write};

use figure::format::{counted, plain_to};
use maud::{Markup, html};

use compare::{Compared, Comparison, Pair, Standing};

use super::blocks::{self, Level};
use super::budget::Budget;
use super::charts::chart;
use super::frame::{self, MAX_BYTES};
use super::words::{self, Links};
use crate::document::comparison::{self as document, Suite};
use crate::format::Options;
use crate::svg::forest;

/// Of the page: the style sheet, the records, and what surrounds the rest.
const FOR_TOP: usize = 400_000;
/// Charts of all pairs together.
const FOR_CHARTS: usize = 500_000;
/// The most figures of a suite that are drawn.
const MOST_DRAWN: usize = 400;
/// The longest name of a record.
const MAX_NAME: usize = 60;

pub(crate) fn write(comparison: &Comparison, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut charts = Budget::of(FOR_CHARTS);
    let mut tables = Budget::of(MAX_BYTES - FOR_TOP - FOR_CHARTS);
    let links = Links::none();
    let mut pairs = Vec::new();
    for pair in &comparison.pairs {
        let differences = blocks::each(&document::differences(pair), Level::Part, &links);
        pairs.push(tables.fill(differences, "parts"));
        for suite in document::suites(pair) {
            pairs.push(drawn(pair, &suite, comparison.band, &mut charts)?);
            let figures = [document::figures(pair, &suite)];
            pairs.push(tables.fill(blocks::each(&figures, Level::Part, &links), "tables"));
        }
        pairs.push(tables.fill(blocks::each(&document::reasons(pair), Level::Part, &links), "lists"));
    }
    let main = html! { div #figures { @for part in &pairs { (part) } } };
    let title = title(comparison);
    let header = head(comparison, &title, &links);
    let foot = blocks::all(&[document::legend(comparison)], Level::Part, &links);
    let page = frame::page(&format!("truebench compare: {title}"), "figures", &header, &main, &foot);
    out.write_all(&frame::bytes(page)?)
}

/// `b.json against a.json`; of several how many there are.
fn title(comparison: &Comparison) -> String {
    match comparison.records.as_slice() {
        [a, b] => format!("{} against {}", plain_to(&b.name, MAX_NAME), plain_to(&a.name, MAX_NAME)),
        records => counted(records.len(), "record"),
    }
}

fn head(comparison: &Comparison, title: &str, links: &Links) -> Markup {
    html! {
        p.brand { "truebench compare" }
        h1 { (title) }
        @for pair in &comparison.pairs {
            ul.verdicts aria-label=(document::against(pair)) {
                @for standing in Standing::ALL { @let count = pair.count(standing); @if count > 0 {
                    li class=(words::class(document::tone(standing))) {
                        b { (count) } " " (document::sign(standing)) " " (standing.word())
                    }
                } }
            }
        }
        (blocks::all(&document::top(comparison), Level::Part, links))
    }
}

/// The ratios of a suite as charts.
fn drawn(pair: &Pair, (suite, figures): &Suite, band: f64, charts: &mut Budget) -> io::Result<Markup> {
    let title = format!("{suite}: how many times as good as in {}?", pair.a);
    let has_merit = |figure: &&Compared| figure.merit().is_some();
    let figures: Vec<&Compared> = figures.iter().copied().filter(has_merit).take(MOST_DRAWN).collect();
    let pictures = forest::charts(pair, &title, &figures, band)?;
    Ok(html! { div.charts { (charts.fill(pictures.iter().map(chart), "charts")) } })
}
