//! Were threads preempted again and again while they wanted to run?

use figure::evidence::{INVOLUNTARY_SWITCHES, RUN_DELAY};

use super::levels::LOST_TIME;
use super::uneven_cores::planned_wait;
use crate::prelude::*;

/// Involuntary switches a second on each CPU from which on it was shared. Two threads on one CPU alternate at
/// the end of each slice, which the kernel checks once a tick: 50 times a second each at HZ=100, more often with a
/// faster tick (update_curr, kernel/sched/fair.c). Alone on its CPU a thread gives way to kernel threads
/// only, some ten times a second, and so briefly that the waiting below separates the two.
const SHARED_RATE: f64 = 40.0;
/// Waiting below this share of the CPU time is not worth a word, however often it happened: half of what would be a
/// warning. Where threads have every CPU, the kernel's own threads and truebench between its rounds come to 0.3 to 0.6 %.
const NEGLIGIBLE_WAIT: f64 = LOST_TIME.warn / 2.0;

/// ru_nivcsw of getrusage(2), RUSAGE_THREAD. Never more than a warning: the run-queue delay shows how much
/// was lost.
///
/// A price that mostly waits for a disk gives way to the kernel's threads that bring what it waits for.
pub const CHECK: Check = Check::new(
    page!("involuntary-switches"),
    |subject| has_its_cpus(subject) && wants_its_cpus(subject),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let switches = observed!(subject.sum(INVOLUNTARY_SWITCHES));
    let rate = switches / subject.cpu_seconds();
    let waited = subject.sum(RUN_DELAY).into_value().map(|delay| delay / subject.cpu_seconds());
    let is_shared = rate >= SHARED_RATE && waited.is_none_or(|waited| waited >= NEGLIGIBLE_WAIT);
    let (rate, waited) = (Number(rate), waited.map(Share));
    // Whether others came between planned turns, the run-queue delay shows.
    if planned_wait(subject) > 0.0 {
        return Answer::pass(Cpus::PlannedTurns { rate });
    }
    Answer::warn_if(is_shared, Cpus::InvoluntarySwitches { rate, waited })
}
