//! Are rate, latency and number of connections consistent with Little's law?

use figure::evidence::audit::{ADDED_SAMPLES, CONNECTIONS_FROM, DEPTH, QUEUED};
use figure::evidence::http::{CONNECTIONS, LITTLE, WHAT};

use crate::load::{RATE, is_closed, is_of_users, of_load};
use crate::prelude::*;

/// By how much rate times mean latency misses the connections. Of 59 servers on a public board 56 are within 5 % at 512 connections, and
/// only 37 at 4096: there a good part of the connections did nothing. A quarter is a figure of another number of connections.
const MISSED: Levels = Levels { warn: 0.05, fail: 0.25 };
/// By what share of a whole number the excess may miss it, and the deepest pipeline, for pipelining to be named as a possible cause.
const NEAR_WHOLE: f64 = 0.05;
const DEEPEST: f64 = 64.0;
/// Of a queue that was to be kept full: with less than half of it the figure is of another depth.
const HALF: f64 = 0.5;

/// L = X R (Little, Operations Research 9, 1961): in a closed loop without pauses as many requests are under way as there are connections.
/// With pauses there are no more.
pub const CHECK: Check = Check::essential(
    page!("littles-law"),
    |subject| {
        let of_users = is_of_users(subject) && prints(subject, LITTLE);
        of_load(subject) && (is_closed(subject) || of_users) || prints(subject, QUEUED)
    },
    rule,
)
.audited();

/// Of a queue of requests to a device: no more than its depth, and not far less.
fn queue(subject: &Subject, busy: f64) -> Answer {
    let depth = subject.condition(DEPTH).map(|depth| Counted(depth, "request"));
    let outcome = match busy {
        _ if busy >= 1.0 => MISSED.outcome(busy - 1.0),
        _ if busy < HALF => Outcome::Warn,
        _ => Outcome::Pass,
    };
    Answer::of(outcome, Texts::Queue { busy: Share(busy), depth })
}

fn rule(subject: &Subject) -> Answer {
    if prints(subject, QUEUED) {
        return queue(subject, observed!(subject.typical(QUEUED)));
    }
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
    let is_pause = is_of_users(subject) && busy < 1.0;
    if is_rate || is_batch || is_pause { Answer::pass(case) } else { MISSED.answer(missed, case) }
}

/// Requests in flight on each connection that would explain more than there can be, where another tool may have sent so many.
fn pipelined(subject: &Subject, busy: f64) -> Option<f64> {
    let whole = busy.round();
    let is_whole = (2.0..=DEEPEST).contains(&whole) && (busy / whole - 1.0).abs() <= NEAR_WHOLE;
    (is_whole && is_audited(subject) && subject.condition(DEPTH).is_none()).then_some(whole)
}
