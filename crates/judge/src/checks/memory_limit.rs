//! Was there enough memory, free and within the cgroup's limits?

use figure::evidence::{CGROUP_MEMORY_EVENTS, MEMORY_AVAILABLE, MEMORY_LIMITED_BY};

use super::array_size;
use crate::prelude::*;

/// What limited the size of the arrays, and whether a limit was met while we measured
/// (memory.events of v2: high, max; memory.failcnt of v1).
pub const CHECK: Check = Check::new(page!("memory-limit"), on_arrays, rule);

fn rule(subject: &Subject) -> Answer {
    let available = subject.fact(MEMORY_AVAILABLE).into_value().map(Bytes);
    let limit = observed!(subject.fact(MEMORY_LIMITED_BY));
    let mut reduced = None;
    if !limit.is_empty() {
        let outcome = match array_size::rule(subject).outcome {
            Outcome::Unknown => Outcome::Warn,
            known => known,
        };
        let answer = Answer::of(outcome, Arrays::ArraysReduced { limit, available });
        if outcome == Outcome::Fail {
            return answer;
        }
        reduced = Some(answer);
    }
    let met = match subject.sum(CGROUP_MEMORY_EVENTS) {
        Reading::Value(met) => met,
        // No limit can have been met.
        Reading::Unknown(_) if subject.is_unlimited(subject.machine().cgroup.memory_room()) => 0.0,
        Reading::Unknown(reason) => return reduced.unwrap_or_else(|| Answer::unknown(reason)),
    };
    let limit_met = Arrays::LimitMet { times: Counted(met, "time"), available };
    if met > 0.0 { Answer::warn(limit_met) } else { reduced.unwrap_or_else(|| Answer::pass(limit_met)) }
}
