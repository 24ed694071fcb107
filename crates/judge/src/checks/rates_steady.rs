//! Was the program in a steady state when its rates were measured?

use figure::Outcome;
use figure::evidence::{RATE_SECONDS, RATE_STEADY, RATE_TIME};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, always, measured, observed, page};
use crate::values::{Count, Counted, Seconds};

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
    let unsteady = steady.iter().filter(|is_steady| !**is_steady).count();
    let outcome = if unsteady == 0 { Outcome::Pass } else { Outcome::Warn };
    let starts = Counted(steady.len() as f64, "start");
    let case = Rounds::Rates { unsteady: Count(unsteady as f64), starts, seconds: Seconds(seconds) };
    Answer::of(outcome, case)
}
