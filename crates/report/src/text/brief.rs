//! A run on one screen: whether its figures can be used, the headline figures, and what they mean.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::Cell;
use figure::format::{plain, plain_to};
use figure::{Explanation, Record, Severity, Status, Verdict, causes};

use super::cells;
use super::page::{INDENT, Page};
use crate::digits::with_unit;
use crate::tables::section;
use crate::{Format, MIN_WIDTH, Options, headlines, mark, reasons, summary};

/// Lines of the page at 80 columns, without the line that names the report. What does not fit is in the report.
const MAX_LINES: usize = 38;
/// Causes that are named for one verdict, of one suite and of several.
const MOST_CAUSES: [usize; 2] = [2, 1];
/// Headline figures of a suite among several, and among many.
const MOST_FIGURES: [usize; 2] = [3, 2];
/// Suites from which on they are many.
const MANY: usize = 4;
/// The longest detail and the longest advice, in characters: two lines.
const MAX_DETAIL: usize = 150;
/// The longest description of the machine, in characters: three lines.
const MAX_MACHINE: usize = 230;
/// From this width on there is room for the share of the limit beside several suites.
const WIDTH_FOR_LIMIT_OF_SUITES: usize = 100;
/// The longest name of a figure.
const MAX_NAME: usize = 24;
/// Findings of these rules are the answer to the first question.
const ANSWERED: [&str; 2] = ["verdicts", "missing"];

pub(crate) const FORMAT: Format = Format {
    name: "summary",
    about: "one screen: can the figures be used, the headline figures, and what they mean",
    write,
};

fn write(record: &Record, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(options.width.max(MIN_WIDTH), options.colour, options.ascii);
    header(&mut page, record);
    usable(&mut page, record);
    table(&mut page, record);
    meaning(&mut page, record);
    if page.lines() > MAX_LINES {
        page.truncate(MAX_LINES - 1);
        page.aside("More in the report.");
    }
    out.write_all(page.text().as_bytes())
}

fn header(page: &mut Page, record: &Record) {
    let tool = &record.tool;
    let host =
        record.machine.hostname.value().map_or_else(String::new, |h| format!(" on {}", plain_to(h, 64)));
    page.title(&format!(
        "{} {}{host}, {}",
        plain_to(&tool.name, 40),
        plain_to(&tool.version, 40),
        plain_to(&record.started, 40)
    ));
    page.paragraph("", "", &plain_to(&record.machine.summary(), MAX_MACHINE));
    if let Some(reason) = &record.interrupted {
        let text = format!(
            "Not finished: {}. What was measured is below.",
            plain_to(reason, MAX_DETAIL).trim_end_matches('.')
        );
        page.item(mark::of(Verdict::Invalid), mark::severity_style(Severity::Error), &text);
    }
}

/// Whether the figures can be used: how many, and the first causes that spoil the others, with what mends them.
fn usable(page: &mut Page, record: &Record) {
    let of = |verdict| causes::tally(record, verdict).all;
    page.title(&format!("Can you use these numbers? {}", summary::valid(record)));
    let all = reasons::causes(record.figures.iter());
    let is_several = summary::suites(record).len() > 1;
    for verdict in [Verdict::Invalid, Verdict::Suspect] {
        let mut causes = all.iter().filter(|cause| cause.verdict == verdict);
        for cause in causes.by_ref().take(MOST_CAUSES[usize::from(is_several)]) {
            let count = cause.figures.len() + cause.following;
            let head = format!("{count} {verdict}: {}", cause.reason.id);
            page.item(mark::of(verdict), mark::style(mark::colour(verdict)), &head);
            let pad = " ".repeat(INDENT + 2);
            page.paragraph(&pad, &pad, &plain_to(&cause.reason.detail, MAX_DETAIL));
            if let Some(fix) = &cause.reason.fix {
                page.paragraph(&format!("{pad}do: "), &format!("{pad}    "), &plain_to(fix, MAX_DETAIL));
            }
        }
        let more: Vec<String> = causes
            .map(|cause| format!("{} {}", cause.reason.id, cause.figures.len() + cause.following))
            .collect();
        if !more.is_empty() {
            let text = format!("{verdict} for other causes: {}", more.join(", "));
            page.item(mark::of(verdict), mark::style(mark::colour(verdict)), &plain_to(&text, MAX_DETAIL));
        }
    }
    let without = |status| record.figures.iter().filter(|figure| figure.status == status).count();
    let others = [
        (of(Verdict::Unverified), "unverified".to_owned()),
        (without(Status::NotAvailable), Status::NotAvailable.to_string()),
        (without(Status::Failed), Status::Failed.to_string()),
        (without(Status::Interrupted), Status::Interrupted.to_string()),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        page.item("-", Style::new(), &others.join(", "));
    }
}

