//! Did all threads work at the same time?

use figure::evidence::{TEAM, THREAD_OVERLAP, THREADS};

use super::copies_overlap::APART;
use crate::prelude::*;

/// The share of the time in which all threads made their steps, in the median round.
/// Threads of other suites meet at a barrier before each pass, which stragglers checks.
pub const CHECK: Check = Check::essential(
    page!("threads-overlap"),
    |subject| measured(subject) && subject.condition(TEAM).is_some() && subject.several(THREADS),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let share = observed!(subject.typical(THREAD_OVERLAP));
    let threads = Count(subject.condition(THREADS).unwrap_or_default());
    APART.answer(1.0 - share, Cpus::ThreadsOverlap { threads, share: Share(share) })
}
