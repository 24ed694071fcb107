//! Did the benchmark compute correct results?

use figure::Outcome;
use figure::evidence::{COPIES, ORDER, VERIFIED, VERIFIED_ERROR};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, always, measured, observed, of_copies, on_arrays, page};
use crate::relations::core_pairs;
use crate::values::Number;

/// The contents of the arrays, checked after the last round, as STREAM's `checkSTREAMresults` does.
pub const CHECK: Check = Check {
    id: "verified",
    page: page!("verified"),
    applies: |subject| on_arrays(subject) || of_copies(subject) || of_pairs(subject),
    essential: always,
    rule,
};

/// Of a line that goes to and fro between two CPUs.
fn of_pairs(subject: &Subject) -> bool {
    measured(subject) && core_pairs::is_pair(subject.figure)
}

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let correct = observed!(evidence.get(VERIFIED));
    let (work, error) = if subject.condition(COPIES).is_some() {
        ("results of all copies", None)
    } else if of_pairs(subject) {
        ("hand-overs of the line", None)
    } else if subject.condition(ORDER).is_some() {
        ("ends of all walks along the chain", None)
    } else {
        ("contents of the arrays", evidence.get(VERIFIED_ERROR).into_value().map(Number))
    };
    let outcome = if correct { Outcome::Pass } else { Outcome::Fail };
    Answer::of(outcome, Rounds::Results { work, correct, error })
}
