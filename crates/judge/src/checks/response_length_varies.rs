//! Do all answers have the same length?

use figure::evidence::audit::OTHER_LENGTH;
use figure::evidence::http::ANSWERED;
use figure::format::percent;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};

/// From this share on it is told: one in a hundred.
const TOLD: f64 = 0.01;

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
    if share < TOLD {
        return Answer::pass("as good as all answers have the length of the first");
    }
    Answer::warn(
        format!(
            "{} of the answers have another length than the first, which the tool counts as failed: a page made anew each time, or errors \
             that say 200",
            percent(share)
        ),
        "look at two answers (curl -i); where pages may differ, let the tool accept it: ab -l",
    )
}
