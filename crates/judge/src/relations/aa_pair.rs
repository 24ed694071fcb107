//! Do two measurements of the same thing in one run agree?
//!
//! The spread within a figure understates its uncertainty. In nanobench's own tests two identical workloads differed
//! by 38 %, each with a claimed error of 0.5 %. An A/A pair measures what the interval leaves out.

use super::partner::{self, AGAIN};
use crate::prelude::*;

/// Two measurements of the same thing this close are the same for every use of a bandwidth.
const SAME: f64 = 0.02;

pub const CHECK: Check = Check::new(page!("aa-pair"), |subject| twin(subject).is_some(), rule);

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
    let ratio = observed!(partner::paired(subject.figure, other));
    Answer::warn_if(!ratio.same(SAME), Arrays::MeasuredTwice { ratio: RatioTo::new(&ratio, other) })
}
