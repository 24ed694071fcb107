//! Does twice the array size give the same bandwidth?
//!
//! This is the only test of "memory, not cache" that needs no knowledge of the caches. Guests see last-level caches that
//! are hidden, have a wrong size, or are shared with neighbours (WSL #6964, cloud-hypervisor #1769).

use figure::evidence::{ARRAY_BYTES, LLC_BYTES, MEMORY_LIMITED_BY};

use super::partner::{self, AGAIN, BASELINE, DOUBLED};
use crate::prelude::*;

/// A fall that measurement cannot make: twice the repetition that is aimed at, rounded up. All of the interval must lie below.
const WARN_FALL: f64 = 0.03;
/// At this fall a good part of the figure is cache: at a cache five times as fast as memory, 12 % of the
/// accesses served from it.
const FAIL_FALL: f64 = 0.10;
/// Arrays count as doubled from this ratio on; where memory is short they may not be quite twice as large.
const MIN_GROWTH: f64 = 1.5;

pub const CHECK: Check = Check::new(page!("doubling"), applies, rule).essential_where(essential);

fn applies(subject: &Subject) -> bool {
    let role = partner::role(subject.figure);
    let of_kernel = partner::kernel(subject.figure).is_some() && subject.figure.series.is_none();
    of_kernel && matches!(role.as_deref(), None | Some(AGAIN | BASELINE))
}

/// Where the caches are known, the size rule answers the question; where they are not, nothing else can.
fn essential(subject: &Subject) -> bool {
    matches!(subject.fact(LLC_BYTES), Reading::Unknown(_))
}

fn rule(subject: &Subject) -> Answer {
    let Some(doubled) = doubled(subject) else {
        let limit = subject.fact(MEMORY_LIMITED_BY).into_value().filter(|limit| !limit.is_empty());
        let why = limit.map_or_else(String::new, |limit| format!(": {limit}"));
        return Answer::unknown(format!("not measured with doubled arrays{why}"));
    };
    if doubled.value.is_none() {
        let reason = doubled.reason.as_deref().unwrap_or("no reason recorded");
        return Answer::unknown(format!("no value with doubled arrays: {reason}"));
    }
    let Some(single) = single(subject, doubled) else {
        return Answer::unknown(format!("{} has no partner with half its arrays", doubled.id));
    };
    let ratio = observed!(partner::paired(doubled, single));
    let fall = 1.0 - ratio.value;
    let outcome = match ratio.high {
        high if fall <= WARN_FALL || high >= 1.0 => Outcome::Pass,
        _ if fall > FAIL_FALL => Outcome::Fail,
        high if high < 1.0 - WARN_FALL => Outcome::Warn,
        _ => Outcome::Pass,
    };
    let size = |figure: &Figure| Bytes(figure.conditions.get(ARRAY_BYTES).unwrap_or(f64::NAN));
    let (from, to) = (size(single), size(doubled));
    Answer::of(outcome, Arrays::Doubled { single: single.into(), ratio: (&ratio).into(), from, to })
}

/// The figure with doubled arrays that speaks for the subject: of its own kernel and stores if there is one, else
/// of its stores, else any. It may have no value.
fn doubled<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    let of = subject.figure;
    let size = of.conditions.get(ARRAY_BYTES)?;
    let likeness = |other: &Figure| {
        let kernel = partner::kernel(other) == partner::kernel(of);
        let stores = partner::stores(other) == partner::stores(of);
        (other.value.is_some(), stores, kernel)
    };
    let fits = |other: &&Figure| {
        partner::role(other).as_deref() == Some(DOUBLED)
            && partner::same_setting(of, other)
            && other.conditions.get(ARRAY_BYTES).is_some_and(|bytes| bytes >= size * MIN_GROWTH)
    };
    subject.record.figures.iter().filter(fits).max_by_key(|other| likeness(other))
}

/// The headline that `doubled` doubles, with the subject's arrays.
fn single<'a>(subject: &Subject<'a>, doubled: &Figure) -> Option<&'a Figure> {
    subject.record.figures.iter().find(|other| {
        other.value.is_some()
            && partner::is_headline(other)
            && partner::kernel(other) == partner::kernel(doubled)
            && partner::stores(other) == partner::stores(doubled)
            && partner::same_setting(other, doubled)
            && partner::same_arrays(other, subject.figure)
    })
}
