//! Do the printed numbers agree with each other?

use figure::evidence::audit::{CONTRADICTION, RECOMPUTED, ROUNDING};
use figure::evidence::http::WHAT;

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Levels, Subject, measured, never, observed, page};
use crate::values::{Amount, Share};

/// By what share a figure may differ from itself, computed again from other numbers of the same text, beyond what rounding explains. Tools
/// round times and rates at different places; 5 % is no rounding, and at a quarter one of the numbers is of something else.
const APART: Levels = Levels { warn: 0.05, fail: 0.25 };
/// Of a load the rate is its count over its time by definition: what is not rounding is another run.
const OF_LOAD: Levels = Levels { warn: 0.05, fail: 0.05 };

/// The figure against the same from counts and times, and against the statistics of its samples.
pub const CHECK: Check = Check {
    id: "inconsistent-totals",
    page: page!("inconsistent-totals"),
    applies: |subject| {
        let again = measured(subject) && subject.figure.over_rounds(RECOMPUTED).value().is_some();
        is_audited(subject) && (again || contradiction(subject).is_some())
    },
    essential: never,
    rule,
};

fn contradiction(subject: &Subject) -> Option<String> {
    subject.figure.evidence.get(CONTRADICTION).into_value()
}

fn rule(subject: &Subject) -> Answer {
    if let Some(reason) = contradiction(subject) {
        return Answer::fail(Texts::Contradiction { reason });
    }
    let levels = if subject.condition(WHAT).is_some() { OF_LOAD } else { APART };
    let again = observed!(subject.typical(RECOMPUTED));
    let value = subject.figure.value.unwrap_or(0.0);
    let rounding = subject.typical(ROUNDING).into_value().unwrap_or(0.0);
    let apart = match again == value {
        true => 0.0,
        false => ((again - value).abs() / again.abs().max(value.abs()) - rounding).max(0.0),
    };
    let [printed, again] = [value, again].map(|value| Amount { value, unit: subject.figure.unit.clone() });
    levels.answer(apart, Texts::Recomputed { printed, again, share: Share(apart) })
}
