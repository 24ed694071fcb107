//! Is this the latency of memory, not of caches and prefetchers?

use figure::evidence::audit::{GROWTH, RANDOM_LATENCY};
use figure::evidence::{ARRAY_BYTES, KERNEL};
use figure::{Reading, Unit};

use super::array_size::{CACHES, caches_per_array};
use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::values::{Amount, Share, Times};

/// Nanoseconds that no load from memory is faster than. To open a row and read from it takes modules of the standard's grades some 27 ns
/// (tRCD + CL), an open row half of that, and the way through the caches and the controller more than 10 ns besides.
const LEAST: f64 = 25.0;
/// Of the latency in random order: below, a walk in order was helped by prefetchers, or saved page walks.
const HELPED: f64 = 0.5;
/// Growth from half the array to the whole from which on there is no plateau: caches or page walks still count.
const RISING: f64 = 1.10;

/// A latency that is said to be memory's, by what else the text shows.
///
/// A walk with an even stride is known to the prefetchers, so that it shows a cache's latency in arrays of any size; `lat_mem_rd -t` walks in
/// random order.
pub const CHECK: Check = Check {
    id: "memory-latency",
    page: page!("memory-latency"),
    applies: |subject| {
        let is_known = subject.condition(ARRAY_BYTES).is_some()
            || subject.figure.over_rounds(RANDOM_LATENCY).value().is_some();
        is_audited(subject)
            && measured(subject)
            && subject.condition(KERNEL).as_deref() == Some("latency")
            && is_known
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let value = subject.figure.value.unwrap_or(0.0);
    let nanoseconds = |value| Amount { value, unit: Unit::NANOSECONDS };
    let latency = nanoseconds(value);
    if let Reading::Value(random) = subject.typical(RANDOM_LATENCY) {
        let case = Texts::RandomOrder { latency, random: nanoseconds(random) };
        return if value < HELPED * random { Answer::warn(case) } else { Answer::pass(case) };
    }
    let growth = subject.typical(GROWTH).into_value().unwrap_or(1.0);
    let share = Share(1.0 - 1.0 / growth.max(1.0));
    match caches_per_array(subject) {
        Reading::Value(times) if times >= CACHES && value < LEAST => {
            Answer::fail(Texts::Prefetched { latency, times: Times(times), least: nanoseconds(LEAST) })
        }
        _ if growth >= RISING => Answer::warn(Texts::Rising { share }),
        Reading::Value(times) => Answer::pass(Texts::Plateau { latency, times: Times(times), share }),
        Reading::Unknown(reason) => Answer::unknown(reason),
    }
}
