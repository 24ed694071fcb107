//! Was the machine suspended or migrated, or its clock stepped, during the measurement?

use figure::Round;
use figure::evidence::{CLOCK_STEPPED, CLOCK_SUSPENDED};

use crate::prelude::*;

/// A jump below this is the difference in time between reading two clocks, with an interrupt in between.
const READING: f64 = 0.010;
/// The most that the kernel slews the clock to keep it right: 500 ppm (adjtimex(2)). Faster is a step.
const SLEW: f64 = 500e-6;
/// Share of the kept rounds from which on the median rests on rounds with a jump.
const MANY_ROUNDS: f64 = 0.25;

/// CLOCK_BOOTTIME and CLOCK_REALTIME against CLOCK_MONOTONIC (clock_gettime(2)). A guest that is migrated to
/// another host or restored from a snapshot shows as a step of the former.
pub const CHECK: Check = Check::new(page!("clock-jump"), measured, rule);

/// The seconds that a clock jumped by in this round, beyond what is ordinary.
pub fn jump(round: &Round) -> Option<f64> {
    let suspended = round.evidence.get(CLOCK_SUSPENDED).into_value().unwrap_or(0.0);
    let stepped = round.evidence.get(CLOCK_STEPPED).into_value().unwrap_or(0.0);
    let ordinary = READING + SLEW * round.duration;
    let most = if suspended.abs() > stepped.abs() { suspended } else { stepped };
    (most.abs() > ordinary).then_some(most)
}

fn rule(subject: &Subject) -> Answer {
    observed!(subject.rounds(CLOCK_SUSPENDED));
    observed!(subject.rounds(CLOCK_STEPPED));
    let jumps: Vec<f64> = subject.figure.used_rounds().filter_map(jump).collect();
    let largest = jumps.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).map(Seconds);
    let (count, rounds) = (jumps.len() as f64, subject.figure.used_rounds().count() as f64);
    let outcome = match largest {
        None => Outcome::Pass,
        Some(_) if count >= MANY_ROUNDS * rounds => Outcome::Fail,
        Some(_) => Outcome::Warn,
    };
    let (jumps, rounds) = (Count(count), Counted(rounds, "round"));
    Answer::of(outcome, Rounds::ClockJumps { jumps, rounds, largest })
}
