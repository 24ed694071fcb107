//! Are the figures that this one is computed from valid?

use figure::causes::{first_reason, reason_for};
use figure::check::{Cause, PRECISION, ROUNDS};
use figure::evidence::TIMELESS;
use figure::evidence::http::WHAT;
use figure::{Basis, CheckResult, Figure, Outcome, Verdict};
use suites::treatment::{Clock, is_of_time, is_shared};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, always, measured, page};
use crate::values::{Counted, Name};

/// The verdicts of the figures named in `derived_from`, for a figure that has no rounds of its own. `judge`
/// judges those first.
pub const CHECK: Check = Check {
    id: "inputs",
    page: page!("inputs"),
    // One that was made of the rounds of another, kept in its own, is judged by these rounds.
    applies: |subject| !subject.figure.derived_from.is_empty() && !measured(subject),
    essential: always,
    rule,
};

/// Checks of how much of a server a load showed, and of its latencies: what the server took for each answer or holds for each
/// connection is what it is, whoever was at the limit.
const OF_THE_CLIENT: &[&str] = &[
    "client-saturated",
    "client-ceiling",
    "client-doubled",
    "server-not-saturated",
    "coordinated-omission",
    "survivorship-bias",
    "latencies-complete",
];
/// `http.what` of what a server took or holds.
const OF_THE_SERVER: &[&str] = &["cpu", "memory", "goroutines", "run-queue"];
/// Of these, what would be the same had the rounds been slower.
const HELD: &[&str] = &["memory", "goroutines"];

/// The verdict of a source, as far as it concerns this figure, and its first reason. `None` where the source was not judged.
fn verdict_for(subject: &Subject, source: &Figure) -> Option<(Verdict, Option<CheckResult>)> {
    let verdict = source.verdict?;
    let what = subject.condition(WHAT);
    let is_one = |of: &[&str]| what.as_deref().is_some_and(|what| of.contains(&what));
    let (timeless, of_server) =
        (subject.condition(TIMELESS) == Some(true) || is_one(HELD), is_one(OF_THE_SERVER));
    let is_ratio = Clock::of_ratio(subject.figure).is_some();
    // Its own interval says how often it was repeated and how well it is known, whatever its sources have in common; a count needs none.
    let is_supported = subject.figure.interval.is_some() || subject.figure.basis == Basis::Count;
    let concerns = |check: &&CheckResult| {
        let id = check.id.as_str();
        // What both arms of a ratio shared, `equal-treatment` decides.
        let is_shared = is_ratio && check.outcome >= Outcome::Warn && is_shared(id);
        !(timeless && is_of_time(id)
            || of_server && OF_THE_CLIENT.contains(&id)
            || is_shared
            || is_supported && [ROUNDS, PRECISION].contains(&id))
    };
    if source.checks.iter().all(|check| concerns(&check)) {
        return Some((verdict, first_reason(source)));
    }
    let checks: Vec<CheckResult> = source.checks.iter().filter(concerns).cloned().collect();
    let verdict = Verdict::of(&checks);
    Some((verdict, reason_for(verdict, &checks)))
}

fn rule(subject: &Subject) -> Answer {
    let mut worst = (Verdict::Valid, None, String::new());
    for id in &subject.figure.derived_from {
        let Some(source) = subject.record.figure(id) else {
            return Answer::unknown(format!("{id} is not in the record"));
        };
        let Some(verdict) = verdict_for(subject, source) else {
            let why = source.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
            return Answer::unknown(format!("{id} was not measured or not judged{why}"));
        };
        if verdict.0 > worst.0 {
            worst = (verdict.0, verdict.1, id.clone());
        }
    }
    let (verdict, reason, id) = worst;
    let outcome = match verdict {
        Verdict::Valid => {
            let inputs = Counted(subject.figure.derived_from.len() as f64, "figure");
            return Answer::pass(Rounds::InputsValid { inputs });
        }
        Verdict::Unverified => Outcome::Unknown,
        Verdict::Suspect => Outcome::Warn,
        Verdict::Invalid => Outcome::Fail,
    };
    let Some(reason) = reason else {
        return Answer::of(outcome, Rounds::InputNotValid { input: Name { figure: id }, verdict });
    };
    // A source that passes on the reason of its own source names that one.
    let cause = reason.cause.unwrap_or(Cause { check: reason.id, figure: id });
    let through = format!("; through {}", cause.figure);
    let detail = reason.detail.trim_end_matches('.');
    let detail = detail.strip_suffix(&through).unwrap_or(detail).to_owned();
    let input = Name { figure: cause.figure.clone() };
    let case = Rounds::InputReason { input, detail, fix: reason.fix };
    Answer { cause: Some(cause), ..Answer::of(outcome, case) }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn checks_of_time_are_checks() {
        let of_time = suites::treatment::OF_TIME.iter().map(|check| &check.id);
        for id in of_time.chain(OF_THE_CLIENT) {
            assert!(crate::find(id).is_some(), "{id}");
        }
    }
}
