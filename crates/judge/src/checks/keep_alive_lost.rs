//! Did the keep-alive connections stay open?

use figure::evidence::http::{ANSWERED, CLOSED_ANNOUNCED, CLOSED_IDLE, CONNECTS, FAILED, KEEPS_ALIVE};

use super::levels::LOST_TIME;
use crate::load::{failed, of_load};
use crate::prelude::*;

/// What making and ending a connection costs, in answers: three segments, accept, epoll_ctl and close on both sides. An order of
/// magnitude.
const ANSWERS_EACH: f64 = 4.0;

/// Failures of requests that end their connection, and are asked about by `errors-as-work`. One that is closed before any of the answer is here
/// as it is what dropping an idle connection looks like to a request that was on its way.
const ENDING: &[&str] = &["malformed", "reset", "closed within", "timeout"];

/// Connections that were made while they should have been there.
pub const CHECK: Check = Check::essential(
    page!("keep-alive-lost"),
    |subject| of_load(subject) && subject.condition(KEEPS_ALIVE) == Some(true),
    rule,
);

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
    LOST_TIME.answer(lost * ANSWERS_EACH, case)
}
