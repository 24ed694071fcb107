//! Are there two readings, so that the count gives a rate?

use figure::evidence::audit::{COUNT, LIFETIME};

use crate::prelude::*;

/// One reading of a count that goes on since a process began.
///
/// What a program does when it starts is in it for ever; one reading does not show whether it does anything now (study 4 needs the rate). A
/// mean since boot is none of an interval either (the first row of vmstat).
pub const CHECK: Check = Check::essential(
    page!("interval-unknown"),
    |subject| is_audited(subject) && measured(subject) && is_a_count(subject),
    rule,
)
.audited();

/// Whether it is known, or open, what time the count is of.
fn is_a_count(subject: &Subject) -> bool {
    subject.figure.used_rounds().any(|round| round.evidence.iter().any(|(name, _)| name == LIFETIME.name))
}

fn rule(subject: &Subject) -> Answer {
    let is_total = observed!(subject.rounds(LIFETIME)).contains(&true);
    let count = Count(subject.sum(COUNT).into_value().unwrap_or(0.0));
    if is_total {
        return Answer::unknown(format!(
            "needs a second reading some seconds later: {count} is the count since the process began"
        ));
    }
    Answer::pass(Texts::CountBetween { count, seconds: Seconds(subject.seconds()) })
}
