//! Are there two readings, so that the count gives a rate?

use figure::evidence::audit::{COUNT, LIFETIME};

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Subject, always, measured, page};
use crate::values::{Count, Seconds};

/// One reading of a count that goes on since a process began.
///
/// What a program does when it starts is in it for ever; one reading does not show whether it does anything now (study 4 needs the rate).
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
    let count = Count(subject.figure.sum(COUNT).into_value().unwrap_or(0.0));
    if is_total {
        return Answer::unknown(format!(
            "needs a second reading some seconds later: {count} is the count since the process began"
        ));
    }
    Answer::pass(Texts::CountBetween { count, seconds: Seconds(subject.seconds()) })
}
