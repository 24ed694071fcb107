//! Did all copies run at the same time?

use figure::evidence::{COPIES, COPY_OVERLAP};

use crate::prelude::*;

/// The sum of copies that did not overlap is no rate of the machine: while one still starts, another has the disk or the
/// memory to itself. With UnixBench some copies of the file tests begin two minutes after others, and the sums are far too
/// high (byte-unixbench #103). From a start that all wait for, copies differ by scheduling alone: some milliseconds of a pass.
pub(super) const APART: Levels = Levels { warn: 0.05, fail: 0.20 };

/// The share of the time in which all copies counted, in the median round.
pub const CHECK: Check =
    Check::essential(page!("copies-overlap"), |subject| of_copies(subject) && subject.several(COPIES), rule);

fn rule(subject: &Subject) -> Answer {
    let share = observed!(subject.typical(COPY_OVERLAP));
    let copies = Count(subject.condition(COPIES).unwrap_or_default());
    APART.answer(1.0 - share, Cpus::CopiesOverlap { copies, share: Share(share) })
}
