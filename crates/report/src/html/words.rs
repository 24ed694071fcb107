//! Values, verdicts and references, as every part of the page writes them.

use std::collections::HashMap;

use figure::format::{percent, plain_to};
use figure::{Figure, Outcome, Record, Verdict};
use maud::{Markup, html};

use crate::digits::with_unit;
use crate::{mark, reasons};

/// Where on the page a figure's details are.
#[derive(Debug)]
pub(super) struct Links<'a>(HashMap<&'a str, usize>);

impl<'a> Links<'a> {
    /// To the first figures, `most` of them.
    pub(super) fn to(record: &'a Record, most: usize) -> Links<'a> {
        // Of several with one id the first is meant.
        let first = record.figures.iter().take(most).enumerate().collect::<Vec<_>>();
        Links(first.into_iter().rev().map(|(at, figure)| (figure.id.as_str(), at)).collect())
    }

    /// To no figure.
    pub(super) fn none() -> Links<'a> {
        Links(HashMap::new())
    }

    /// A reference to a figure, in these words.
    pub(super) fn link(&self, id: &str, words: &str) -> Markup {
        match self.0.get(id) {
            Some(at) => html! { a href={ "#f" (at) } { (words) } },
            None => html! { (words) },
        }
    }

    /// References to figures by their ids, the first few of them.
    pub(super) fn list<'b>(&self, ids: impl ExactSizeIterator<Item = &'b str>) -> Markup {
        const MOST: usize = 3;
        let more = ids.len().saturating_sub(MOST);
        html! {
            @for (at, id) in ids.take(MOST).enumerate() {
                @if at > 0 { ", " }
                (self.link(id, &plain_to(id, 64)))
            }
            @if more > 0 { " and " (more) " more" }
        }
    }
}

/// The class of an element that shows a verdict.
pub(super) fn class(verdict: Option<Verdict>) -> String {
    verdict.map_or_else(|| "unjudged".to_owned(), |verdict| verdict.to_string())
}

/// `✓ valid`, `! suspect: steal`.
pub(super) fn verdict(figure: &Figure) -> Markup {
    let Some(verdict) = figure.verdict else {
        let words = if figure.value.is_some() { "not judged".to_owned() } else { figure.status.to_string() };
        return html! { span.verdict.unjudged { (words) } };
    };
    let reason = reasons::of(figure).into_iter().next();
    html! {
        span class={ "verdict " (verdict) } { (mark::of(verdict)) " " (verdict) }
        @if let Some(reason) = reason { span.reason { ": " (plain_to(&reason.id, 40)) } }
    }
}

/// `✓ pass`.
pub(super) fn outcome(outcome: Outcome) -> Markup {
    let like = match outcome {
        Outcome::Pass => Verdict::Valid,
        Outcome::Unknown => Verdict::Unverified,
        Outcome::Warn => Verdict::Suspect,
        Outcome::Fail => Verdict::Invalid,
    };
    html! { span class={ "verdict " (like) } { (mark::of(like)) " " (outcome) } }
}

/// The value with its unit; a dash without one.
pub(super) fn value(figure: &Figure) -> String {
    figure.value.map_or_else(|| "—".to_owned(), |value| with_unit(value, &figure.unit))
}

/// `± 0.9 %`, where there is an interval and it says something.
pub(super) fn half_width(figure: &Figure) -> Option<String> {
    let share = figure.interval.as_ref()?.relative_half_width(figure.value?);
    (share.is_finite() && share < 10.0).then(|| format!("± {}", percent(share)))
}

/// The value as a share of its limit: `72 %`.
pub(super) fn of_limit(figure: &Figure) -> Option<f64> {
    let limit = figure.limit.as_ref()?.value;
    Some(figure.value? / limit).filter(|share| share.is_finite() && (0.0..10.0).contains(share))
}

/// The share of a limit as a bar with its number; the words say it too.
pub(super) fn meter(figure: &Figure) -> Markup {
    let Some(share) = of_limit(figure) else { return html! { "—" } };
    // Widths in steps, so that no style stands in an attribute (which the policy of the page allows, but no record may write).
    let steps = (share * 20.0).round().clamp(0.0, 20.0);
    html! { span.share { span class={ "meter w" (steps) } aria-hidden="true" {} " " (percent(share)) } }
}
