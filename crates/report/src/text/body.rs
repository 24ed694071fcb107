//! What is said below the tables: findings, causes with their remedies, explanations, and what is missing.

use anstyle::Style;
use figure::format::{counted, plain};
use figure::{Figure, Record, Verdict};

use super::page::{INDENT, Page};
use super::walk;
use crate::{loads, mark, outline, reasons, summary};

/// The most reasons for repeated rounds that are listed.
const MAX_REASONS: usize = 3;

/// What matters most.
pub(super) fn findings(page: &mut Page, record: &Record) {
    if record.findings.is_empty() {
        return;
    }
    page.title("Findings");
    for finding in &record.findings {
        let style = mark::severity_style(finding.severity);
        page.item(mark::of_severity(finding.severity), style, &plain(&finding.text()));
        if let Some(fix) = &finding.fix {
            page.fix(fix);
        }
    }
}

/// Why figures are not valid: each cause once, with the figures it spoils and what to do.
pub(super) fn causes(page: &mut Page, record: &Record) {
    let causes = reasons::causes(record.figures.iter());
    if causes.is_empty() {
        return;
    }
    page.title("Why not valid");
    for cause in &causes {
        let style = mark::style(mark::colour(cause.verdict));
        let head = format!("{}: {}", cause.reason.id, reasons::named(record, cause));
        page.item(mark::of(cause.verdict), style, &head);
        let pad = " ".repeat(INDENT + 2);
        page.paragraph(&pad, &pad, &reasons::told(record, cause));
        if let Some(fix) = &cause.reason.fix {
            page.paragraph(&format!("{pad}do: "), &format!("{pad}    "), fix);
        }
        if !cause.further.is_empty() {
            page.paragraph(&format!("{pad}also: "), &format!("{pad}      "), &cause.further.join(", "));
        }
    }
}

/// Why the figures are what they are: each case once, with the figures that share it.
/// An invalid figure explains nothing, and its cause has been told.
pub(super) fn explanations(page: &mut Page, record: &Record) {
    let mut told: Vec<(String, String, Vec<&Figure>)> = Vec::new();
    let standing = |figure: &&Figure| figure.verdict != Some(Verdict::Invalid);
    // What only its load is to blame for has been told with the load.
    let echoes = |figure: &Figure| {
        let follows = figure::causes::first_reason(figure).is_some_and(|reason| reason.cause.is_some());
        follows
            && loads::is_computed(figure)
            && figure.explanations.first().is_some_and(|first| first.rule == "cause")
    };
    let told_elsewhere = |figure: &Figure| walk::is_drawn(figure) || echoes(figure);
    for figure in record.figures.iter().filter(standing).filter(|figure| !told_elsewhere(figure)) {
        let Some(why) = figure.why().map(|why| plain(&why)) else { continue };
        let cases = figure.explanations.iter().map(|explanation| match explanation.case.as_str() {
            "" => without_numbers(&explanation.text()),
            case => format!("{}/{case}", explanation.rule),
        });
        let sort = format!("{} {}", figure.suite, cases.collect::<Vec<_>>().join(" "));
        match told.iter_mut().find(|(known, ..)| *known == sort) {
            Some((.., figures)) => figures.push(figure),
            None => told.push((sort, why, vec![figure])),
        }
    }
    if told.is_empty() {
        return;
    }
    page.title("Why the figures are what they are");
    let names: Vec<String> = told.iter().map(|(.., figures)| outline::listed(record, figures)).collect();
    let column = column(&names);
    for ((_, why, figures), name) in told.iter().zip(&names) {
        let alike = figures.iter().all(|figure| figure.why().map(|own| plain(&own)).as_ref() == Some(why));
        match figures.first() {
            Some(first) if !alike => {
                page.entry(INDENT, name, column, &format!("{}: {why}", outline::short_id(record, first)));
            }
            _ => page.entry(INDENT, name, column, why),
        }
    }
}

/// The sentence without its numbers: what points have in common whose sentences differ in numbers alone.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

/// The width of a column of names: that of the longest, but no outlier decides.
fn column(names: &[String]) -> usize {
    /// A wider column takes too much from the sentences beside it.
    const MAX_COLUMN: usize = 22;
    let width = |name: &String| textwrap::core::display_width(name);
    names.iter().map(width).filter(|width| *width <= MAX_COLUMN).max().unwrap_or(MAX_COLUMN)
}

/// Figures that have no value, and why.
pub(super) fn without_value(page: &mut Page, record: &Record) {
    let groups = outline::without_value(record);
    if groups.is_empty() {
        return;
    }
    page.title("Not measured");
    for (status, reason, figures) in &groups {
        let state = status;
        page.item("-", Style::new(), &format!("{}: {state}: {reason}", outline::listed(record, figures)));
    }
}

/// What could not be seen here and therefore was not judged.
pub(super) fn unobserved(page: &mut Page, record: &Record) {
    let unobserved = reasons::unobserved(record.figures.iter());
    if unobserved.is_empty() {
        return;
    }
    page.title("Could not be observed here");
    let names: Vec<String> = unobserved.iter().map(|(id, _)| id.clone()).collect();
    let column = column(&names);
    for (id, detail) in &unobserved {
        page.entry(INDENT, id, column, detail);
    }
}

/// How many rounds were disturbed, and by what.
pub(super) fn rounds(page: &mut Page, record: &Record) {
    let (all, dropped, why) = summary::disturbed(record);
    if dropped == 0 {
        return;
    }
    let mut parts: Vec<String> =
        why.iter().take(MAX_REASONS).map(|(reason, count)| format!("{count} × {reason}")).collect();
    let more: usize = why.iter().skip(MAX_REASONS).map(|(_, count)| count).sum();
    if more > 0 {
        parts.push(format!("{more} × for other reasons"));
    }
    page.title("Rounds set aside");
    let text = format!("{dropped} of {}: {}", counted(all, "round"), parts.join("; "));
    page.item("-", Style::new(), &text);
}

/// Where to go from here.
pub(super) fn next(page: &mut Page, record: &Record, saved_to: Option<&str>) {
    page.gap();
    let causes = reasons::causes(record.figures.iter());
    let topic = causes.first().map_or("verdict", |cause| &cause.reason.id);
    page.paragraph("", "  ", &format!("More: truebench explain {topic}"));
    match saved_to {
        Some(path) => page.paragraph("", "  ", &format!("Record, with all rounds and evidence: {path}")),
        None => page.paragraph("", "  ", "Not saved; to keep all rounds and evidence: --format json -o FILE"),
    }
}
