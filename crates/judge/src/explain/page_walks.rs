//! What translation costs a load: chains of one size on small and on huge pages, in two orders.

use figure::evidence::{KERNEL, ORDER, PAGES_ASKED, WORKING_SET};
use figure::{Figure, Unit, format};

use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{Side, UNTOLD, side};

/// `order` of a chain that any element may follow in.
const RANDOM: &str = "random";
/// Differences below this share of the load are none to speak of.
const SAME: f64 = 0.03;
/// Where a share of walks this large is within the interval, none cannot be said to be there.
const VAGUE: f64 = 0.1;

pub(super) const RULE: Rule = Rule { name: "page-walks", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    if subject.figure.unit != Unit::NANOSECONDS {
        return None;
    }
    if subject.figure.derived_from.len() == 2 { difference(subject) } else { page_by_page(subject) }
}

fn latency(figure: &Figure) -> bool {
    usable(figure)
        && figure.conditions.get(KERNEL).as_deref() == Some("latency")
        && figure.unit == Unit::NANOSECONDS
}

/// A figure that is the difference of two sorts of pages.
fn difference(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let size = figure.conditions.get(WORKING_SET)?;
    let source =
        |index: usize| subject.record.figure(&figure.derived_from[index]).filter(|source| latency(source));
    let (small, huge) = (source(0)?, source(1)?);
    if small.conditions.get(PAGES_ASKED) == huge.conditions.get(PAGES_ASKED) {
        return None;
    }
    let share = figure.value? / small.value?;
    let cited = format!("{} ({}) against {} ({})", small.id, value(small), huge.id, value(huge));
    let told = figure.interval.as_ref().is_none_or(|interval| interval.low > 0.0);
    let whole = small.value?;
    let vague = figure.interval.as_ref().is_some_and(|interval| interval.high > whole * VAGUE);
    Some(if share >= SAME && told {
        format!(
            "{} of a load on small pages are page walks: {cited}; order, size and stride are the same, so that cache \
             misses are ruled out.",
            format::percent(share)
        )
    } else if vague {
        format!("Whether a load of {} takes page walks is not told: {cited}; {UNTOLD}.", format::bytes(size))
    } else {
        format!("Translations of {} are at hand on small pages too: {cited}.", format::bytes(size))
    })
}

/// A page-ordered chain against the random one of its size and pages.
fn page_by_page(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let order = figure.conditions.get(ORDER)?;
    if order == RANDOM || !latency(figure) {
        return None;
    }
    let random = subject.record.figures.iter().find(|other| {
        latency(other)
            && other.conditions.get(ORDER).as_deref() == Some(RANDOM)
            && other.conditions.get(PAGES_ASKED) == figure.conditions.get(PAGES_ASKED)
            && other.at == figure.at
    })?;
    let ratio = figure.value? / random.value?;
    let cited = format!("{} ({})", random.id, value(random));
    let times = format::percent(ratio);
    Some(match side(figure, random)? {
        Side::Below => format!(
            "Page by page a load takes {times} of {cited}: one walk serves all lines of a page, and prefetchers see more \
             than one line of it."
        ),
        Side::Same | Side::Above => format!(
            "Page by page gains nothing over {cited}: neither page walks nor prefetchers play a part at this size."
        ),
        Side::Untold => format!("Page by page a load takes {times} of {cited}; {UNTOLD}."),
    })
}
