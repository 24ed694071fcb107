//! Do the latencies cover all answers?

use figure::evidence::audit::RESULTS;
use figure::evidence::http::{ANSWERED, FAILED, RECORDED, WHAT};

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::{RATE, failed, head};
use crate::values::{Count, Counted, Share};

/// Answers that are in no latency. Of one in a hundred the 99th percentile is not known.
const MISSING: Levels = Levels { warn: 1e-3, fail: 0.01 };

/// Results that a tool kept against the answers that it counted.
pub const CHECK: Check = Check {
    id: "results-truncated",
    page: page!("results-truncated"),
    applies: |subject| {
        let of_latency = subject.condition(WHAT).is_some_and(|what| what != RATE);
        let recorded = head(subject).is_some_and(|load| load.over_rounds(RECORDED).value().is_some());
        is_audited(subject) && of_latency && recorded
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let Some(load) = head(subject) else { return Answer::unknown("its run is not in the record") };
    let recorded = observed!(load.sum(RECORDED));
    // An answer with an error status has a latency as well.
    let answers = observed!(load.sum(ANSWERED)) + observed!(failed(load, FAILED, &["status"]));
    let share = ((answers - recorded) / answers.max(1.0)).max(0.0);
    // A handful is what ended while the tool summed up.
    let cause = subject.figure.evidence.get(RESULTS).into_value();
    let cause = cause.filter(|cause| !cause.is_empty() && share >= MISSING.warn);
    let (recorded, answers) = (Count(recorded), Counted(answers, "answer"));
    MISSING.answer(share, Texts::Recorded { recorded, answers, share: Share(share), cause })
}
