//! Did the server answer at the requested rate?

use figure::evidence::http::{ANSWERED, RATE_ASKED, SECONDS, UNSENT};

use crate::load::{REFUSAL, aims_at, is_open, of_load};
use crate::prelude::*;

/// What is missing of the rate. A server that cannot follow queues more and more, so that its latencies are those of how long one looks.
const SHORT: Levels = Levels { warn: 0.02, fail: 0.10 };
/// Arrivals by chance vary by the root of their number: what 3 of these explain is no lack.
const CHANCE: f64 = 3.0;

/// Answers of the window against the rate.
pub const CHECK: Check = Check::essential(
    page!("rate-met"),
    |subject| of_load(subject) && is_open(subject) && !aims_at(subject, &[REFUSAL]),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let asked = observed!(subject.typical(RATE_ASKED));
    let missing = |[asked, answered, seconds]: [f64; 3]| {
        let due = (asked * seconds).max(1.0);
        ((due - CHANCE * due.sqrt() - answered) / due).max(0.0)
    };
    let missing = observed!(subject.typical_of([RATE_ASKED, ANSWERED, SECONDS], missing));
    let rate = subject.typical_of([ANSWERED, SECONDS], |[answered, seconds]| answered / seconds);
    let rate = rate.into_value().unwrap_or(0.0);
    let unsent = subject.sum(UNSENT).into_value().filter(|unsent| *unsent > 0.0);
    let unsent = unsent.map(|unsent| Counted(unsent, "request"));
    let (rate, asked, share) = (Number(rate), Number(asked), Share(missing));
    SHORT.answer(missing, Loads::RateMet { rate, asked, missing: share, unsent })
}
