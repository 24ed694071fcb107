//! Did all threads work at the same time?

use figure::evidence::{TEAM, THREAD_OVERLAP, THREADS};
use figure::format;

use super::copies_overlap::APART;
use crate::check::{Answer, Check, Subject, always, measured, observed, page};

/// The share of the time in which all threads made their steps, in the median round.
pub const CHECK: Check = Check {
    id: "threads-overlap",
    page: page!("threads-overlap"),
    // Threads of other suites meet at a barrier before each pass, which another check looks at.
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
    let threads = subject.condition(THREADS).unwrap_or_default();
    APART.answer(
        1.0 - share,
        format!(
            "all {threads} worked in {} of the time from the first begin to the last end",
            format::percent(share)
        ),
        "give each more steps (--steps, --slots, --max-time), or find who takes one of their CPUs (the other reasons)",
    )
}
