//! Was nearly every request answered as expected?

use figure::evidence::http::{ANSWERED, FAILED, FAILURES, UNCONNECTED};

use crate::cases::{Kind, Loads};
use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{REFUSAL, aims_at, of_load, sums};
use crate::values::{Count, Counted, List, Share};

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
        return Answer::fail(Loads::NothingAnswered);
    }
    let share = lost / (lost + answered);
    if lost == 0.0 {
        return Answer::pass(Loads::AllExpected { answers: Counted(answered, "answer") });
    }
    let named = FAILURES.iter().copied().zip(kinds).filter(|(_, count)| *count > 0.0);
    let mut kinds: Vec<Kind> = named.map(|(kind, count)| Kind { kind, count: Count(count) }).collect();
    kinds.sort_by(|one, other| other.count.0.total_cmp(&one.count.0));
    FAILURE.answer(share, Loads::RequestsFailed { share: Share(share), kinds: List(kinds) })
}
