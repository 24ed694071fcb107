//! Did the clock frequency stay the same during the measurement?

use figure::evidence::{CANARY_AFTER, CANARY_BEFORE, CANARY_CHANGE};
use figure::{Reading, Unit, stats};

use crate::cases::Cpus;
use crate::check::{Answer, Check, Levels, Subject, always, observed, of_work, page};
use crate::values::{Amount, Share};

/// Relative change of the frequency. One turbo step of 100 MHz is 3 % at 3.3 GHz, and where neighbours share
/// the processor it comes and goes all the time (a guest with two CPUs saw a median of 3 % within rounds, and
/// seldom above 4.5 %): too small to explain what an interval does not already show. Two steps are worth a
/// word; 10 % is a level of turbo lost.
pub const CHANGE: Levels = Levels { warn: 0.05, fail: 0.10 };

/// The canary: a timed chain of dependent multiplications before and after each round, which sees the clock
/// in any VM, without a file and without privilege.
pub const CHECK: Check = Check {
    id: "frequency",
    page: page!("frequency"),
    // An emulator has no clock: check emulated speaks of it.
    applies: |subject| of_work(subject) && !subject.machine().virtualisation.is_emulated(),
    essential: always,
    rule,
};

/// How much the frequency changed, as a share: within a typical round, or from round to round, whichever is
/// more. Of the rounds the middle half counts, as the value rests on their median.
pub fn change(subject: &Subject) -> Reading<f64> {
    let within = match subject.typical(CANARY_CHANGE) {
        Reading::Value(within) => within.abs(),
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    let across = match frequencies(subject) {
        Reading::Value(frequencies) => middle_half(&frequencies),
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    Reading::Value(within.max(across))
}

/// The frequency of each kept round: the mean of before and after.
fn frequencies(subject: &Subject) -> Reading<Vec<f64>> {
    let before = subject.figure.over_rounds(CANARY_BEFORE);
    let after = subject.figure.over_rounds(CANARY_AFTER);
    match (before, after) {
        (Reading::Value(before), Reading::Value(after)) => {
            Reading::Value(before.iter().zip(after).map(|(before, after)| (before + after) / 2.0).collect())
        }
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
    }
}

/// From the lower to the upper quartile, as a share of the median.
fn middle_half(values: &[f64]) -> f64 {
    let quartile = |q| stats::quantile(values, q).unwrap_or(f64::NAN);
    let share = (quartile(0.75) - quartile(0.25)) / quartile(0.5);
    if share.is_finite() { share } else { 0.0 }
}

fn rule(subject: &Subject) -> Answer {
    let change = observed!(change(subject));
    let frequency = frequencies(subject).into_value().and_then(|all| stats::median(&all));
    CHANGE.answer(
        change,
        Cpus::Frequency {
            change: Share(change),
            frequency: frequency.map(|value| Amount { value, unit: Unit::of("GHz") }),
            guest: subject.machine().virtualisation.is_guest(),
        },
    )
}
