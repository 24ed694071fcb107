//! Does the affinity mask allow a CPU for every thread?

use figure::CpuList;
use figure::evidence::THREADS;
use figure::format::{counted, quantity};

use super::uneven_cores;
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::load::is_load;

/// Threads against the affinity mask of the process (sched_getaffinity(2)), which a cpuset narrows too.
pub const CHECK: Check = Check {
    id: "threads-within-mask",
    page: page!("threads-within-mask"),
    // Whether a load's client has CPUs enough, client-saturated asks.
    applies: |subject| measured(subject) && !is_load(subject) && subject.condition(THREADS).is_some(),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let allowed = &subject.machine().topology.allowed;
    if allowed.is_empty() {
        return Answer::unknown("the affinity mask is not in the record");
    }
    let threads = subject.condition(THREADS).unwrap_or(1.0);
    let outside = subject.thread_cpus().into_iter().collect::<CpuList>().difference(allowed);
    let fix = format!(
        "use --threads {} or fewer, or widen the mask: taskset, cpuset.cpus, docker --cpuset-cpus",
        allowed.len()
    );
    if threads > allowed.len() as f64 && !uneven_cores::owns(subject) {
        Answer::fail(
            format!(
                "{}, but the mask allows {} ({allowed})",
                quantity(threads, "thread"),
                counted(allowed.len(), "CPU")
            ),
            fix,
        )
    } else if !outside.is_empty() {
        Answer::fail(format!("CPUs {outside} are used, but only {allowed} are allowed"), fix)
    } else {
        Answer::pass(format!("threads: {threads}; allowed CPUs: {allowed}"))
    }
}
