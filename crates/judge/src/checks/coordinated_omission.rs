//! Does the latency include the time requests waited before they were sent?

use figure::evidence::audit::ADDED_SAMPLES;
use figure::evidence::http::{LAG_BUSY, LAG_LATE, LATENCY, QUANTILE, UNCORRECTED, WHAT};

use crate::load::{P99, is_closed, is_of_users, is_open, of_load, typical_at};
use crate::prelude::*;

/// Of the 99th percentile of the latency, which is taken from the intended start, what can be the client's own lateness: no more than the 99th
/// percentile of that, and no more than what the latency has beyond that from the sending.
const LATE: Levels = Levels { warn: 0.10, fail: 0.50 };
/// Quantiles up to here are right in a closed loop: they follow from the rate.
const MIDDLE: f64 = 0.5;
/// `http.what` of a latency.
const LATENCIES: &str = "latency";

/// Latency from the intended start, and the two reasons why a request was not sent then (Tene, "How NOT to measure latency").
pub const CHECK: Check = Check::essential(
    page!("coordinated-omission"),
    |subject| of_load(subject) && is_open(subject) || in_closed_loop(subject),
    rule,
)
.audited();

/// Whether the figure is a latency of a closed loop, or of users of which it is not known whether they wait. Those of a rate are judged by the load that they were computed from.
fn in_closed_loop(subject: &Subject) -> bool {
    subject.is(WHAT, LATENCIES) && (is_closed(subject) || is_of_users(subject))
}

fn rule(subject: &Subject) -> Answer {
    if in_closed_loop(subject) {
        return by_construction(subject);
    }
    let late = observed!(subject.typical(LAG_LATE));
    let latency = observed!(typical_at(subject.figure, LATENCY, P99));
    let sent = typical_at(subject.figure, UNCORRECTED, P99).into_value();
    let own = sent.map_or(late, |sent| late.min((latency - sent).max(0.0)));
    let share = own / latency.max(f64::MIN_POSITIVE);
    let busy = subject.typical(LAG_BUSY).into_value().map(Seconds);
    let (late, latency, sent) = (Seconds(late), Seconds(latency), sent.map(Seconds));
    LATE.answer(share, Loads::SentLate { late, latency, sent, busy })
}

/// No request is sent while the server stalls, so that a stall is one latency for each connection, and not one for each request
/// that would have come.
fn by_construction(subject: &Subject) -> Answer {
    let quantile = Reading::or_unknown(subject.condition(QUANTILE), "the quantile of the figure is unknown");
    let quantile = observed!(quantile);
    if quantile <= MIDDLE {
        return Answer::pass(Loads::ClosedLoop);
    }
    if is_of_users(subject) {
        return Answer::unknown(
            "the text does not show whether users wait for an answer before they send on",
        );
    }
    match subject.fact(ADDED_SAMPLES).into_value() {
        Some(true) => Answer::warn(Loads::SamplesAdded),
        _ => Answer::warn(Loads::StallsOmitted { above: Share(1.0 - quantile) }),
    }
}
