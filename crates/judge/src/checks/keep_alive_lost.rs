//! Did the keep-alive connections stay open?

use figure::evidence::http::{ANSWERED, CLOSED_ANNOUNCED, CLOSED_IDLE, CONNECTS, FAILED, KEEPS_ALIVE};

use super::loss::LOST_TIME;
use crate::cases::Loads;
use crate::check::{Answer, Check, Subject, always, observed, page};
use crate::load::{failed, of_load};
use crate::values::{Count, Counted, Share};

/// What making and ending a connection costs, in answers: three segments, accept, epoll_ctl and close on both sides. An order of
/// magnitude.
const ANSWERS_EACH: f64 = 4.0;

/// Failures of requests that end their connection, and are asked about by `errors-as-work`. One that is closed before any of the answer is here
/// as it is what dropping an idle connection looks like to a request that was on its way.
const ENDING: &[&str] = &["malformed", "reset", "closed within", "timeout"];

/// Connections that were made while they should have been there.
pub const CHECK: Check = Check {
    id: "keep-alive-lost",
    page: page!("keep-alive-lost"),
    applies: |subject| of_load(subject) && subject.condition(KEEPS_ALIVE) == Some(true),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let made = observed!(figure.sum(CONNECTS));
    let answered = observed!(figure.sum(ANSWERED)).max(1.0);
    let by_server = |key| figure.sum(key).into_value().unwrap_or(0.0);
    let (announced, idle) = (by_server(CLOSED_ANNOUNCED), by_server(CLOSED_IDLE));
    let ended = if made == 0.0 { 0.0 } else { observed!(failed(figure, FAILED, ENDING)) };
    let lost = (made - ended).max(0.0) / answered;
    LOST_TIME.answer(
        lost * ANSWERS_EACH,
        Loads::Reconnects {
            made: Counted(made, "connection"),
            share: Share(made / answered),
            failed: Count(ended.min(made)),
            announced: Count(announced),
            idle: Count(idle),
        },
    )
}
