//! What matters most: findings in their order, why figures are not valid and what to do, what is missing.

use figure::format::plain_to;
use figure::{Figure, Record};
use maud::{Markup, html};

use super::words::{self, Links};
use crate::{mark, matters as ordered, outline, reasons};

/// The most causes, and the most reasons for missing figures.
const MOST: usize = 40;
/// The longest finding, in characters: what a paragraph may have.
const MAX_FINDING: usize = 1500;

pub(super) fn findings(record: &Record, links: &Links) -> Markup {
    if record.findings.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="findings" {
            h2 #findings { "What matters most" }
            ol.findings {
                @for finding in ordered::findings(record) {
                    li class=(words::severity(finding.severity)) {
                        @let sign = mark::of_severity(finding.severity);
                        @if sign != "-" { span class={ "verdict " (words::severity(finding.severity)) } { (sign) } " " }
                        (plain_to(&finding.text(), MAX_FINDING))
                        @if !finding.figures.is_empty() {
                            " " small { (links.list(finding.figures.iter().map(String::as_str))) }
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
            ul.causes {
                @for cause in causes.iter().take(MOST) {
                    li {
                        span class={ "verdict " (cause.verdict) } { (mark::of(cause.verdict)) " " (cause.verdict) }
                        ": " strong { (plain_to(&cause.reason.id, 40)) } ", " (reasons::named(record, cause))
                        p { (reasons::told(record, cause)) }
                        @if let Some(fix) = &cause.reason.fix { p.fix { "Do: " code { (fix) } } }
                        p { small {
                            (of(&cause.figures, links))
                            @if !cause.further.is_empty() { "; also: " (cause.further.join(", ")) }
                        } }
                    }
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
                        li { strong { (outline::state(*status)) } ": " (reason) " " small { (of(figures, links)) } }
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
