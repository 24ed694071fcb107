//! Does the affinity mask allow a CPU for every thread?

use figure::CpuList;
use figure::evidence::THREADS;

use super::uneven_cores;
use crate::prelude::*;

/// Threads against the affinity mask of the process (sched_getaffinity(2)), which a cpuset narrows too.
/// Whether a load's client has CPUs enough, client-saturated asks.
pub const CHECK: Check = Check::new(
    page!("threads-within-mask"),
    |subject| measured(subject) && !is_load(subject) && subject.condition(THREADS).is_some(),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let allowed = &subject.machine().topology.allowed;
    if allowed.is_empty() {
        return Answer::unknown("the affinity mask is not in the record");
    }
    let threads = subject.condition(THREADS).unwrap_or(1.0);
    let outside = subject.thread_cpus().into_iter().collect::<CpuList>().difference(allowed);
    let is_short = threads > subject.of_kinds(allowed).len() as f64 && !uneven_cores::owns(subject);
    let outside = Some(outside).filter(|outside| !outside.is_empty()).map(CpuSet);
    let is_outside = outside.is_some();
    let (threads, allowed) = (Counted(threads, "thread"), CpuSet(subject.of_kinds(allowed)));
    Answer::fail_if(is_short || is_outside, Cpus::AllowedCpus { threads, allowed, outside })
}
