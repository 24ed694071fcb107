//! Do two measurements of the same thing in one run agree?
//!
//! The spread within a figure understates its uncertainty. In nanobench's own tests two identical workloads differed
//! by 38 %, each with a claimed error of 0.5 %. An A/A pair measures what the interval leaves out.

use figure::{Figure, format};

use super::partner::{self, AGAIN};
use crate::check::{Answer, Check, Subject, never, page};

/// Two measurements of the same thing this close are the same for every use of a bandwidth.
const SAME: f64 = 0.02;

/// The A/A relation.
pub const CHECK: Check = Check {
    id: "aa-pair",
    page: page!("aa-pair"),
    applies: |subject| twin(subject).is_some(),
    essential: never,
    rule,
};

/// The other of the two measurements.
pub(crate) fn twin<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    let kernel = partner::kernel(subject.figure)?;
    let stores = partner::stores(subject.figure)?;
    match partner::role(subject.figure).as_deref() {
        None => partner::find(subject, &kernel, &stores, Some(AGAIN)),
        Some(AGAIN) => partner::find(subject, &kernel, &stores, None),
        Some(_) => None,
    }
}

fn rule(subject: &Subject) -> Answer {
    let Some(other) = twin(subject) else { return Answer::unknown("not measured twice") };
    let ratio = match partner::ratio(subject.figure, other) {
        Ok(ratio) => ratio,
        Err(reason) => return Answer::unknown(reason),
    };
    let seen = format!("{} against {}", partner::ratio_text(&ratio), other.id);
    if ratio.same(SAME) {
        Answer::pass(format!("measured twice, called the same: {seen}"))
    } else {
        Answer::warn(
            format!(
                "two measurements of the same thing differ by {}: the interval understates the uncertainty ({seen})",
                format::percent((ratio.value - 1.0).abs())
            ),
            "take differences of this size between figures of this run for noise; measure longer with more \
             rounds (--rounds, --max-time) on a quieter machine",
        )
    }
}
