//! Are the cores in use equally fast?

use figure::evidence::CANARY_SPREAD;

use super::mixed_cores;
use crate::cases::Cpus;
use crate::check::{Answer, Check, Levels, Subject, never, observed, of_work, page, pinned};
use crate::values::Share;

/// How much slower the slowest CPU in use ran than the fastest. Per-core turbo and binning make cores of one
/// kind differ by a few per cent; work divided equally then waits for the slowest.
const SPREAD: Levels = Levels { warn: 0.05, fail: 0.15 };

/// The canary on each CPU. Where the kernel names several kinds of core, mixed-cores answers.
pub const CHECK: Check = Check {
    id: "unequal-cores",
    page: page!("unequal-cores"),
    applies: |subject| {
        pinned(subject)
            && of_work(subject)
            && subject.cpu_count() > 1.0
            && mixed_cores::kinds(subject).len() < 2
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let spread = observed!(subject.typical(CANARY_SPREAD));
    SPREAD.answer(spread, Cpus::UnequalCores { spread: Share(spread) })
}
