//! Is this the latency of memory, not of caches and prefetchers?

use figure::evidence::audit::{DISTURBED, GROWTH, RANDOM_LATENCY, UNDER_MORE_LOAD, UNLOADED};
use figure::evidence::{ARRAY_BYTES, INSTRUMENT_ARRAY, KERNEL};

use super::array_size::{CACHES, caches_per_array};
use crate::prelude::*;

/// Nanoseconds that no load from memory is faster than. To open a row and read from it takes modules of the standard's grades some 27 ns
/// (tRCD + CL), an open row half of that, and the way through the caches and the controller more than 10 ns.
const FASTEST: f64 = 25.0;
/// Of the latency in random order: below, a walk in order was helped by prefetchers, or saved page walks.
const OF_RANDOM: f64 = 0.5;
/// Growth from half the array to the whole from which on there is no plateau: caches or page walks still count.
const GROWTH_LIMIT: f64 = 1.10;

/// By what share a latency may be above one under more load, or below the one without load. Repetitions of Intel MLC differ by 3 %; under
/// full load, latencies of mm-mem's own example differ by 11 %.
const OUT_OF_ORDER: f64 = 0.15;

/// A latency that is named memory's, by what else the text shows.
///
/// A walk with an even stride is known to the prefetchers, so that it shows a cache's latency in arrays of any size; `lat_mem_rd -t` walks in
/// random order. Load makes no latency shorter: one that rises where the load falls was disturbed, by others or by the clock.
pub const CHECK: Check = Check::new(
    page!("memory-latency"),
    |subject| {
        let is_known = has_array(subject) || prints(subject, RANDOM_LATENCY);
        let is_known = is_known
            || prints(subject, UNDER_MORE_LOAD)
            || prints(subject, UNLOADED)
            || prints(subject, DISTURBED);
        is_audited(subject) && measured(subject) && subject.is(KERNEL, "latency") && is_known
    },
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let value = subject.figure.value.unwrap_or(0.0);
    let nanoseconds = |value| Amount { value, unit: Unit::NANOSECONDS };
    let latency = nanoseconds(value);
    if let Reading::Value(random) = subject.typical(RANDOM_LATENCY) {
        let case = Texts::RandomOrder { latency, random: nanoseconds(random) };
        return Answer::warn_if(value < OF_RANDOM * random, case);
    }
    let ordered = under_load(subject, value);
    if let Some(answer) = ordered.filter(|answer| answer.outcome != Outcome::Pass || !has_array(subject)) {
        return answer;
    }
    let growth = subject.typical(GROWTH).into_value().unwrap_or(1.0);
    let share = Share(1.0 - 1.0 / growth.max(1.0));
    match caches_per_array(subject) {
        Reading::Value(times) if times >= CACHES && value < FASTEST => {
            Answer::fail(Texts::Prefetched { latency, times: Times(times), least: nanoseconds(FASTEST) })
        }
        _ if growth >= GROWTH_LIMIT => Answer::warn(Texts::Rising { share }),
        Reading::Value(times) => Answer::pass(Texts::Plateau { latency, times: Times(times), share }),
        Reading::Unknown(reason) => Answer::unknown(reason),
    }
}

/// Whether the text shows the array.
fn has_array(subject: &Subject) -> bool {
    subject.condition(ARRAY_BYTES).is_some() || subject.fact(INSTRUMENT_ARRAY).value().is_some()
}

/// Whether the latency is in order among those under other loads; `None` if the text has no such.
fn under_load(subject: &Subject, value: f64) -> Option<Answer> {
    let amount = |value| Amount { value, unit: Unit::NANOSECONDS };
    let known = |key| subject.typical(key).into_value();
    let (more, unloaded) = (known(UNDER_MORE_LOAD), known(UNLOADED));
    let more = more.map(|other| {
        let case = Texts::UnderMoreLoad { latency: amount(value), other: amount(other) };
        Answer::warn_if(value > other * (1.0 + OUT_OF_ORDER), case)
    });
    let unloaded = unloaded.map(|idle| {
        let case = Texts::Unloaded { latency: amount(value), idle: amount(idle) };
        Answer::warn_if(value < idle * (1.0 - OUT_OF_ORDER), case)
    });
    let disturbed = known(DISTURBED).map(|share| Answer::warn(Texts::DisturbedRun { share: Share(share) }));
    let mut all: Vec<Answer> = [more, unloaded, disturbed].into_iter().flatten().collect();
    let at = all.iter().position(|answer| answer.outcome != Outcome::Pass).unwrap_or(0);
    (!all.is_empty()).then(|| all.swap_remove(at))
}
