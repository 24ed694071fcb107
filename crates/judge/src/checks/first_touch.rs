//! Was all memory written with non-zero data before the clock ran?

use figure::Outcome;
use figure::evidence::{MEMORY_NONZERO, MEMORY_RESIDENT};

use crate::cases::Arrays;
use crate::check::{Answer, Check, Levels, Subject, always, observed, on_arrays, page};
use crate::values::Share;

/// Share of the arrays that is not backed by memory of its own. Reading it reads one page of zeros from the
/// first-level cache, so the figure is off by about that share. The little below 1 % is the rounding of
/// smaps to pages at the ends of a range.
const UNTOUCHED: Levels = Levels { warn: 0.01, fail: 0.05 };

/// Rss of our own range (/proc/self/smaps), and a sample of every array read back.
pub const CHECK: Check =
    Check { id: "first-touch", page: page!("first-touch"), applies: on_arrays, essential: always, rule };

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    if evidence.get(MEMORY_NONZERO).into_value() == Some(false) {
        return Answer::fail(Arrays::Unwritten);
    }
    let resident = observed!(evidence.get(MEMORY_RESIDENT));
    let answer = UNTOUCHED.answer(1.0 - resident, Arrays::Resident { share: Share(resident) });
    if answer.outcome == Outcome::Pass {
        observed!(evidence.get(MEMORY_NONZERO));
    }
    answer
}
