//! A comparison as one page, in the style of a record's: what differs, what is out of line, ratios as charts and tables.

use std::io::{self, Write};

use figure::format::{counted, plain, plain_to};
use maud::{Markup, html};

use compare::{Compared, Comparison, Pair, Selection, Standing};

use super::words;
use crate::Options;
use crate::digits::MAX_UNIT;
use crate::html::budget::Budget;
use crate::html::charts::chart;
use crate::html::frame::{self, MAX_BYTES};
use crate::html::tables::framed;
use crate::html::words::sign;
use crate::svg::forest;

/// Of the page: the style sheet, the records, what is out of line and what surrounds the rest.
const FOR_TOP: usize = 400_000;
/// Charts of all pairs together.
const FOR_CHARTS: usize = 500_000;
/// The most figures of a suite that are shown, suites of a pair, differences, tests that are out of line, reasons, and names of a
/// list.
const MOST_FIGURES: usize = 400;
const MOST_SUITES: usize = 12;
const MOST_DIFFERENCES: usize = 100;
const MOST_ABNORMAL: usize = 20;
const MOST_REASONS: usize = 40;
const MOST_LISTED: usize = 12;
/// The longest name, and the longest value of what differs.
const MAX_NAME: usize = 60;
const MAX_VALUE: usize = 120;

pub(super) fn write(comparison: &Comparison, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut charts = Budget::of(FOR_CHARTS);
    let mut tables = Budget::of(MAX_BYTES - FOR_TOP - FOR_CHARTS);
    let mut pairs = Vec::new();
    for pair in &comparison.pairs {
        pairs.push(of_pair(pair, comparison, &mut charts, &mut tables)?);
    }
    let main = html! {
        @if let Some(selection) = &comparison.selection { (hosts(selection, comparison)) }
        div #figures { @for pair in &pairs { (pair) } }
    };
    let title = format!("truebench compare: {}", title(comparison));
    let page = frame::page(&title, "figures", &head(comparison), &main, &foot(comparison));
    out.write_all(&frame::bytes(page)?)
}

/// `b.json against a.json`; of several how many there are.
fn title(comparison: &Comparison) -> String {
    match comparison.records.as_slice() {
        [a, b] => format!("{} against {}", plain_to(&b.name, MAX_NAME), plain_to(&a.name, MAX_NAME)),
        records => counted(records.len(), "record"),
    }
}

fn head(comparison: &Comparison) -> Markup {
    html! {
        p.brand { "truebench compare" }
        h1 { (title(comparison)) }
        dl.run { @for host in &comparison.records {
            div { dt { (host.letter) } dd { (plain_to(&words::host(host), 600)) } }
        } }
        @if comparison.forced { p.interrupted { span.verdict.invalid { "✗ forced" } ": " (words::FORCED) } }
        @for pair in &comparison.pairs {
            p { (plain_to(&words::summary(pair), 600)) }
            ul.verdicts aria-label={ (pair.b) " against " (pair.a) } {
                @for standing in Standing::ALL { @let count = pair.count(standing); @if count > 0 {
                    li class=(class(standing)) { b { (count) } " " (mark(standing)) " " (standing.word()) }
                } }
            }
        }
    }
}

/// The class that has the standing's colour.
fn class(standing: Standing) -> &'static str {
    match standing {
        Standing::Faster => "valid",
        Standing::Slower => "invalid",
        Standing::Same => "unjudged",
        Standing::Changed => "suspect",
        Standing::Inconclusive => "unverified",
        Standing::NotComparable => "suspect",
    }
}

/// The sign before a standing, which says the same as its colour.
fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Faster => "▲",
        Standing::Slower => "▼",
        Standing::Same => "=",
        Standing::Changed => "≠",
        Standing::Inconclusive => "?",
        Standing::NotComparable => "–",
    }
}

fn of_pair(
    pair: &Pair,
    comparison: &Comparison,
    charts: &mut Budget,
    tables: &mut Budget,
) -> io::Result<Markup> {
    let against = format!("{} against {}", pair.b, pair.a);
    let mut suites: Vec<(&str, Vec<&Compared>)> = Vec::new();
    for figure in pair.figures.iter().filter(|figure| figure.ratio.is_some()) {
        match suites.iter_mut().find(|(suite, _)| *suite == figure.suite) {
            Some((_, figures)) => figures.push(figure),
            None => suites.push((&figure.suite, vec![figure])),
        }
    }
    let mut parts = Vec::new();
    for (suite, figures) in suites.iter().take(MOST_SUITES) {
        let shown = &figures[..figures.len().min(MOST_FIGURES)];
        let title = plain_to(suite, 40);
        let ratios = format!("{title}: how many times as good as in {}", pair.a);
        let drawn: Vec<&Compared> = shown.iter().copied().filter(|figure| figure.merit().is_some()).collect();
        let pictures = forest::charts(pair, &ratios, &drawn, comparison.band)?;
        let drawn = charts.fill(pictures.iter().map(chart), "charts");
        let table = tables.fill([figures_table(pair, &title, shown)], "tables");
        parts.push((title, drawn, table, figures.len() - shown.len()));
    }
    let left_out = suites.len().saturating_sub(MOST_SUITES);
    Ok(html! {
        (tables.fill([differences(pair, &against)], "tables"))
        (tables.fill([abnormal(pair, &against)], "lists"))
        section aria-labelledby={ "figures-" (pair.b) } {
            h2 id={ "figures-" (pair.b) } { "Figures, " (against) }
            @if parts.is_empty() { p.note { "Not one figure could be compared." } }
            @for (title, drawn, table, more) in &parts {
                h3 { (title) }
                div.charts { (drawn) }
                (table)
                @if *more > 0 { p.note { (counted(*more, "figure")) " more: --format json has them." } }
            }
            @if left_out > 0 { p.note { (counted(left_out, "suite")) " more: --format json has them." } }
        }
        (tables.fill([reasons(pair, &against)], "lists"))
    })
}

