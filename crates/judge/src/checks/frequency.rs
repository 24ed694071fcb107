//! Did the clock frequency stay the same during the measurement?

use figure::evidence::audit::SCALED;
use figure::evidence::{CANARY_AFTER, CANARY_BEFORE, CANARY_CHANGE};

use super::rounds_agree::middle_half;
use crate::prelude::*;

/// Relative change of the frequency. One turbo step of 100 MHz is 3 % at 3.3 GHz, and where neighbours share
/// the processor it comes and goes all the time (a guest with two CPUs saw a median of 3 % within rounds, and
/// seldom above 4.5 %): too small to explain what an interval does not already show. Two steps are worth a
/// word; 10 % is a level of turbo lost.
pub const CHANGE: Levels = Levels { warn: 0.05, fail: 0.10 };

/// The canary: a timed chain of dependent multiplications before and after each round, which sees the clock
/// in any VM, without a file and without privilege.
/// An emulator has no clock (`emulated`). Other tools look at the governor, if at all.
pub const CHECK: Check = Check::new(
    page!("frequency"),
    |subject| match is_audited(subject) {
        true => subject.fact(SCALED).value().is_some(),
        false => of_work(subject) && !subject.machine().virtualisation.is_emulated(),
    },
    rule,
)
.essential_where(|subject| !is_audited(subject))
.audited();

/// How much the frequency changed, as a share: within a typical round, or from round to round, whichever is
/// more. Of the rounds the middle half counts, as the value rests on their median.
pub fn change(subject: &Subject) -> Reading<f64> {
    let changes = subject.typical(CANARY_CHANGE).and(frequencies(subject));
    changes.map(|(within, frequencies)| {
        let middle = stats::median(&frequencies).filter(|middle| *middle > 0.0);
        within.abs().max(middle_half(&frequencies) / middle.unwrap_or(f64::INFINITY))
    })
}

/// The frequency of each kept round: the mean of before and after.
fn frequencies(subject: &Subject) -> Reading<Vec<f64>> {
    subject.each_round([CANARY_BEFORE, CANARY_AFTER], |[before, after]| (before + after) / 2.0)
}

fn rule(subject: &Subject) -> Answer {
    if is_audited(subject) {
        let scaled = observed!(subject.fact(SCALED));
        return Answer::warn_if(scaled, Texts::Scaled { scaled });
    }
    let change = observed!(change(subject));
    let frequency = frequencies(subject).into_value().and_then(|all| stats::median(&all));
    let frequency = frequency.map(|value| Amount { value, unit: Unit::of("GHz") });
    let guest = subject.machine().virtualisation.is_guest();
    CHANGE.answer(change, Cpus::Frequency { change: Share(change), frequency, guest })
}
