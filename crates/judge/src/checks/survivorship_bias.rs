//! Do the latencies include the slowest requests?

use figure::evidence::http::{ANSWERED_LATE, CENSORED_AGE, IN_FLIGHT, RECORDED, TIMEOUT, UNSENT};

use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::of_load;
use crate::values::{Count, Counted, Seconds, Share};

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
    let censored = in_flight + unsent;
    let share = if censored > 0.0 { censored / (censored + recorded) } else { 0.0 };
    let oldest = figure.largest(CENSORED_AGE).into_value().filter(|_| censored > 0.0);
    CENSORED.answer(
        share,
        Loads::Unanswered {
            in_flight: Counted(in_flight, "request"),
            unsent: Count(unsent),
            share: Share(share),
            oldest: oldest.map(Seconds),
            timeout: subject.condition(TIMEOUT).filter(|_| censored > 0.0).map(Seconds),
            late: figure.sum(ANSWERED_LATE).into_value().map(Count),
        },
    )
}
