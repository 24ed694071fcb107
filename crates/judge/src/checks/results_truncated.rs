//! Do the latencies cover all answers?

use figure::evidence::audit::RESULTS;
use figure::evidence::http::{ANSWERED, FAILED, RECORDED, WHAT};
use figure::format::{number, percent};

use crate::audited::is_audited;
use crate::check::{Answer, Check, Levels, Subject, never, observed, page};
use crate::load::{RATE, failed, head};

/// Answers that are in no latency. Of one in a hundred the 99th percentile is not known.
const MISSING: Levels = Levels { warn: 1e-3, fail: 0.01 };

/// Results that a tool kept against the answers that it counted.
pub const CHECK: Check = Check {
    id: "results-truncated",
    page: page!("results-truncated"),
    applies: |subject| {
        let of_latency = subject.condition(WHAT).is_some_and(|what| what != RATE);
        let told = head(subject).is_some_and(|load| load.over_rounds(RECORDED).value().is_some());
        is_audited(subject) && of_latency && told
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let Some(load) = head(subject) else { return Answer::unknown("its run is not in the record") };
    let recorded = observed!(load.sum(RECORDED));
    // An answer with an error status has a latency as well.
    let answers = observed!(load.sum(ANSWERED)) + observed!(failed(load, FAILED, &["status"]));
    let results = match subject.figure.evidence.get(RESULTS).into_value() {
        Some(results) if !results.is_empty() => format!(": {results}"),
        _ => String::new(),
    };
    let share = ((answers - recorded) / answers.max(1.0)).max(0.0);
    let told = format!("latencies are of {} results, answers were {}", number(recorded), number(answers));
    // A handful is what ended while the tool summed up.
    if share < MISSING.warn {
        return Answer::pass(told);
    }
    MISSING.answer(
        share,
        format!("{told}: {} are in none{results}", percent(share)),
        "ask for fewer requests than the tool keeps results, or take one that keeps all: wrk2, truebench http load",
    )
}
