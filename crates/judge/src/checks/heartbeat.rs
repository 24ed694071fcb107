//! Could the heartbeat detect short gaps throughout the round?

use figure::evidence::{NOISE_OBSERVED, NOISE_THRESHOLD, PASS_SECONDS};

use crate::prelude::*;

/// Seconds below which gaps go unnoticed. Linux's osnoise tracer took 5 µs for its threshold, since 6.11 1 µs
/// (kernel/trace/trace_osnoise.c): timer interrupts take some microseconds. From 100 µs on no interrupt is noticed.
const GAP: Levels = Levels { warn: 5e-6, fail: 100e-6 };
/// Share of a pass that may go unobserved, on any CPU: in that of a round with many gaps, noting them takes a little.
const UNOBSERVED: Levels = Levels { warn: 0.10, fail: 0.50 };

/// The beat of the loop that reads the clock, and how much of each round it covered.
pub const CHECK: Check = Check::essential(page!("heartbeat"), of_noise, rule);

fn rule(subject: &Subject) -> Answer {
    let threshold = observed!(subject.fact(NOISE_THRESHOLD));
    let observed = observed!(subject.rounds(NOISE_OBSERVED));
    let least = observed.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let Some(pass) = subject.condition(PASS_SECONDS).filter(|_| least.is_finite()) else {
        return Answer::unknown("how long the heartbeats were to run is not recorded");
    };
    let missed = (1.0 - least / pass).max(0.0);
    let outcome = GAP.outcome(threshold).max(UNOBSERVED.outcome(missed));
    Answer::of(outcome, Rounds::Heartbeat { gap: Seconds(threshold), missed: Share(missed) })
}
