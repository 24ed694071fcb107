//! Do all answers have the same length?

use figure::evidence::audit::OTHER_LENGTH;
use figure::evidence::http::ANSWERED;

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};
use crate::values::Share;

/// From this share on they vary: one in a hundred.
const VARIES: f64 = 0.01;

/// Answers of another length than the first. A page that is made anew each time has them, and so has a server that answers with an error
/// page under status 200: never more than a warning.
pub const CHECK: Check = Check {
    id: "response-length-varies",
    page: page!("response-length-varies"),
    applies: |subject| {
        is_audited(subject) && measured(subject) && subject.figure.over_rounds(OTHER_LENGTH).value().is_some()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let other = observed!(subject.figure.sum(OTHER_LENGTH));
    let answered = observed!(subject.figure.sum(ANSWERED));
    let share = other / answered.max(other).max(1.0);
    let case = Texts::OtherLengths { share: Share(share) };
    if share < VARIES { Answer::pass(case) } else { Answer::warn(case) }
}
