//! Was there enough memory, free and within the cgroup's limits?

use figure::evidence::{CGROUP_MEMORY_EVENTS, MEMORY_AVAILABLE, MEMORY_LIMITED_BY};
use figure::{Outcome, Reading};

use super::array_size::{CACHES, caches_per_array};
use crate::cases::Arrays;
use crate::check::{Answer, Check, Subject, never, observed, on_arrays, page};
use crate::values::{Bytes, Counted};

/// What kept the arrays smaller than they should be, and whether a limit was met while we measured
/// (memory.events of v2: high, max; memory.failcnt of v1).
pub const CHECK: Check =
    Check { id: "memory-limit", page: page!("memory-limit"), applies: on_arrays, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let available = evidence.get(MEMORY_AVAILABLE).into_value().map(Bytes);
    let limit = observed!(evidence.get(MEMORY_LIMITED_BY));
    let mut reduced = None;
    if !limit.is_empty() {
        let outcome = match caches_per_array(subject).into_value() {
            Some(times) if times >= CACHES => Outcome::Pass,
            Some(_) => Outcome::Fail,
            None => Outcome::Warn,
        };
        let answer = Answer::of(outcome, Arrays::ArraysReduced { limit, available });
        if outcome == Outcome::Fail {
            return answer;
        }
        reduced = Some(answer);
    }
    let met = match subject.figure.sum(CGROUP_MEMORY_EVENTS) {
        Reading::Value(met) => met,
        // Every group was seen and none has a limit: then none can have been met.
        Reading::Unknown(_) if unlimited(subject) => 0.0,
        Reading::Unknown(reason) => return reduced.unwrap_or_else(|| Answer::unknown(reason)),
    };
    let limit_met = Arrays::LimitMet { times: Counted(met, "time"), available };
    if met > 0.0 { Answer::warn(limit_met) } else { reduced.unwrap_or_else(|| Answer::pass(limit_met)) }
}

fn unlimited(subject: &Subject) -> bool {
    let cgroup = &subject.machine().cgroup;
    cgroup.unknown.is_none() && !cgroup.levels.is_empty() && cgroup.memory_room().is_none()
}
