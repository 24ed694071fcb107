//! Did the keep-alive connections stay open?

use figure::evidence::http::{
    ANSWERED, CLOSED_ANNOUNCED, CLOSED_IDLE, CONNECT_LONGEST, CONNECTS, FAILED, KEEPS_ALIVE, LATENCY_MEAN,
};

use super::levels::LOST_TIME;
use crate::load::{failed, of_load};
use crate::prelude::*;

/// What making and ending a connection costs, in answers: three segments, accept, epoll_ctl and close on both sides. An order of
/// magnitude.
const ANSWERS_EACH: f64 = 4.0;

/// Of a figure of another tool the cost is not known well: one connection in 40 answers warns, one in 8 fails.
const PRINTED: Levels = Levels { warn: 0.10, fail: 0.50 };
/// A connection is a large part of a request only if the longest that making one took is this much of the mean latency.
const LARGE: f64 = 0.10;

/// Failures of requests that end their connection, and are asked about by `errors-as-work`. One that is closed before any of the answer is here
/// as it is what dropping an idle connection looks like to a request that was on its way.
const ENDING: &[&str] = &["malformed", "reset", "closed within", "timeout"];

/// Connections that were made while they should have been there.
pub const CHECK: Check = Check::essential(
    page!("keep-alive-lost"),
    |subject| {
        let counts = !is_audited(subject) || prints(subject, CONNECTS);
        of_load(subject) && subject.condition(KEEPS_ALIVE) == Some(true) && counts
    },
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let [made, answered] = observed!(subject.sums([CONNECTS, ANSWERED]));
    let answered = answered.max(1.0);
    let by_server = |key| Count(subject.sum(key).into_value().unwrap_or(0.0));
    let ended = if made == 0.0 { 0.0 } else { observed!(failed(subject.figure, FAILED, ENDING)) };
    let lost = (made - ended).max(0.0) / answered;
    let case = Loads::Reconnects {
        made: Counted(made, "connection"),
        share: Share(made / answered),
        failed: Count(ended.min(made)),
        announced: by_server(CLOSED_ANNOUNCED),
        idle: by_server(CLOSED_IDLE),
    };
    let levels = match is_audited(subject) {
        true if is_large(subject) => PRINTED,
        true => Levels { fail: f64::INFINITY, ..PRINTED },
        false => LOST_TIME,
    };
    levels.answer(lost * ANSWERS_EACH, case)
}

/// Whether making a connection may be a large part of a request.
fn is_large(subject: &Subject) -> bool {
    let times = subject.largest(CONNECT_LONGEST).and(subject.typical(LATENCY_MEAN)).into_value();
    times.is_some_and(|(longest, mean)| longest >= LARGE * mean)
}
