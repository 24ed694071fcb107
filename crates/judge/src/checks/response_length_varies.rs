//! Do all answers have the same length?

use figure::evidence::audit::OTHER_LENGTH;
use figure::evidence::http::ANSWERED;

use crate::prelude::*;

/// From this share on they vary: one in a hundred.
const VARIES: f64 = 0.01;

/// Answers of another length than the first. A page that is made anew each time has them, and so has a server that answers with an error
/// page under status 200: never more than a warning.
pub const CHECK: Check =
    Check::new(page!("response-length-varies"), |subject| prints(subject, OTHER_LENGTH), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let [other, answered] = observed!(subject.sums([OTHER_LENGTH, ANSWERED]));
    let share = other / answered.max(other).max(1.0);
    Answer::warn_if(share >= VARIES, Texts::OtherLengths { share: Share(share) })
}
