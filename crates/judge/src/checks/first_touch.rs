//! Was all memory written with non-zero data before the clock ran?

use figure::evidence::{MEMORY_NONZERO, MEMORY_RESIDENT};

use crate::prelude::*;

/// Share of the arrays that is not backed by memory of its own. Reading it reads one page of zeros from the
/// first-level cache, so the figure is off by about that share. The little below 1 % is the rounding of
/// smaps to pages at the ends of a range.
const UNTOUCHED: Levels = Levels { warn: 0.01, fail: 0.05 };

/// Rss of our own range (/proc/self/smaps), and a sample of every array read back.
pub const CHECK: Check = Check::essential(page!("first-touch"), on_arrays, rule);

fn rule(subject: &Subject) -> Answer {
    let nonzero = subject.fact(MEMORY_NONZERO);
    if nonzero == Reading::Value(false) {
        return Answer::fail(Arrays::Unwritten);
    }
    let resident = observed!(subject.fact(MEMORY_RESIDENT));
    let answer = UNTOUCHED.answer(1.0 - resident, Arrays::Resident { share: Share(resident) });
    if answer.outcome == Outcome::Pass {
        observed!(nonzero);
    }
    answer
}
