//! Was the program in a steady state when its rates were measured?

use figure::evidence::{RATE_SECONDS, RATE_STEADY, RATE_TIME};

use crate::prelude::*;

/// CPU time and faults of all processes, ten times a second (/proc/PID/stat).
pub const CHECK: Check = Check::essential(
    page!("rates-steady"),
    |subject| measured(subject) && subject.condition(RATE_TIME).is_some(),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let steady = observed!(subject.rounds(RATE_STEADY));
    let seconds = observed!(subject.typical(RATE_SECONDS));
    let unsteady = Count(steady.iter().filter(|is_steady| !**is_steady).count() as f64);
    let starts = Counted(steady.len() as f64, "start");
    Answer::warn_if(unsteady.0 > 0.0, Rounds::Rates { unsteady, starts, seconds: Seconds(seconds) })
}
