//! Do two measurements of the same thing in one run agree?
//!
//! The spread within a figure understates its uncertainty. In nanobench's own tests two identical workloads differed
//! by 38 %, each with a claimed error of 0.5 %. An A/A pair measures what the interval leaves out.

use figure::Figure;

use super::partner::{self, AGAIN};
use crate::cases::Arrays;
use crate::check::{Answer, Check, Subject, never, page};
use crate::values::RatioTo;

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
    let case = Arrays::MeasuredTwice { ratio: RatioTo::new(&ratio, other) };
    if ratio.same(SAME) { Answer::pass(case) } else { Answer::warn(case) }
}
