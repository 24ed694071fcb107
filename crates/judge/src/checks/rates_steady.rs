//! Was the program in a steady state when its rates were measured?

use figure::evidence::{RATE_SECONDS, RATE_STEADY, RATE_TIME};
use figure::format;

use crate::check::{Answer, Check, Subject, always, measured, observed, page};

/// CPU time and faults of all processes, ten times a second (/proc/PID/stat).
pub const CHECK: Check = Check {
    id: "rates-steady",
    page: page!("rates-steady"),
    applies: |subject| measured(subject) && subject.condition(RATE_TIME).is_some(),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let steady = observed!(subject.figure.over_rounds(RATE_STEADY));
    let seconds = observed!(subject.typical(RATE_SECONDS));
    let restless = steady.iter().filter(|is_steady| !**is_steady).count();
    if restless == 0 {
        return Answer::pass(format!("in all starts, over {}", format::seconds(seconds)));
    }
    Answer::warn(
        format!("in {restless} of {} starts the time was over before the rates were steady", steady.len()),
        "allow more time (--until-rate=2min), or give the program a load that does not change",
    )
}
