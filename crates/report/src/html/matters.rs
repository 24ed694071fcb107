//! Whether the figures can be used, what they mean, why some are not valid and what to do, what is missing.

use figure::format::{counted, plain_to};
use figure::{Explanation, Figure, Record, Verdict};
use maud::{Markup, html};

use super::words::{self, Links};
use crate::reasons::Cause;
use crate::{mark, outline, reasons, summary};

/// The most causes, and the most reasons for missing figures.
const MOST: usize = 40;
/// The longest finding, in characters: what a paragraph may have.
const MAX_FINDING: usize = 1500;

/// Findings of these rules are the answer to the first question.
const ANSWERED: [&str; 2] = ["verdicts", "missing"];
/// Causes of one verdict at the top of the page.
const MOST_AT_TOP: usize = 2;

/// Whether the figures can be used: how many, and what spoils the others.
pub(super) fn usable(record: &Record, links: &Links) -> Markup {
    let all = reasons::causes(record.figures.iter());
    let first = |verdict| all.iter().filter(move |cause| cause.verdict == verdict).take(MOST_AT_TOP);
    let shown: Vec<&Cause> = first(Verdict::Invalid).chain(first(Verdict::Suspect)).collect();
    html! {
        section aria-labelledby="usable" {
            h2 #usable { "Can you use these numbers?" }
            p { strong { (summary::valid(record)) "." } }
            (list(record, &shown, links))
            @if all.len() > shown.len() { p.note { a href="#causes" { "All " (counted(all.len(), "cause")) } } }
        }
    }
}

/// What the figures mean: claims with their evidence.
pub(super) fn meaning(record: &Record, links: &Links) -> Markup {
    let is_answered = |finding: &&Explanation| ANSWERED.contains(&finding.rule.as_str());
    let claims: Vec<&Explanation> = record.findings.iter().filter(|finding| !is_answered(finding)).collect();
    if claims.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="findings" {
            h2 #findings { "What they mean" }
            ol.findings {
                @for finding in claims {
                    li class=(words::severity(finding.severity)) {
                        @let sign = mark::of_severity(finding.severity);
                        @if sign != "-" { span class={ "verdict " (words::severity(finding.severity)) } { (sign) } " " }
                        strong { (plain_to(&finding.claim, MAX_FINDING)) }
                        @if let Some(evidence) = &finding.evidence { p { (plain_to(evidence, MAX_FINDING)) } }
                        @if let Some(fix) = &finding.fix { pre.fix tabindex="0" { (plain_to(fix, MAX_FINDING)) } }
                        @if !finding.figures.is_empty() {
                            p { small { (links.list(finding.figures.iter().map(String::as_str))) } }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn causes(record: &Record, links: &Links) -> Markup {
    let causes = reasons::causes(record.figures.iter());
    if causes.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="causes" {
            h2 #causes { "Why figures are not valid" }
            (list(record, &causes.iter().take(MOST).collect::<Vec<_>>(), links))
        }
    }
}

fn list(record: &Record, causes: &[&Cause], links: &Links) -> Markup {
    html! {
        ul.causes {
            @for cause in causes {
                li {
                    span class={ "verdict " (cause.verdict) } { (mark::of(cause.verdict)) " " (cause.verdict) }
                    ": " strong { (plain_to(&cause.reason.id, 40)) } ", " (reasons::named(record, cause))
                    p { (reasons::told(record, cause)) }
                    @if let Some(fix) = &cause.reason.fix { p.fix { "Do: " (fix) } }
                    p { small {
                        (of(&cause.figures, links))
                        @if !cause.further.is_empty() { "; also: " (cause.further.join(", ")) }
                    } }
                }
            }
        }
    }
}

pub(super) fn missing(record: &Record, links: &Links) -> Markup {
    let missing = outline::without_value(record);
    let unobserved = reasons::unobserved(record.figures.iter());
    html! {
        @if !missing.is_empty() {
            section aria-labelledby="missing" {
                h2 #missing { "Not measured" }
                ul {
                    @for (status, reason, figures) in missing.iter().take(MOST) {
                        li { strong { (status) } ": " (reason) " " small { (of(figures, links)) } }
                    }
                }
            }
        }
        @if !unobserved.is_empty() {
            section aria-labelledby="unobserved" {
                h2 #unobserved { "Could not be observed here" }
                dl { @for (id, reason) in unobserved.iter().take(MOST) { div { dt { (id) } dd { (reason) } } } }
            }
        }
    }
}

fn of(figures: &[&Figure], links: &Links) -> Markup {
    links.list(figures.iter().map(|figure| figure.id.as_str()))
}
