//! Is enough left after the harness's own time is subtracted?

use figure::evidence::audit::{OVERHEAD, SUBTRACTED};

use crate::prelude::*;

/// The harness's own time as a share of all that was timed. With nine tenths taken off, an error of 1 % in either is 10 % in what is left;
/// with all of it nothing is left.
const TAKEN: Levels = Levels { warn: 0.9, fail: 1.0 };

/// A figure that is what is left of a time when the harness's own is taken off, or that holds the harness's time.
pub const CHECK: Check = Check::new(
    page!("insignificant-difference"),
    |subject| prints(subject, SUBTRACTED) || is_audited(subject) && harness(subject).is_some(),
    rule,
)
.audited();

/// Why the harness may be most of the figure.
fn harness(subject: &Subject) -> Option<String> {
    subject.fact(OVERHEAD).into_value()
}

fn rule(subject: &Subject) -> Answer {
    if let Some(reason) = harness(subject) {
        return Answer::warn(Texts::Harness { reason });
    }
    let taken = observed!(subject.typical(SUBTRACTED));
    TAKEN.answer(taken, Texts::Subtracted { share: Share(taken) })
}
