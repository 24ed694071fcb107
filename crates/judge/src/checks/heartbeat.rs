//! Could the heartbeat detect short gaps throughout the round?

use figure::evidence::{NOISE_OBSERVED, NOISE_THRESHOLD, PASS_SECONDS};
use figure::{Outcome, format};

use crate::check::{Answer, Check, Levels, Subject, always, observed, of_noise, page};

/// Seconds below which gaps go unnoticed. Linux's osnoise tracer took 5 us for its threshold, since 6.11 1 us
/// (kernel/trace/trace_osnoise.c): timer interrupts take some microseconds. From 100 us on no interrupt is noticed.
const BLIND: Levels = Levels { warn: 5e-6, fail: 100e-6 };
/// Share of a pass that may go by unheard, on any CPU: in that of a round with many gaps, noting them takes a little.
const UNHEARD: Levels = Levels { warn: 0.10, fail: 0.50 };

/// The beat of the loop that reads the clock, and how much of each round it was listened to.
pub const CHECK: Check =
    Check { id: "heartbeat", page: page!("heartbeat"), applies: of_noise, essential: always, rule };

const FIX: &str = "see which clock is in use: cat /sys/devices/system/clocksource/clocksource0/current_clocksource; \
                   a slow one (hpet, acpi_pm) or a sandbox that catches system calls makes a slow heartbeat";

const FEWER: &str = "see which interrupts come so often: /proc/interrupts; in a sandbox that catches system calls, measure \
                     outside of it";

fn rule(subject: &Subject) -> Answer {
    let threshold = observed!(subject.figure.evidence.get(NOISE_THRESHOLD));
    let heard = observed!(subject.figure.over_rounds(NOISE_OBSERVED));
    let least = heard.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let Some(pass) = subject.condition(PASS_SECONDS).filter(|_| least.is_finite()) else {
        return Answer::unknown("how long the heartbeats were to be heard is not recorded");
    };
    let unheard = (1.0 - least / pass).max(0.0);
    let (blind, deaf) = (BLIND.outcome(threshold), UNHEARD.outcome(unheard));
    let detail = match deaf > blind {
        true => format!(
            "on one CPU {} of a round went by unheard: noting gaps took so long",
            format::percent(unheard)
        ),
        false => format!("gaps of {} and more are noticed", format::seconds(threshold)),
    };
    Answer::of(Outcome::max(blind, deaf), detail, if deaf > blind { FEWER } else { FIX })
}
