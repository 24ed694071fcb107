//! Does the latency include the time requests waited before they were sent?

use figure::evidence::audit::ADDED_SAMPLES;
use figure::evidence::http::{LAG_BUSY, LAG_LATE, LATENCY, QUANTILE, UNCORRECTED, WHAT};
use figure::format::{percent, seconds};

use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{P99, is_closed, is_open, of_load, typical_at};

/// Of the 99th percentile of the latency, which is taken from the intended start, what can be the client's own lateness: no more than the 99th
/// percentile of that, and no more than what the latency has beyond that from the sending.
const LATE: Levels = Levels { warn: 0.10, fail: 0.50 };
/// Quantiles up to here a closed loop tells rightly: they follow from the rate.
const MIDDLE: f64 = 0.5;
/// `http.what` of a latency.
const LATENCIES: &str = "latency";

/// Latency from the intended start, and the two reasons why a request was not sent then (Tene, "How NOT to measure latency").
pub const CHECK: Check = Check {
    id: "coordinated-omission",
    page: page!("coordinated-omission"),
    applies: |subject| of_load(subject) && is_open(subject) || in_closed_loop(subject),
    essential: always,
    rule,
};

/// Whether the figure is a latency of a closed loop. Those of a rate are judged by the load that they were computed from.
fn in_closed_loop(subject: &Subject) -> bool {
    subject.condition(WHAT).as_deref() == Some(LATENCIES) && is_closed(subject)
}

fn rule(subject: &Subject) -> Answer {
    if in_closed_loop(subject) {
        return by_construction(subject);
    }
    let late = observed!(subject.typical(LAG_LATE));
    let latency = observed!(typical_at(subject.figure, LATENCY, P99));
    let mut told = format!(
        "99 % of the requests were sent less than {} late by the client, of {} from the intended start",
        seconds(late),
        seconds(latency)
    );
    let mut own = late;
    if let Some(uncorrected) = typical_at(subject.figure, UNCORRECTED, P99).into_value() {
        told += &format!(" ({} from the sending)", seconds(uncorrected));
        own = own.min((latency - uncorrected).max(0.0));
    }
    if let Some(busy) = subject.typical(LAG_BUSY).into_value() {
        told += &format!("; for want of a free connection less than {}", seconds(busy));
    }
    LATE.answer(
        own / latency.max(f64::MIN_POSITIVE),
        told,
        "give the client more CPUs and threads: --client-cpus LIST, -t N",
    )
}

/// No request is sent while the server stalls, so that a stall is one latency for each connection, and not one for each request
/// that would have come.
fn by_construction(subject: &Subject) -> Answer {
    let Some(quantile) = subject.condition(QUANTILE) else {
        return Answer::unknown("the figure does not tell its quantile");
    };
    let told = "in a closed loop the mean latency is connections over rate by construction (Little's law)";
    if quantile <= MIDDLE {
        return Answer::pass(format!("{told}: it says what the rate says"));
    }
    let adds = subject.figure.evidence.get(ADDED_SAMPLES).into_value() == Some(true);
    let tail = if adds {
        "wrk from 4.0 on adds samples that it thinks are missing: mean and tail are its formula, not measured"
            .to_owned()
    } else {
        format!("the {} above are too few", percent(1.0 - quantile))
    };
    Answer::warn(
        format!("{told}, and what stalls keeps requests from being sent: {tail}"),
        "read latencies from a load at a rate below the limit: -R RATE, or the figures at an equal rate",
    )
}
