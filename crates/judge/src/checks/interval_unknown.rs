//! Are there two readings, so that the count gives a rate?

use figure::evidence::audit::{COUNT, LIFETIME};
use figure::format::number;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Subject, always, measured, page};

/// One reading of a count that goes on since a process began.
///
/// What a program does when it starts is in it for ever; whether it does anything now, one reading cannot tell (study 4 needs the rate).
pub const CHECK: Check = Check {
    id: "interval-unknown",
    page: page!("interval-unknown"),
    applies: |subject| {
        is_audited(subject) && measured(subject) && subject.figure.over_rounds(LIFETIME).value().is_some()
    },
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let is_total = subject.figure.kept().any(|round| round.evidence.get(LIFETIME).into_value() == Some(true));
    let count = subject.figure.sum(COUNT).into_value().unwrap_or(0.0);
    if is_total {
        return Answer::unknown(format!(
            "cannot tell: needs a second reading some seconds later: {} are all since the process began, its start among them",
            number(count)
        ));
    }
    Answer::pass(format!("{} more in {} s", number(count), number(subject.seconds())))
}
