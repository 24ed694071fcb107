//! Is enough left after the harness's own time is subtracted?

use figure::evidence::audit::SUBTRACTED;

use crate::prelude::*;

/// The harness's own time as a share of all that was timed. With nine tenths taken off, an error of 1 % in either is 10 % in what is left;
/// with all of it nothing is left.
const TAKEN: Levels = Levels { warn: 0.9, fail: 1.0 };

/// A figure that is what is left of a time when the harness's own is taken off.
pub const CHECK: Check =
    Check::new(page!("insignificant-difference"), |subject| prints(subject, SUBTRACTED), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let taken = observed!(subject.typical(SUBTRACTED));
    TAKEN.answer(taken, Texts::Subtracted { share: Share(taken) })
}
