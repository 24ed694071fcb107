//! Are the figures that this one is computed from valid?

use figure::causes::{first_reason, reason_for};
use figure::check::{Cause, PRECISION, ROUNDS};
use figure::evidence::TIMELESS;
use figure::evidence::http::WHAT;
use figure::{Basis, CheckResult, Verdict};
use suites::treatment::{Clock, is_of_time, is_shared};

use crate::prelude::*;

/// The verdicts of the figures named in `derived_from`, for a figure that has no rounds of its own. `judge`
/// judges those first.
/// One that has copies of the rounds of another is judged by these.
pub const CHECK: Check = Check::essential(
    page!("inputs"),
    |subject| !subject.figure.derived_from.is_empty() && !measured(subject),
    rule,
)
.audited();

/// Checks of how much of a server a load showed, and of its latencies: what the server took for each answer or holds for each
/// connection does not depend on who is at the limit.
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
const STATES: &[&str] = &["memory", "goroutines"];
/// Checks of a series of rounds: a difference has rounds of its own, in which what both figures share is cancelled.
const OF_ROUNDS: &[&str] = &["drift", "bimodal", "rounds-agree"];

/// The verdict of a source, as far as it concerns this figure, and its first reason. `None` where the source was not judged.
fn verdict_for(subject: &Subject, source: &Figure) -> Option<(Verdict, Option<CheckResult>)> {
    let verdict = source.verdict?;
    let what = subject.condition(WHAT).unwrap_or_default();
    let timeless = subject.condition(TIMELESS) == Some(true) || STATES.contains(&what.as_str());
    let of_server = OF_THE_SERVER.contains(&what.as_str());
    let is_ratio = Clock::of_ratio(subject.figure).is_some();
    // Its own interval says how often it was repeated and how well it is known, whatever its sources have in common; a count needs none.
    let is_supported = subject.figure.interval.is_some() || subject.figure.basis == Basis::Count;
    let is_difference = is_difference(subject);
    let concerns = |check: &&CheckResult| {
        let id = check.id.as_str();
        // What both arms of a ratio shared, `equal-treatment` decides.
        let is_shared = is_ratio && check.outcome >= Outcome::Warn && is_shared(id);
        !(timeless && is_of_time(id)
            || is_difference && OF_ROUNDS.contains(&id)
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
    let (mut verdict, mut reason, mut id) = (Verdict::Valid, None, String::new());
    for source in &subject.figure.derived_from {
        let Some(figure) = subject.record.figure(source) else {
            return Answer::unknown(format!("{source} is not in the record"));
        };
        match verdict_for(subject, figure) {
            Some((worse, why)) if worse > verdict => (verdict, reason, id) = (worse, why, source.clone()),
            Some(_) => {}
            None => {
                let why = figure.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
                return Answer::unknown(format!("{source} was not measured or not judged{why}"));
            }
        }
    }
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
        for id in
            of_time.chain(OF_THE_CLIENT).chain(OF_ROUNDS).chain(&[ROUNDS, PRECISION, suites::settings::TOOK])
        {
            assert!(crate::find(id).is_some(), "{id}");
        }
    }
}