fn differences(pair: &Pair, against: &str) -> Markup {
    let table = html! { table {
        thead { tr { th scope="col" { "what" } th scope="col" { (pair.a) } th scope="col" { (pair.b) } } }
        tbody { @for difference in pair.differences.iter().take(MOST_DIFFERENCES) { tr {
            th scope="row" {
                (plain_to(&difference.about, MAX_NAME))
                @if difference.figures > 0 { small { " " (counted(difference.figures, "figure")) } }
            }
            td { (plain_to(&difference.a, MAX_VALUE)) }
            td { (plain_to(&difference.b, MAX_VALUE)) }
        } } }
    } };
    let more = pair.differences.len().saturating_sub(MOST_DIFFERENCES);
    html! {
        section aria-labelledby={ "differs-" (pair.b) } {
            h2 id={ "differs-" (pair.b) } { "What differs, " (against) }
            @if pair.differences.is_empty() { p { "Nothing that the records hold." } } @else { (framed("what differs", &table)) }
            @if more > 0 { p.note { (more) " more: --format json has them." } }
        }
    }
}

fn abnormal(pair: &Pair, against: &str) -> Markup {
    let more = pair.abnormal.len().saturating_sub(MOST_ABNORMAL);
    html! { @if !pair.abnormal.is_empty() {
        section aria-labelledby={ "abnormal-" (pair.b) } {
            h2 id={ "abnormal-" (pair.b) } { "Out of line, " (against) }
            ul.causes { @for one in pair.abnormal.iter().take(MOST_ABNORMAL) { li {
                span.verdict.suspect { "!" } " " (plain_to(&words::abnormal(one, plain), 2000))
            } } }
            @if more > 0 { p.note { (more) " more: --format json has them." } }
        }
    } }
}

fn figures_table(pair: &Pair, title: &str, figures: &[&Compared]) -> Markup {
    let table = html! { table {
        thead { tr {
            th scope="col" { "figure" }
            th.number scope="col" { (pair.a) }
            th.number scope="col" { (pair.b) }
            th scope="col" { "unit" }
            th.number scope="col" { "ratio" }
            th.number scope="col" { "95 %" }
            th scope="col" { "verdict" }
        } }
        tbody { @for figure in figures { @if let Some(ratio) = &figure.ratio { tr {
            th scope="row" title=(plain_to(&figure.id, MAX_NAME)) { (words::label(pair, figure, MAX_NAME)) }
            @for (value, verdict) in [figure.a, figure.b].into_iter().zip(figure.verdicts) {
                td.number { (words::value(value)) (sign(verdict)) }
            }
            td { (plain_to(&figure.unit, MAX_UNIT)) }
            td.number { b { (words::ratio(ratio.value)) } }
            td.number { (words::interval(ratio).unwrap_or_else(|| "—".to_owned())) }
            td { span class={ "verdict " (class(figure.standing)) } { (mark(figure.standing)) " " (words::verdict(figure)) } }
        } } } }
    } };
    framed(title, &table)
}

/// What is not comparable, what has no interval, what was disturbed, and what only one record has.
fn reasons(pair: &Pair, against: &str) -> Markup {
    let groups = words::groups(pair);
    let more = groups.len().saturating_sub(MOST_REASONS);
    html! { @if !groups.is_empty() {
        section aria-labelledby={ "know-" (pair.b) } {
            h2 id={ "know-" (pair.b) } { "What to know, " (against) }
            ul.causes { @for (why, names) in groups.iter().take(MOST_REASONS) { li {
                (plain_to(why, 400)) ": "
                small {
                    (names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", "))
                    @if names.len() > MOST_LISTED { " and " (names.len() - MOST_LISTED) " more" }
                }
            } } }
            @if more > 0 { p.note { (more) " reasons more: --format json has them." } }
        }
    } }
}

fn hosts(selection: &Selection, comparison: &Comparison) -> Markup {
    let table = html! { table {
        thead { tr {
            th scope="col" { "record" }
            @for (class, ids) in &selection.classes { th.number scope="col" { (plain_to(class, 40)) " (" (ids.len()) ")" } }
        } }
        tbody { @for (host, row) in comparison.records.iter().zip(&selection.rows) { tr {
            th scope="row" { (host.letter) small { " " (plain_to(&host.name, 40)) } }
            @for cell in row { td.number { (words::cell(cell, true)) } }
        } } }
    } };
    html! {
        section aria-labelledby="classes" {
            h2 #classes { "By class: geometric mean of the ratios to A" }
            (framed("records by class", &table))
            ul { @for text in words::selection(selection) { li { (plain_to(&text, 600)) } } }
        }
    }
}

fn foot(comparison: &Comparison) -> Markup {
    html! { p { (words::legend(comparison)) } }
}