fn table(page: &mut Page, record: &Record) {
    let suites = headlines::of(record);
    let most = match suites.len() {
        0 | 1 => usize::MAX,
        count => MOST_FIGURES[usize::from(count >= MANY)],
    };
    let chosen: Vec<(&str, &headlines::Named)> = suites
        .iter()
        .flat_map(|(suite, figures)| figures.iter().take(most).map(move |named| (*suite, named)))
        .collect();
    if chosen.is_empty() {
        return;
    }
    page.gap();
    let least = if suites.len() > 1 { WIDTH_FOR_LIMIT_OF_SUITES } else { cells::WIDTH_FOR_LIMIT };
    let has_limit = page.width() >= least && chosen.iter().any(|(_, (_, figure))| figure.limit.is_some());
    let mut heads = vec!["suite", "figure", "value", "±"];
    heads.extend(has_limit.then_some("of limit"));
    let mut table = cells::empty(page);
    table.set_header(heads.iter().copied().chain(["verdict"]).map(cells::head));
    let mut above = "";
    for (suite, (name, figure)) in chosen {
        let shown = if suite == above { String::new() } else { plain_to(suite, 20) };
        above = suite;
        let value = figure.value.map_or_else(String::new, |value| with_unit(value, &figure.unit));
        let mut row = vec![shown, plain_to(name, MAX_NAME), value, section::half_width(figure)];
        row.extend(has_limit.then(|| section::of_limit(figure)));
        let row = row.into_iter().map(Cell::new).chain([cells::cause(figure)]);
        table.add_row(row);
    }
    cells::lay(&mut table, |at| (2..heads.len()).contains(&at));
    cells::print(page, &table);
    for (suite, reason) in headlines::missing(record) {
        let text = format!("{}: not measured: {}", plain_to(suite, 20), plain_to(reason, MAX_DETAIL));
        page.item("!", mark::severity_style(Severity::Warning), &text);
    }
}

/// The claims that fit on the screen, each with its evidence.
fn meaning(page: &mut Page, record: &Record) {
    let is_answered = |finding: &&Explanation| ANSWERED.contains(&finding.rule.as_str());
    let claims: Vec<&Explanation> = record.findings.iter().filter(|finding| !is_answered(finding)).collect();
    if claims.is_empty() {
        return;
    }
    page.title("What they mean");
    for (at, claim) in claims.iter().enumerate() {
        let before = page.lines();
        let mark = mark::of_severity(claim.severity);
        page.item(mark, mark::severity_style(claim.severity), &plain(&claim.text()));
        if let Some(fix) = &claim.fix {
            page.fix(fix);
        }
        // The last line says how many are left; where there is no room for the evidence, the claim stands alone.
        let is_full = |page: &Page| page.lines() + usize::from(at + 1 < claims.len()) > MAX_LINES;
        if is_full(page) {
            page.truncate(before);
            page.item(mark, mark::severity_style(claim.severity), &plain_to(&claim.claim, MAX_DETAIL));
        }
        if is_full(page) {
            page.truncate(before);
            page.aside(&format!("{} more in the report", claims.len() - at));
            return;
        }
    }
}
