//! Did answers wait for delayed acknowledgements?

use figure::evidence::http::{DELAYED_ACKS, LATENCY, MODE_40MS};

use crate::load::{MEDIAN, of_server, server_used, typical_at};
use crate::prelude::*;

/// The share of answers that waited. One in a hundred is the 99th percentile; with one in ten the mean is the timer's.
const DELAY_SHARE: Levels = Levels { warn: 0.01, fail: 0.10 };
/// Medians around the 40 ms, in seconds: latencies between 38 and 46 ms are then common for any reason.
const TIMER: std::ops::Range<f64> = 0.020..0.100;
/// A server that used this share of its CPUs' time was not waiting for a timer.
const BUSY: f64 = 0.50;

/// Latencies at 40 ms (TCP_DELACK_MIN, include/net/tcp.h), and DelayedACKs of /proc/net/netstat.
pub const CHECK: Check = Check::new(page!("delayed-ack"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let mode = observed!(subject.typical(MODE_40MS));
    let median = observed!(typical_at(subject.figure, LATENCY, MEDIAN));
    let acks = subject.typical(DELAYED_ACKS).into_value();
    // An answer that waited for one has one.
    let waited = acks.map_or(mode, |acks| mode.min(acks));
    let case = |queueing| Loads::DelayedAcks { share: Share(mode), acks: acks.map(Number), queueing };
    let median = Seconds(median);
    if waited >= DELAY_SHARE.warn && TIMER.contains(&median.0) {
        match server_used(subject.figure) {
            Reading::Value(used) if used.own >= BUSY => return Answer::pass(case(Some(median))),
            Reading::Value(_) => {}
            Reading::Unknown(reason) => {
                return Answer::unknown(format!(
                    "the median latency is {median}, by a queue or a timer: {reason}"
                ));
            }
        }
    }
    DELAY_SHARE.answer(waited, case(None))
}
