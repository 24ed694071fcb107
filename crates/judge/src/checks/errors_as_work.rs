//! Was nearly every request answered as expected?

use figure::evidence::http::{ANSWERED, FAILED, FAILURES, UNCONNECTED};
use figure::format::{number, percent};

use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{REFUSAL, aims_at, of_load, sums};

/// Requests that failed, of all that ended. They are in no rate and, but for timeouts, in no latency: the figure is of the others. One
/// in ten thousand is what the 99.9th percentile does not see; of one in a hundred, the load is not the one that was asked for.
const FAILURE: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// Outcomes by kind. Only an answer with the expected status and length is work.
pub const CHECK: Check = Check {
    id: "errors-as-work",
    page: page!("errors-as-work"),
    // Where a server is to refuse, refusals are what is shown.
    applies: |subject| of_load(subject) && !aims_at(subject, &[REFUSAL]),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let answered = observed!(subject.figure.sum(ANSWERED));
    let (failed, unconnected) =
        (observed!(sums(subject.figure, FAILED)), observed!(sums(subject.figure, UNCONNECTED)));
    let kinds: Vec<f64> = (0..FAILURES.len())
        .map(|at| [&failed, &unconnected].iter().filter_map(|kinds| kinds.get(at)).sum())
        .collect();
    let lost: f64 = kinds.iter().sum();
    if lost + answered <= 0.0 {
        return Answer::fail(
            "nothing was answered",
            "see whether the server runs, and what it answers to curl -i",
        );
    }
    let share = lost / (lost + answered);
    if lost == 0.0 {
        return Answer::pass(format!("all {} answers were as expected", number(answered)));
    }
    let mut named: Vec<(&str, f64)> =
        FAILURES.iter().copied().zip(kinds).filter(|(_, count)| *count > 0.0).collect();
    named.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named: Vec<String> = named.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    FAILURE.answer(
        share,
        format!("{} of the requests failed: {}", percent(share), named.join(", ")),
        "see what the server answers (curl -i) and logs; state what is expected: --expect-status, --expect-body-bytes",
    )
}
