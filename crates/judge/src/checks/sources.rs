//! Are the figures that this one was computed from sound?

use figure::{Outcome, Verdict};

use crate::check::{Answer, Check, Subject, always, measured};

/// The verdicts of the figures named in `derived_from`, for a figure that has no rounds of its own. `judge`
/// judges those first.
pub const CHECK: Check = Check {
    id: "sources",
    question: "Are the figures that this one was computed from sound?",
    reads: &[],
    page: include_str!("../../../../docs/checks/sources.md"),
    // One that was made of the rounds of another, kept in its own, is judged by these rounds.
    applies: |subject| !subject.figure.derived_from.is_empty() && !measured(subject),
    essential: always,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let mut worst = (Verdict::Valid, String::new());
    for id in &subject.figure.derived_from {
        let Some(source) = subject.record.figure(id) else {
            return Answer::unknown(format!("{id} is not in the record"));
        };
        let Some(verdict) = source.verdict else {
            return Answer::unknown(format!("{id} was not measured or not judged"));
        };
        if verdict > worst.0 {
            worst = (verdict, id.clone());
        }
    }
    let (verdict, id) = worst;
    let outcome = match verdict {
        Verdict::Valid => return Answer::pass(format!("valid: {}", subject.figure.derived_from.join(", "))),
        Verdict::Unverified => Outcome::Unknown,
        Verdict::Suspect => Outcome::Warn,
        Verdict::Invalid => Outcome::Fail,
    };
    Answer::of(outcome, format!("{id} is {verdict}"), format!("see the reasons of {id}"))
}
