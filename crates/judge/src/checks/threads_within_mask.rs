//! Does the affinity mask allow a CPU for every thread?

use figure::evidence::THREADS;
use figure::{CpuList, Outcome};

use super::uneven_cores;
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::load::is_load;
use crate::values::{Counted, CpuSet};

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
    let is_short = threads > allowed.len() as f64 && !uneven_cores::owns(subject);
    let outside = Some(outside).filter(|outside| !outside.is_empty()).map(CpuSet);
    let outcome = if is_short || outside.is_some() { Outcome::Fail } else { Outcome::Pass };
    let (threads, allowed) = (Counted(threads, "thread"), CpuSet(allowed.clone()));
    Answer::of(outcome, Cpus::AllowedCpus { threads, allowed, outside })
}
