//! Did the benchmark compute correct results?

use figure::evidence::{COPIES, ORDER, VERIFIED, VERIFIED_ERROR};
use figure::format;

use crate::check::{Answer, Check, Subject, always, measured, observed, of_copies, on_arrays, page};
use crate::relations::core_pairs;

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
    let right = observed!(evidence.get(VERIFIED));
    if subject.condition(COPIES).is_some() {
        return if right {
            Answer::pass("every copy's results were what they must be, in every pass")
        } else {
            Answer::fail("a copy's results were not what they must be", FIX)
        };
    }
    if of_pairs(subject) {
        return if right {
            Answer::pass("the line changed hands as often as it must have")
        } else {
            Answer::fail("the line did not change hands as often as it must have", FIX)
        };
    }
    if subject.condition(ORDER).is_some() {
        return if right {
            Answer::pass("every walk along the chain ended where it must")
        } else {
            Answer::fail("a walk along the chain ended where it must not", FIX)
        };
    }
    let error = match evidence.get(VERIFIED_ERROR).into_value() {
        None if right => "sums are exact".to_owned(),
        Some(error) => format!("largest relative error {}", format::number(error)),
        None => "no finite error: NaN or infinity".to_owned(),
    };
    if right {
        Answer::pass(format!("every array holds what it must; {error}"))
    } else {
        Answer::fail(format!("the arrays do not hold what the kernels must have left; {error}"), FIX)
    }
}

const FIX: &str = "measure again; if it recurs, test the memory (memtest86+, or memtester without a reboot) and report the \
    record as a defect of truebench";
