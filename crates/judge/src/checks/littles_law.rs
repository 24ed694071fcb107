//! Are rate, latency and number of connections consistent with Little's law?

use figure::evidence::audit::{ADDED_SAMPLES, CONNECTIONS_FROM, DEPTH};
use figure::evidence::http::{CONNECTIONS, LITTLE, WHAT};
use figure::format::percent;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{RATE, is_closed, of_load};

/// By how much rate times mean latency misses the connections. Of 59 servers on a public board 56 are within 5 % at 512 connections, and
/// only 37 at 4096: there a good part of the connections did nothing. A quarter is a figure of another number of connections.
const MISSED: Levels = Levels { warn: 0.05, fail: 0.25 };
/// By what share of a whole number the excess may miss it, and the deepest pipeline, for pipelining to be named as a possible cause.
const NEAR_WHOLE: f64 = 0.05;
const DEEPEST: f64 = 64.0;

/// L = X R (Little, Operations Research 9, 1961): in a closed loop without pauses as many requests are under way as there are connections.
pub const CHECK: Check = Check {
    id: "littles-law",
    page: page!("littles-law"),
    applies: |subject| of_load(subject) && is_closed(subject),
    essential: always,
    rule: |subject| {
        let busy = observed!(subject.typical(LITTLE));
        let what =
            if busy < 1.0 { "idle, or latencies are missing" } else { "beyond what a closed loop can have" };
        let told = format!("rate times mean latency is {} of {}", percent(busy), in_flight(subject));
        let missed = (busy - 1.0).abs();
        // A batch is timed as one, from its first request to its last answer: less of it need not be idle.
        let is_batch = subject.condition(DEPTH).is_some() && busy < 1.0 && missed < MISSED.fail;
        let told =
            if missed < MISSED.warn || is_batch { told } else { format!("{told}: the rest is {what}") };
        if is_batch {
            return Answer::pass(told);
        }
        let told = if busy > 1.0 && missed >= MISSED.warn {
            format!("{told}{}", causes(subject, busy))
        } else {
            told
        };
        // A rate is a count over a time. What other tools print beside it as the mean may be of other requests.
        if is_audited(subject) && busy > 1.0 && subject.condition(WHAT).as_deref() == Some(RATE) {
            return Answer::pass(format!(
                "{told}: that speaks against the mean latency, not against the rate"
            ));
        }
        MISSED.answer(
            missed,
            told,
            "see connections-served and errors-as-work; read the figure as one of so many connections as were busy",
        )
    },
};

/// What should be under way, and where that number is from.
fn in_flight(subject: &Subject) -> String {
    let from = match subject.figure.evidence.get(CONNECTIONS_FROM).into_value() {
        Some(from) => format!(" ({from})"),
        None => String::new(),
    };
    match (subject.condition(CONNECTIONS), subject.condition(DEPTH)) {
        (Some(connections), Some(depth)) => format!(
            "the {} requests in flight, {depth} on each of {connections} connections{from}",
            connections * depth
        ),
        (Some(connections), None) if !from.is_empty() => format!("the {connections} connections{from}"),
        _ => "the connections".to_owned(),
    }
}

/// What may make more than there can be.
fn causes(subject: &Subject, busy: f64) -> String {
    let whole = busy.round();
    let is_whole = (2.0..=DEEPEST).contains(&whole) && (busy / whole - 1.0).abs() <= NEAR_WHOLE;
    let mut causes = String::new();
    if is_whole && is_audited(subject) && subject.condition(DEPTH).is_none() {
        causes += &format!("; {whole} requests in flight on each connection (pipelining) would explain it");
    }
    if subject.figure.evidence.get(ADDED_SAMPLES).into_value() == Some(true) {
        causes += "; wrk from 4.0 on adds samples that it thinks are missing: the mean is its formula, not measured";
    }
    causes
}
