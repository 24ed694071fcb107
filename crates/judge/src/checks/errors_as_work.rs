//! Was nearly every request answered as expected?

use figure::evidence::http::{ANSWERED, FAILED, FAILURES, UNCONNECTED};

use crate::cases::Kind;
use crate::load::{REFUSAL, aims_at, of_load, sums};
use crate::prelude::*;

/// Requests that failed, of all that ended. They are in no rate and, but for timeouts, in no latency: the figure is of the others. One
/// in ten thousand is what the 99.9th percentile does not see; of one in a hundred, the load is not the one that was asked for.
const FAILURE: Levels = Levels { warn: 1e-4, fail: 0.01 };

/// Outcomes by kind. Only an answer with the expected status and length is work.
/// Not where a server is to refuse requests.
pub const CHECK: Check = Check::essential(
    page!("errors-as-work"),
    |subject| of_load(subject) && !aims_at(subject, &[REFUSAL]),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let kinds = [observed!(sums(subject.figure, FAILED)), observed!(sums(subject.figure, UNCONNECTED))];
    let lost: f64 = kinds.iter().flatten().sum();
    let answered = subject.sum(ANSWERED);
    if lost > 0.0 && answered.clone().into_value().is_none() {
        return Answer::unknown(format!("{lost} requests failed, and the text does not show of how many"));
    }
    let answered = observed!(answered);
    if lost + answered <= 0.0 {
        return Answer::fail(Loads::NothingAnswered);
    }
    if lost == 0.0 {
        return Answer::pass(Loads::AllExpected { answers: Counted(answered, "answer") });
    }
    let share = lost / (lost + answered);
    let count = |at| Count(kinds.iter().filter_map(|counts| counts.get(at)).sum());
    let kinds = FAILURES.iter().enumerate().map(|(at, kind)| Kind { kind, count: count(at) });
    let mut kinds: Vec<Kind> = kinds.filter(|kind| kind.count.0 > 0.0).collect();
    kinds.sort_by(|one, other| other.count.0.total_cmp(&one.count.0));
    FAILURE.answer(share, Loads::RequestsFailed { share: Share(share), kinds: List(kinds) })
}
