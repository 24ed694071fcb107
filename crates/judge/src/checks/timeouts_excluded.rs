//! Do the latencies include requests that timed out or were aborted?

use figure::evidence::audit::{LEFT_OUT, RESULTS};
use figure::evidence::http::{ANSWERED, WHAT};
use figure::format::{percent, quantity};

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{RATE, head};

/// Requests that timed out, of all that were answered. One in ten thousand is beyond the 99.9th percentile; of one in a hundred the 99th is
/// not known.
const MISSING: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// The slowest requests, where the tool counts them and leaves them out.
pub const CHECK: Check = Check {
    id: "timeouts-excluded",
    page: page!("timeouts-excluded"),
    applies: |subject| {
        let of_latency = subject.condition(WHAT).is_some_and(|what| what != RATE);
        let told = head(subject).is_some_and(|load| load.over_rounds(LEFT_OUT).value().is_some());
        is_audited(subject) && of_latency && told
    },
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let Some(load) = head(subject) else { return Answer::unknown("its run is not in the record") };
    let timed_out = observed!(load.sum(LEFT_OUT));
    if timed_out == 0.0 {
        return Answer::pass("none timed out, as far as the tool counts them");
    }
    let answered = observed!(load.sum(ANSWERED));
    let results = match subject.figure.evidence.get(RESULTS).into_value() {
        Some(results) if !results.is_empty() => format!(" ({results})"),
        _ => String::new(),
    };
    let share = timed_out / (timed_out + answered);
    MISSING.answer(
        share,
        format!(
            "{} timed out, {} of all, and left out of all latencies, though slowest{results}",
            quantity(timed_out, "request"),
            percent(share)
        ),
        "allow more time (--timeout), or take a tool that counts what times out at its full age: truebench http load",
    )
}
