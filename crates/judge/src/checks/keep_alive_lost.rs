//! Did the keep-alive connections stay open?

use figure::evidence::http::{ANSWERED, CLOSED_ANNOUNCED, CLOSED_IDLE, CONNECTS, FAILED, KEEPS_ALIVE};
use figure::format::{number, percent, quantity};

use super::loss::LOST_TIME;
use crate::check::{Answer, Check, Subject, always, observed, page};
use crate::load::{failed, of_load};

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
    let closed = match announced + idle {
        0.0 => String::new(),
        _ => format!("; the server ended {announced} and said so, and {idle} that were idle"),
    };
    if made == 0.0 {
        return Answer::pass(format!("no connection had to be made again{closed}"));
    }
    let ended = observed!(failed(figure, FAILED, ENDING));
    let behind = match ended.min(made) {
        0.0 => String::new(),
        behind => format!("; {} of them behind requests that failed", number(behind)),
    };
    let lost = (made - ended).max(0.0) / answered;
    LOST_TIME.answer(
        lost * ANSWERS_EACH,
        format!(
            "{} made again, {} of the answers{behind}{closed}",
            quantity(made, "connection"),
            percent(made / answered)
        ),
        "let the server keep connections: no limit of requests for each (nginx: keepalive_requests), idle timeouts \
         longer than the pause between requests",
    )
}
