//! Do the latencies include requests that timed out or were aborted?

use figure::evidence::audit::{LEFT_OUT, RESULTS};
use figure::evidence::http::ANSWERED;

use super::results_truncated::of_latency;
use crate::load::head;
use crate::prelude::*;

/// Requests that timed out, of all that were answered. One in ten thousand is beyond the 99.9th percentile; of one in a hundred the 99th is
/// not known.
const MISSING: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// The slowest requests, where the tool counts them and leaves them out.
pub const CHECK: Check = Check::essential(
    page!("timeouts-excluded"),
    |subject| of_latency(subject) && head(subject).and_then(|load| load.sum(LEFT_OUT)).value().is_some(),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let load = observed!(head(subject));
    let timed_out = observed!(load.sum(LEFT_OUT));
    let share = match timed_out {
        0.0 => 0.0,
        timed_out => timed_out / (timed_out + observed!(load.sum(ANSWERED))),
    };
    let cause = subject.fact(RESULTS).into_value();
    let cause = cause.filter(|cause| !cause.is_empty() && share > 0.0);
    let requests = Counted(timed_out, "request");
    MISSING.answer(share, Texts::TimedOut { requests, share: Share(share), cause })
}
