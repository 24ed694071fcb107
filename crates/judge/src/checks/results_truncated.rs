//! Do the latencies cover all answers?

use figure::evidence::audit::RESULTS;
use figure::evidence::http::{ANSWERED, FAILED, RECORDED, WHAT};

use crate::load::{RATE, failed, head};
use crate::prelude::*;

/// Answers that are in no latency. Of one in a hundred the 99th percentile is not known.
const MISSING: Levels = Levels { warn: 1e-3, fail: 0.01 };

/// Results that a tool kept against the answers that it counted.
pub const CHECK: Check = Check::new(
    page!("results-truncated"),
    |subject| of_latency(subject) && head(subject).and_then(|load| load.sum(RECORDED)).value().is_some(),
    rule,
)
.audited();

/// Whether it is a printed latency of a load.
pub(super) fn of_latency(subject: &Subject) -> bool {
    is_audited(subject) && subject.condition(WHAT).is_some_and(|what| what != RATE)
}

fn rule(subject: &Subject) -> Answer {
    let load = observed!(head(subject));
    let recorded = observed!(load.sum(RECORDED));
    // An answer with an error status has a latency as well.
    let answers = observed!(load.sum(ANSWERED)) + observed!(failed(load, FAILED, &["status"]));
    let share = ((answers - recorded) / answers.max(1.0)).max(0.0);
    // A handful is what ended while the tool summed up.
    let cause = subject.fact(RESULTS).into_value();
    let cause = cause.filter(|cause| !cause.is_empty() && share >= MISSING.warn);
    let (recorded, answers) = (Count(recorded), Counted(answers, "answer"));
    MISSING.answer(share, Texts::Recorded { recorded, answers, share: Share(share), cause })
}
