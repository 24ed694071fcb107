//! Are rate, latency and number of connections consistent with Little's law?

use figure::evidence::audit::{ADDED_SAMPLES, CONNECTIONS_FROM, DEPTH};
use figure::evidence::http::{CONNECTIONS, LITTLE, WHAT};

use crate::load::{RATE, is_closed, of_load};
use crate::prelude::*;

/// By how much rate times mean latency misses the connections. Of 59 servers on a public board 56 are within 5 % at 512 connections, and
/// only 37 at 4096: there a good part of the connections did nothing. A quarter is a figure of another number of connections.
const MISSED: Levels = Levels { warn: 0.05, fail: 0.25 };
/// By what share of a whole number the excess may miss it, and the deepest pipeline, for pipelining to be named as a possible cause.
const NEAR_WHOLE: f64 = 0.05;
const DEEPEST: f64 = 64.0;

/// L = X R (Little, Operations Research 9, 1961): in a closed loop without pauses as many requests are under way as there are connections.
pub const CHECK: Check =
    Check::essential(page!("littles-law"), |subject| of_load(subject) && is_closed(subject), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let busy = observed!(subject.typical(LITTLE));
    let missed = (busy - 1.0).abs();
    let is_beyond = busy > 1.0 && missed >= MISSED.warn;
    let case = Loads::InFlight {
        busy: Share(busy),
        connections: subject.condition(CONNECTIONS).map(|count| Counted(count, "connection")),
        depth: subject.condition(DEPTH).map(Count),
        source: subject.fact(CONNECTIONS_FROM).into_value(),
        pipelined: pipelined(subject, busy).filter(|_| is_beyond).map(Count),
        adds_samples: is_beyond && subject.fact(ADDED_SAMPLES).into_value() == Some(true),
    };
    // A rate is a count over a time. What other tools print as the mean may be of other requests.
    let is_rate = is_audited(subject) && busy > 1.0 && subject.is(WHAT, RATE);
    // A batch is timed as one, from its first request to its last answer: less of it need not be idle.
    let is_batch = subject.condition(DEPTH).is_some() && busy < 1.0 && missed < MISSED.fail;
    if is_rate || is_batch { Answer::pass(case) } else { MISSED.answer(missed, case) }
}

/// Requests in flight on each connection that would explain more than there can be, where another tool may have sent so many.
fn pipelined(subject: &Subject, busy: f64) -> Option<f64> {
    let whole = busy.round();
    let is_whole = (2.0..=DEEPEST).contains(&whole) && (busy / whole - 1.0).abs() <= NEAR_WHOLE;
    (is_whole && is_audited(subject) && subject.condition(DEPTH).is_none()).then_some(whole)
}
