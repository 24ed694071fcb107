//! Is this the latency of memory, not of caches and prefetchers?

use figure::evidence::audit::{GROWTH, RANDOM_LATENCY};
use figure::evidence::{ARRAY_BYTES, KERNEL};

use super::array_size::{CACHES, caches_per_array};
use crate::prelude::*;

/// Nanoseconds that no load from memory is faster than. To open a row and read from it takes modules of the standard's grades some 27 ns
/// (tRCD + CL), an open row half of that, and the way through the caches and the controller more than 10 ns.
const FASTEST: f64 = 25.0;
/// Of the latency in random order: below, a walk in order was helped by prefetchers, or saved page walks.
const OF_RANDOM: f64 = 0.5;
/// Growth from half the array to the whole from which on there is no plateau: caches or page walks still count.
const GROWTH_LIMIT: f64 = 1.10;

/// A latency that is named memory's, by what else the text shows.
///
/// A walk with an even stride is known to the prefetchers, so that it shows a cache's latency in arrays of any size; `lat_mem_rd -t` walks in
/// random order.
pub const CHECK: Check = Check::new(
    page!("memory-latency"),
    |subject| {
        let is_known = subject.condition(ARRAY_BYTES).is_some() || prints(subject, RANDOM_LATENCY);
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
