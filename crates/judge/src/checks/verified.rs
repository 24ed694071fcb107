//! Did the benchmark compute correct results?

use figure::evidence::{COPIES, ORDER, VERIFIED, VERIFIED_ERROR};

use crate::prelude::*;
use crate::relations::core_pairs;

/// The contents of the arrays, checked after the last round, as STREAM's `checkSTREAMresults` does.
pub const CHECK: Check = Check::essential(
    page!("verified"),
    |subject| {
        let is_checked = on_arrays(subject) || of_copies(subject) || of_pairs(subject);
        (is_checked || is_audited(subject)) && measured(subject) && !never_checks(subject)
    },
    rule,
)
.audited();

/// Printed by a tool that never checks what it computed.
fn never_checks(subject: &Subject) -> bool {
    is_audited(subject) && !subject.figure.evidence.iter().any(|(name, _)| name == VERIFIED.name)
}

/// Of a line that goes to and fro between two CPUs.
fn of_pairs(subject: &Subject) -> bool {
    measured(subject) && core_pairs::is_pair(subject.figure)
}

fn rule(subject: &Subject) -> Answer {
    let correct = observed!(subject.fact(VERIFIED));
    let (work, error) = if subject.condition(COPIES).is_some() {
        ("results of all copies", None)
    } else if of_pairs(subject) {
        ("hand-overs of the line", None)
    } else if subject.condition(ORDER).is_some() {
        ("ends of all walks along the chain", None)
    } else {
        ("contents of the arrays", subject.fact(VERIFIED_ERROR).into_value().map(Number))
    };
    Answer::fail_if(!correct, Rounds::Results { work, correct, error })
}
