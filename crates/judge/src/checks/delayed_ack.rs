//! Did answers wait for delayed acknowledgements?

use figure::Reading;
use figure::evidence::http::{
    DELAYED_ACKS, LATENCY, MODE_40MS, SECONDS, SERVER_ALLOWED, SERVER_CPUS, SERVER_SYSTEM, SERVER_USER,
    SUBJECT, WHAT,
};
use figure::format::{percent, seconds};

use crate::check::{Answer, Check, Levels, Subject, never, observed};
use crate::load::{MEDIAN, of_server, server_used, typical_at};

/// The share of answers that waited. One in a hundred is the 99th percentile; with one in ten the mean is the timer's.
const WAITED: Levels = Levels { warn: 0.01, fail: 0.10 };
/// Medians around the 40 ms, in seconds: latencies between 38 and 46 ms are then common for any reason.
const NEAR: std::ops::Range<f64> = 0.020..0.100;
/// A server that used this share of its CPUs' time was not waiting for a timer.
const BUSY: f64 = 0.50;

/// Latencies at 40 ms (TCP_DELACK_MIN, include/net/tcp.h), and DelayedACKs of /proc/net/netstat.
pub const CHECK: Check = Check {
    id: "delayed-ack",
    question: "Did answers wait for delayed acknowledgements?",
    reads: &[
        WHAT.name,
        SUBJECT.name,
        MODE_40MS.name,
        DELAYED_ACKS.name,
        LATENCY.name,
        SERVER_USER.name,
        SERVER_SYSTEM.name,
        SECONDS.name,
        SERVER_CPUS.name,
        SERVER_ALLOWED.name,
    ],
    page: include_str!("../../../../docs/checks/delayed-ack.md"),
    applies: of_server,
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let mode = observed!(subject.typical(MODE_40MS));
    let median = observed!(typical_at(subject.figure, LATENCY, MEDIAN));
    let acks = subject.typical(DELAYED_ACKS).into_value();
    // An answer that waited for one has one.
    let waited = acks.map_or(mode, |acks| mode.min(acks));
    let counted = match acks {
        Some(acks) => format!(", with {acks:.3} delayed acknowledgements for each answer"),
        None => String::new(),
    };
    let seen = format!("{} of the latencies are between 38 and 46 ms{counted}", percent(mode));
    if waited >= WAITED.warn && NEAR.contains(&median) {
        let around = format!("{seen}; the median itself is {}", seconds(median));
        match server_used(subject) {
            Reading::Value(used) if used.own >= BUSY => {
                return Answer::pass(format!("{around}, and the server was busy: that is queueing"));
            }
            Reading::Value(_) => {}
            Reading::Unknown(reason) => {
                return Answer::unknown(format!(
                    "{around}: a queue or a timer, which the server's CPU time would tell: {reason}"
                ));
            }
        }
    }
    WAITED.answer(
        waited,
        seen,
        "send each answer by one write, and switch Nagle's algorithm off (TCP_NODELAY) at the server",
    )
}
