//! Do the printed numbers agree with each other?

use figure::evidence::audit::{CONTRADICTION, RECOMPUTED, ROUNDING};
use figure::evidence::http::WHAT;

use crate::prelude::*;

/// By what share a figure may differ from itself, computed again from other numbers of the same text, beyond what rounding explains. Tools
/// round times and rates at different places; 5 % is no rounding, and at a quarter one of the numbers is of something else.
const APART: Levels = Levels { warn: 0.05, fail: 0.25 };
/// Of a load the rate is its count over its time by definition: what is not rounding is another run.
const OF_LOAD: Levels = Levels { warn: 0.05, fail: 0.05 };

/// The figure against the same from counts and times, and against the statistics of its samples.
pub const CHECK: Check = Check::new(
    page!("inconsistent-totals"),
    |subject| prints(subject, RECOMPUTED) || is_audited(subject) && contradiction(subject).is_some(),
    rule,
)
.audited();

fn contradiction(subject: &Subject) -> Option<String> {
    subject.fact(CONTRADICTION).into_value()
}

fn rule(subject: &Subject) -> Answer {
    if let Some(reason) = contradiction(subject) {
        return Answer::fail(Texts::Contradiction { reason });
    }
    let levels = if subject.condition(WHAT).is_some() { OF_LOAD } else { APART };
    let again = observed!(subject.typical(RECOMPUTED));
    let value = subject.figure.value.unwrap_or(0.0);
    let rounding = subject.typical(ROUNDING).into_value().unwrap_or(0.0);
    let largest = again.abs().max(value.abs()).max(f64::MIN_POSITIVE);
    let apart = ((again - value).abs() / largest - rounding).max(0.0);
    let [printed, again] = [value, again].map(|value| subject.amount(value));
    levels.answer(apart, Texts::Recomputed { printed, again, share: Share(apart) })
}
