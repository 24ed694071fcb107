//! Was there enough memory, free and within the cgroup's limits?

use figure::evidence::{CGROUP_MEMORY_EVENTS, MEMORY_AVAILABLE, MEMORY_LIMITED_BY};
use figure::{Outcome, Reading, format};

use super::array_size::{CACHES, caches_per_array};
use crate::check::{Answer, Check, Subject, never, observed, on_arrays, page};

/// What kept the arrays smaller than they should be, and whether a limit was met while we measured
/// (memory.events of v2: high, max; memory.failcnt of v1).
pub const CHECK: Check =
    Check { id: "memory-limit", page: page!("memory-limit"), applies: on_arrays, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let available = match evidence.get(MEMORY_AVAILABLE).into_value() {
        Some(available) => format!("{} could be used", format::bytes(available)),
        None => "how much could be used is not known".to_owned(),
    };
    let limited_by = observed!(evidence.get(MEMORY_LIMITED_BY));
    let mut shrunk = None;
    if !limited_by.is_empty() {
        let detail =
            format!("the arrays are smaller than they should be because of {limited_by}; {available}");
        let outcome = match caches_per_array(subject).into_value() {
            Some(times) if times >= CACHES => Outcome::Pass,
            Some(_) => Outcome::Fail,
            None => Outcome::Warn,
        };
        let fix = "give it more memory, or fewer CPUs, whose caches are then not in use: --threads, --places";
        if outcome == Outcome::Fail {
            return Answer::fail(detail, fix);
        }
        shrunk = Some(Answer::of(outcome, detail, fix));
    }
    let met = match subject.figure.sum(CGROUP_MEMORY_EVENTS) {
        Reading::Value(met) => met,
        // Every group was seen and none has a limit: then none can have been met.
        Reading::Unknown(_) if unlimited(subject) => 0.0,
        Reading::Unknown(reason) => return shrunk.unwrap_or_else(|| Answer::unknown(reason)),
    };
    if met > 0.0 {
        return Answer::warn(
            format!("our control group met its memory limit {met} times while we measured; {available}"),
            "raise memory.max and memory.high of the group, or use smaller arrays",
        );
    }
    shrunk.unwrap_or_else(|| Answer::pass(format!("no limit was met; {available}")))
}

fn unlimited(subject: &Subject) -> bool {
    let cgroup = &subject.machine().cgroup;
    cgroup.unknown.is_none() && !cgroup.levels.is_empty() && cgroup.memory_room().is_none()
}
