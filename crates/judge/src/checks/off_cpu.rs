//! Was a thread stopped although nothing else had its CPU?

use figure::evidence::{CPU_STEAL, OFF_CPU_WORST, PRICE, SOFTIRQ_TIME};

use super::levels::LOST_TIME;
use super::loss::tick_noise;
use crate::prelude::*;

/// Wall-clock time less CPU time (CLOCK_THREAD_CPUTIME_ID) and run-queue delay (schedstat). Threads of the pool never sleep
/// while they measure: the barrier spins, then yields.
pub const CHECK: Check = Check::new(
    page!("off-cpu"),
    |subject| pinned(subject) && wants_its_cpus(subject) && is_noted(subject) && !waits_for_a_lock(subject),
    rule,
);

/// Whether the rounds note it: those of copies, loads and other programs do not, nor do older records.
fn is_noted(subject: &Subject) -> bool {
    subject
        .figure
        .used_rounds()
        .any(|round| round.evidence.iter().any(|(name, _)| name == OFF_CPU_WORST.name))
}

/// Faults of several threads at once wait for the locks of their address space, where they sleep: this is what is priced.
fn waits_for_a_lock(subject: &Subject) -> bool {
    subject.is(PRICE, "concurrent")
}

fn rule(subject: &Subject) -> Answer {
    let off = observed!(subject.sum(OFF_CPU_WORST));
    // A kernel that accounts steal and interrupts apart takes them off the CPU time of the thread that they hit; it
    // shows them in clock ticks. What these resolve is known for all CPUs together, and a thread is on one.
    let taken: f64 =
        [CPU_STEAL, SOFTIRQ_TIME].into_iter().filter_map(|key| subject.sum(key).into_value()).sum();
    let unresolved = tick_noise(subject) / subject.cpu_count();
    let share = (off - taken - unresolved).max(0.0) / subject.seconds();
    LOST_TIME.answer(share, Cpus::OffCpu { share: Share(share) })
}
