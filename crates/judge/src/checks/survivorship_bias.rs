//! Do the latencies include the slowest requests?

use figure::evidence::http::{ANSWERED_LATE, CENSORED_AGE, IN_FLIGHT, RECORDED, TIMEOUT, UNSENT};
use figure::format::{number, percent, quantity, seconds};

use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::of_load;

/// Requests of the window without an answer when waiting was given up: of them only an age is known, and they are the slowest. One in
/// ten thousand is beyond the 99.9th percentile; of one in a hundred the 99th is not known.
const CENSORED: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// What was in flight, or due and not sent, at the end.
pub const CHECK: Check = Check {
    id: "survivorship-bias",
    page: page!("survivorship-bias"),
    applies: of_load,
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let recorded = observed!(figure.sum(RECORDED));
    let (in_flight, unsent) = (observed!(figure.sum(IN_FLIGHT)), observed!(figure.sum(UNSENT)));
    let late = match figure.sum(ANSWERED_LATE).into_value() {
        Some(late) => format!("; {} answers came behind the window and are in it", number(late)),
        None => String::new(),
    };
    let censored = in_flight + unsent;
    if censored == 0.0 {
        return Answer::pass(format!("every request of the window was waited for{late}"));
    }
    let share = censored / (censored + recorded);
    let age = match figure.largest(CENSORED_AGE).into_value() {
        Some(age) => format!(", the oldest of {}", seconds(age)),
        None => String::new(),
    };
    let limit = match subject.condition(TIMEOUT) {
        Some(timeout) => format!(" (a request fails after {})", seconds(timeout)),
        None => String::new(),
    };
    CENSORED.answer(
        share,
        format!(
            "{} had no answer at the end, and {} due and not sent: {} of all{age}{limit}{late}",
            quantity(in_flight, "request"),
            number(unsent),
            percent(share)
        ),
        "ask for a rate that the server can follow, or wait longer for the last answers: --timeout",
    )
}
