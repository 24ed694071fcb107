//! Are the arrays large enough to be read from memory, not from cache?

use figure::evidence::{ARRAY_BYTES, LLC_BASIS, LLC_BYTES, MEMORY_LIMITED_BY, ROLE, WORKING_SET};

use crate::prelude::*;

/// Each array against the caches together: STREAM's rule (stream.c, "each array must be at least 4 times the
/// size of the available cache memory"). With less, part of what is counted comes from cache: even with
/// random replacement a cache of a quarter of an array keeps something from one pass to the next.
pub const CACHES: f64 = 4.0;

/// Array size against all last-level caches that the CPUs in use can fill, and their L2, which a
/// non-inclusive last level does not hold again.
/// A working set is in cache by design.
/// Where caches are hidden, doubling the arrays answers the same question by experiment.
pub const CHECK: Check = Check::new(
    page!("array-size"),
    |subject| on_arrays(subject) && subject.condition(WORKING_SET).is_none(),
    rule,
)
.essential_where(|subject| !doubled(subject))
.audited();

fn doubled(subject: &Subject) -> bool {
    subject.record.figures.iter().any(|figure| {
        figure.suite == subject.figure.suite
            && figure.value.is_some()
            && figure.conditions.get(ROLE).as_deref() == Some("doubled")
    })
}

/// Each array in sizes of all caches in use.
pub fn caches_per_array(subject: &Subject) -> Reading<f64> {
    let Some(array) = subject.condition(ARRAY_BYTES) else {
        return Reading::unknown("the array size of the figure is unknown");
    };
    match subject.fact(LLC_BYTES) {
        Reading::Value(caches) if caches <= 0.0 => Reading::unknown("no cache is shown"),
        caches => caches.map(|caches| array / caches),
    }
}

fn rule(subject: &Subject) -> Answer {
    let times = observed!(caches_per_array(subject));
    let array = subject.condition(ARRAY_BYTES).unwrap_or(0.0);
    let some = |text: &String| !text.is_empty();
    let size = Arrays::ArraySize {
        array: Bytes(array),
        times: Times(times),
        caches: Bytes(array / times),
        basis: subject.fact(LLC_BASIS).into_value().filter(some),
        limit: subject.fact(MEMORY_LIMITED_BY).into_value().filter(some),
        is_printed: is_audited(subject),
    };
    Answer::fail_if(times < CACHES, size)
}
