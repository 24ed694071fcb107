//! Are the arrays large enough to be read from memory, not from cache?

use figure::evidence::audit::CACHED;
use figure::evidence::{
    ARRAY_BYTES, CACHE_MEASURED, INSTRUMENT_ARRAY, Key, LLC_BASIS, LLC_BYTES, MEMORY_LIMITED_BY, WORKING_SET,
};
use figure::host::MeasuredCache;

use crate::prelude::*;
use crate::relations::doubling;

/// Each array against the caches together: STREAM's rule (stream.c, "each array must be at least 4 times the
/// size of the available cache memory"). With less, part of what is counted comes from cache: even with
/// random replacement a cache of a quarter of an array keeps something from one pass to the next.
pub const CACHES: f64 = 4.0;
/// Bytes of the largest last-level cache of one socket when this was written (EPYC 9684X).
const LARGEST_CACHE: f64 = 1.21e9;

/// The array against all last-level caches that the CPUs in use can fill, and their L2, which a non-inclusive last level does not hold again.
/// Guests see caches that are hidden, that they share, or that are not there: so an experiment overrules the sizes that are shown: a measured
/// cache, or arrays twice as large. A working set is in cache by design.
pub const CHECK: Check = Check::essential(
    page!("array-size"),
    |subject| {
        let is_of_other =
            measured(subject) && (subject.fact(INSTRUMENT_ARRAY).reason().is_none() || hides_array(subject));
        let is_of_device = is_audited(subject) && cached(subject).is_some();
        is_of_device || (on_arrays(subject) || is_of_other) && subject.condition(WORKING_SET).is_none()
    },
    |subject| match cached(subject).filter(|_| is_audited(subject)) {
        Some(reason) => Answer::warn(Texts::Cached { reason }),
        None => rule(subject),
    },
)
.audited();

/// Why data came from memory where a device was to be measured.
fn cached(subject: &Subject) -> Option<String> {
    subject.fact(CACHED).into_value()
}

/// Each array in sizes of all caches in use.
pub fn caches_per_array(subject: &Subject) -> Reading<f64> {
    arrays_in(subject, LLC_BYTES)
}

/// Printed by a tool with arrays whose size the text does not show.
fn hides_array(subject: &Subject) -> bool {
    is_audited(subject) && subject.figure.evidence.iter().any(|(name, _)| name == INSTRUMENT_ARRAY.name)
}

/// Bytes of each array, of truebench or of the program next to it.
fn array(subject: &Subject) -> Option<f64> {
    subject.condition(ARRAY_BYTES).or_else(|| subject.fact(INSTRUMENT_ARRAY).into_value())
}

fn arrays_in(subject: &Subject, caches: Key<f64>) -> Reading<f64> {
    let Some(array) = array(subject) else {
        let reason =
            subject.fact(INSTRUMENT_ARRAY).reason().map(str::to_owned).filter(|_| hides_array(subject));
        return Reading::unknown(
            reason.unwrap_or_else(|| "the array size of the figure is unknown".to_owned()),
        );
    };
    match subject.fact(caches) {
        Reading::Value(caches) if caches <= 0.0 => Reading::unknown("no cache is shown"),
        caches => caches.map(|caches| array / caches),
    }
}

pub(super) fn rule(subject: &Subject) -> Answer {
    let experiment = doubling::experiment(subject);
    if let Reading::Value(doubling) = &experiment
        && doubling.outcome() == Outcome::Fail
    {
        return Answer::fail(doubling.case());
    }
    let shown = caches_per_array(subject);
    let measured = arrays_in(subject, CACHE_MEASURED);
    let is_hidden = measured.value().is_some_and(|times| *times < CACHES / MeasuredCache::PARTS as f64);
    if let Reading::Value(times) = shown
        && times >= CACHES
        && !is_hidden
    {
        return Answer::pass(size(subject, times));
    }
    let array = Bytes(array(subject).unwrap_or(0.0));
    if let Reading::Value(times) = measured
        && times >= CACHES
    {
        let (measured, shown) =
            (Bytes(array.0 / times), shown.into_value().map(|times| Bytes(array.0 / times)));
        return Answer::pass(Arrays::ArrayMeasured { array, times: Times(times), measured, shown });
    }
    // Where a cache holds even the doubled arrays, these are as fast, too.
    let known =
        [LLC_BYTES, CACHE_MEASURED].into_iter().filter_map(|caches| subject.fact(caches).into_value());
    let largest = known.reduce(f64::max).unwrap_or(LARGEST_CACHE);
    match (shown, experiment) {
        (_, Reading::Value(doubling)) if doubling.data() > largest => match doubling.outcome() {
            Outcome::Unknown => Answer::unknown(doubling.uncertainty()),
            outcome => Answer::of(outcome, doubling.case()),
        },
        // Without an experiment it is not known how much of an array that is somewhat larger stays in cache.
        (Reading::Value(times), _) => Answer::of(
            if is_audited(subject) && times >= 1.0 { Outcome::Warn } else { Outcome::Fail },
            size(subject, times),
        ),
        (Reading::Unknown(caches), Reading::Unknown(doubled)) => {
            Answer::unknown(format!("{caches}; {doubled}"))
        }
        (Reading::Unknown(caches), Reading::Value(_)) => {
            Answer::unknown(format!("{caches}; a large cache may hold even the doubled arrays"))
        }
    }
}

fn size(subject: &Subject, times: f64) -> Arrays {
    let array = array(subject).unwrap_or(0.0);
    let some = |text: &String| !text.is_empty();
    Arrays::ArraySize {
        array: Bytes(array),
        times: Times(times),
        caches: Bytes(array / times),
        measured: subject.fact(CACHE_MEASURED).into_value().map(Bytes),
        basis: subject.fact(LLC_BASIS).into_value().filter(some),
        limit: subject.fact(MEMORY_LIMITED_BY).into_value().filter(some),
        is_printed: is_audited(subject),
    }
}
