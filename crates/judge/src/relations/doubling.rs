//! Does twice the array size give the same bandwidth?
//!
//! This is the only test of "memory, not cache" that needs no knowledge of the caches. Guests see last-level caches that
//! are hidden, have a wrong size, or are shared with neighbours (WSL #6964, cloud-hypervisor #1769).

use figure::evidence::{ARRAY_BYTES, CACHE_MEASURED, DATA_TOUCHED, LLC_BYTES, MEMORY_LIMITED_BY};
use figure::stats::Ratio;

use super::partner::{self, AGAIN, BASELINE, DOUBLED};
use crate::prelude::*;
use crate::values::Range;

/// Twice the arrays are as fast if the whole interval of the paired ratio is above 1 less this: a one-sided test of equivalence (Schuirmann
/// 1987), as a rise is no cache's. Twice the repetition that is aimed at, rounded up.
const BAND: f64 = 0.03;
/// At this fall a good part of the figure is cache: at a cache five times as fast as memory, 12 % of the
/// accesses served from it.
const FAIL_FALL: f64 = 0.10;
/// Arrays count as doubled from this ratio on; where memory is short they may not be quite twice as large.
const MIN_GROWTH: f64 = 1.5;
/// Pairs of rounds that a user may be asked for.
const MOST_PAIRS: f64 = 200.0;

pub const CHECK: Check = Check::new(page!("doubling"), applies, rule).essential_where(essential);

fn applies(subject: &Subject) -> bool {
    let role = partner::role(subject.figure);
    let of_kernel = partner::kernel(subject.figure).is_some() && subject.figure.series.is_none();
    of_kernel && matches!(role.as_deref(), None | Some(AGAIN | BASELINE))
}

/// Where the caches are shown or measured, the size rule answers the question; where they are not, nothing else can.
fn essential(subject: &Subject) -> bool {
    [LLC_BYTES, CACHE_MEASURED].into_iter().all(|caches| subject.fact(caches).reason().is_some())
}

fn rule(subject: &Subject) -> Answer {
    let doubling = match experiment(subject) {
        Reading::Value(doubling) => doubling,
        Reading::Unknown(reason) => return Answer::unknown(reason),
    };
    match doubling.outcome() {
        Outcome::Unknown => Answer::unknown(doubling.uncertainty()),
        outcome => Answer::of(outcome, doubling.case()),
    }
}

/// A figure and its like with doubled arrays.
pub(crate) struct Doubling<'a> {
    single: &'a Figure,
    doubled: &'a Figure,
    ratio: Ratio,
}

/// The experiment that speaks for the subject; unknown where it was not made or has too few rounds.
pub(crate) fn experiment<'a>(subject: &Subject<'a>) -> Reading<Doubling<'a>> {
    let Some(doubled) = doubled(subject) else {
        let limit = subject.fact(MEMORY_LIMITED_BY).into_value().filter(|limit| !limit.is_empty());
        let why = limit.map_or_else(String::new, |limit| format!(": {limit}"));
        return Reading::unknown(format!("not measured with doubled arrays{why}"));
    };
    if doubled.value.is_none() {
        let reason = doubled.reason.as_deref().unwrap_or("no reason recorded");
        return Reading::unknown(format!("no value with doubled arrays: {reason}"));
    }
    let Some(single) = single(subject, doubled) else {
        return Reading::unknown(format!("{} has no partner with half its arrays", doubled.id));
    };
    partner::paired(doubled, single).map(|ratio| Doubling { single, doubled, ratio })
}

impl Doubling<'_> {
    /// Pass: as fast. Warn and fail: slower for certain. Unknown: the interval allows both.
    pub(crate) fn outcome(&self) -> Outcome {
        let least = 1.0 - BAND;
        match self.ratio {
            Ratio { low, .. } if low >= least => Outcome::Pass,
            Ratio { value, high, .. } if value < 1.0 - FAIL_FALL && high < 1.0 => Outcome::Fail,
            Ratio { high, .. } if high < least => Outcome::Warn,
            _ => Outcome::Unknown,
        }
    }

    /// Bytes that a pass over the doubled arrays touches.
    pub(crate) fn data(&self) -> f64 {
        let conditions = &self.doubled.conditions;
        conditions.get(DATA_TOUCHED).or_else(|| conditions.get(ARRAY_BYTES)).unwrap_or(0.0)
    }

    pub(crate) fn case(&self) -> Arrays {
        let size = |figure: &Figure| Bytes(figure.conditions.get(ARRAY_BYTES).unwrap_or(f64::NAN));
        let (from, to) = (size(self.single), size(self.doubled));
        Arrays::Doubled { single: self.single.into(), ratio: (&self.ratio).into(), from, to }
    }

    /// Why the interval decides nothing, and how many pairs of rounds would: it narrows with the root of their number.
    pub(crate) fn uncertainty(&self) -> String {
        let Ratio { value, low, high, pairs } = self.ratio;
        let (range, least) = (Range::from(&self.ratio), 1.0 - BAND);
        let (half, margin) =
            if value >= least { (value - low, value - least) } else { (high - value, least - value) };
        let needed = (pairs as f64 * (half / margin).powi(2)).ceil();
        let needed = match needed <= MOST_PAIRS {
            true => format!("about {needed} rounds"),
            false => format!("more than {MOST_PAIRS} rounds"),
        };
        format!(
            "{} with doubled arrays is {range}: {pairs} pairs of rounds neither show nor exclude a fall of {:.0} %; {needed} may",
            self.single.id,
            100.0 * BAND
        )
    }
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
