//! Are the cores in use equally fast?

use figure::evidence::CANARY_SPREAD;

use super::mixed_cores;
use crate::prelude::*;

/// How much slower the slowest CPU in use ran than the fastest. Per-core turbo and binning make cores of one
/// kind differ by a few per cent; work divided equally then waits for the slowest.
const SPREAD: Levels = Levels { warn: 0.05, fail: 0.15 };

/// The canary on each CPU. Where the kernel names several kinds of core, mixed-cores answers.
pub const CHECK: Check = Check::new(
    page!("unequal-cores"),
    |subject| {
        pinned(subject)
            && of_work(subject)
            && subject.cpu_count() > 1.0
            && mixed_cores::kinds(subject).len() < 2
    },
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let spread = observed!(subject.typical(CANARY_SPREAD));
    SPREAD.answer(spread, Cpus::UnequalCores { spread: Share(spread) })
}
