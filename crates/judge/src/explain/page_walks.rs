//! What translation costs a load: chains of one size on small and on huge pages, in two orders.

use super::support::*;
use crate::relations::partner::{Side, side};

/// `order` of a chain that any element may follow in.
const RANDOM: &str = "random";
/// Differences below this share of the load are none.
const SAME: f64 = 0.03;
/// Where the interval includes a share of walks this large, it does not show that there are none.
const VAGUE: f64 = 0.1;

pub(super) fn case(subject: &Subject) -> Option<Memory> {
    if subject.figure.unit != Unit::NANOSECONDS {
        return None;
    }
    if subject.figure.derived_from.len() == 2 { difference(subject) } else { page_by_page(subject) }
}

fn is_latency(figure: &Figure) -> bool {
    figure.is_usable() && is(figure, KERNEL, "latency") && figure.unit == Unit::NANOSECONDS
}

/// A figure that is the difference of two sorts of pages.
fn difference(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let size = Bytes(figure.conditions.get(WORKING_SET)?);
    let source =
        |index: usize| subject.record.figure(&figure.derived_from[index]).filter(|source| is_latency(source));
    let (small, huge) = (source(0)?, source(1)?);
    if same(small, huge, PAGES_ASKED) {
        return None;
    }
    let (value, whole) = (figure.value?, small.value?);
    let (low, high) =
        figure.interval.as_ref().map_or((value, value), |interval| (interval.low, interval.high));
    let (small, huge) = (Cited::of(small)?, Cited::of(huge)?);
    match value >= whole * SAME && low > 0.0 {
        true => Some(Memory::PageWalks { share: Share(value / whole), small, huge }),
        false => (high <= whole * VAGUE).then_some(Memory::NoPageWalks { size, small, huge }),
    }
}

/// A page-ordered chain against the random one of its size and pages.
fn page_by_page(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let order = figure.conditions.get(ORDER)?;
    if order == RANDOM || !is_latency(figure) {
        return None;
    }
    let mut others = others(subject).filter(|other| is_latency(other) && is(other, ORDER, RANDOM));
    let random = others.find(|other| same(other, figure, PAGES_ASKED) && other.at == figure.at)?;
    let case = Memory::PageByPage { share: Share(figure.value? / random.value?), random: Cited::of(random)? };
    (side(figure, random)? == Side::Below).then_some(case)
}
