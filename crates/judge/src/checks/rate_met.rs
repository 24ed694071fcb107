//! Did the server answer at the requested rate?

use figure::evidence::http::{ANSWERED, RATE_ASKED, SECONDS, UNSENT};
use figure::stats;

use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{REFUSAL, aims_at, is_open, of_load};
use crate::values::{Counted, Number, Share};

/// What is missing of the rate. A server that cannot follow queues more and more, so that its latencies are those of how long one looks.
const SHORT: Levels = Levels { warn: 0.02, fail: 0.10 };
/// Arrivals by chance vary by the root of their number: what 3 of these explain is no lack.
const CHANCE: f64 = 3.0;

/// Answers of the window against the rate.
pub const CHECK: Check = Check {
    id: "rate-met",
    page: page!("rate-met"),
    applies: |subject| of_load(subject) && is_open(subject) && !aims_at(subject, &[REFUSAL]),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let asked = observed!(figure.over_rounds(RATE_ASKED));
    let answered = observed!(figure.over_rounds(ANSWERED));
    let seconds = observed!(figure.over_rounds(SECONDS));
    let missing: Vec<f64> = asked
        .iter()
        .zip(&answered)
        .zip(&seconds)
        .map(|((asked, answered), seconds)| {
            let due = (asked * seconds).max(1.0);
            ((due - CHANCE * due.sqrt() - answered) / due).max(0.0)
        })
        .collect();
    let (Some(missing), Some(asked)) = (stats::median(&missing), stats::median(&asked)) else {
        return Answer::unknown("no rate is recorded");
    };
    let unsent = figure.sum(UNSENT).into_value().filter(|unsent| *unsent > 0.0);
    let rates: Vec<f64> =
        answered.iter().zip(&seconds).map(|(answered, seconds)| answered / seconds).collect();
    let rate = stats::median(&rates).filter(|rate| rate.is_finite()).unwrap_or(0.0);
    SHORT.answer(
        missing,
        Loads::RateMet {
            rate: Number(rate),
            asked: Number(asked),
            missing: Share(missing),
            unsent: unsent.map(|unsent| Counted(unsent, "request")),
        },
    )
}
