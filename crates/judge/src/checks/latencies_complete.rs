//! Is the latency of every answer recorded, and are there enough for the quantile?

use figure::evidence::http::{
    ANSWERED, ANSWERED_LATE, CONNECTIONS, FAILED, LATENCY, QUANTILE, RATE_ASKED, RECORDED, WHAT,
};

use crate::load::{LONGEST, failed, head, of_load, typical_at};
use crate::prelude::*;

/// What is missing, or too much, of the answers, beyond what the ends of the window explain. hey records its first million
/// (hey #112, #166).
const ASTRAY: Levels = Levels { warn: 1e-4, fail: 0.01 };
/// Latencies beyond a quantile that a round must have: with fewer, one of them moves it.
const BEYOND: f64 = 10.0;
/// `http.what` of a latency.
const LATENCIES: &str = "latency";

/// Counts of answers against counts of latencies.
pub const CHECK: Check =
    Check::essential(page!("latencies-complete"), |subject| of_load(subject) || is_latency(subject), rule);

fn is_latency(subject: &Subject) -> bool {
    subject.is(WHAT, LATENCIES)
}

fn rule(subject: &Subject) -> Answer {
    let load = observed!(head(subject));
    if is_latency(subject) { enough(subject, load) } else { complete(subject, load) }
}

fn enough(subject: &Subject, load: &Figure) -> Answer {
    let quantile = Reading::or_unknown(subject.condition(QUANTILE), "the quantile of the figure is unknown");
    let quantile = observed!(quantile);
    let recorded = observed!(load.over_rounds(RECORDED));
    let each = stats::median(&recorded).unwrap_or(0.0);
    let beyond = each * (1.0 - quantile);
    let case = Loads::BeyondQuantile { latencies: Count(each), beyond: Number(beyond) };
    Answer::warn_if(beyond < BEYOND, case)
}

/// Latencies are of requests that began in the window; answers of it are also to requests from before, one for each connection at most,
/// or what a rate had queued by then. Timeouts have a latency, and may end behind the window.
fn complete(subject: &Subject, load: &Figure) -> Answer {
    let recorded = observed!(load.sum(RECORDED));
    let answered = observed!(load.sum(ANSWERED)) + observed!(load.sum(ANSWERED_LATE));
    let rounds = load.used_rounds().count() as f64;
    let edge = rounds * subject.condition(CONNECTIONS).unwrap_or(0.0);
    let queued = match (load.sum(RATE_ASKED), typical_at(load, LATENCY, LONGEST)) {
        (Reading::Value(rates), Reading::Value(longest)) => rates * longest,
        // A closed loop asks for no rate.
        _ => 0.0,
    };
    let timeouts = observed!(failed(load, FAILED, &["timeout"]));
    let (least, most) = (answered - edge - queued, answered + timeouts + edge);
    let astray = (least - recorded).max(recorded - most).max(0.0);
    let share = astray / answered.max(1.0);
    let (recorded, answers) = (Count(recorded), Counted(answered, "answer"));
    ASTRAY.answer(share, Loads::LatenciesRecorded { recorded, answers, share: Share(share) })
}
