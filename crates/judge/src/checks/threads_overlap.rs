//! Did all threads work at the same time?

use figure::evidence::{TEAM, THREAD_OVERLAP, THREADS};

use super::copies_overlap::APART;
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, always, measured, observed, page};
use crate::values::{Count, Share};

/// The share of the time in which all threads made their steps, in the median round.
pub const CHECK: Check = Check {
    id: "threads-overlap",
    page: page!("threads-overlap"),
    // Threads of other suites meet at a barrier before each pass, which stragglers checks.
    applies: |subject| {
        measured(subject)
            && subject.condition(TEAM).is_some()
            && subject.condition(THREADS).is_some_and(|threads| threads > 1.0)
    },
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let share = observed!(subject.typical(THREAD_OVERLAP));
    let threads = Count(subject.condition(THREADS).unwrap_or_default());
    APART.answer(1.0 - share, Cpus::ThreadsOverlap { threads, share: Share(share) })
}
