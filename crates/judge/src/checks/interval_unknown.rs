//! Are there two readings, so that the count gives a rate?

use figure::evidence::audit::{COUNT, LIFETIME};

use crate::prelude::*;

/// One reading of a count that goes on since a process began.
///
/// What a program does when it starts is in it for ever; one reading does not show whether it does anything now (study 4 needs the rate).
pub const CHECK: Check =
    Check::essential(page!("interval-unknown"), |subject| prints(subject, LIFETIME), rule).audited();

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
