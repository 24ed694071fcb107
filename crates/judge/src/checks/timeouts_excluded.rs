//! Do the latencies include requests that timed out or were aborted?

use figure::evidence::audit::{LEFT_OUT, RESULTS};
use figure::evidence::http::{ANSWERED, WHAT};

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{RATE, head};
use crate::values::{Counted, Share};

/// Requests that timed out, of all that were answered. One in ten thousand is beyond the 99.9th percentile; of one in a hundred the 99th is
/// not known.
const MISSING: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// The slowest requests, where the tool counts them and leaves them out.
pub const CHECK: Check = Check {
    id: "timeouts-excluded",
    page: page!("timeouts-excluded"),
    applies: |subject| {
        let of_latency = subject.condition(WHAT).is_some_and(|what| what != RATE);
        let counted = head(subject).is_some_and(|load| load.over_rounds(LEFT_OUT).value().is_some());
        is_audited(subject) && of_latency && counted
    },
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let Some(load) = head(subject) else { return Answer::unknown("its run is not in the record") };
    let timed_out = observed!(load.sum(LEFT_OUT));
    let share = match timed_out {
        0.0 => 0.0,
        timed_out => timed_out / (timed_out + observed!(load.sum(ANSWERED))),
    };
    let cause = subject.figure.evidence.get(RESULTS).into_value();
    let cause = cause.filter(|cause| !cause.is_empty() && share > 0.0);
    let requests = Counted(timed_out, "request");
    MISSING.answer(share, Texts::TimedOut { requests, share: Share(share), cause })
}
