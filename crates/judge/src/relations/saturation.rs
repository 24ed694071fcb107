//! Do the injectors saturate memory at the highest load?

use super::curve::{Curve, Saturation, is_loaded};
use crate::prelude::*;

/// The end of a curve of latency under load: with too few CPUs to inject it stays far from the limit, and looks all
/// the better for it.
pub const CHECK: Check = Check::new(page!("saturation"), |subject| end(subject).is_some(), rule);

/// The subject's curve, if the subject is its end.
fn end<'a>(subject: &Subject<'a>) -> Option<Curve<'a>> {
    if !is_loaded(subject.figure) {
        return None;
    }
    let curve = Curve::of(subject.record, subject.figure)?;
    let end = curve.end()?;
    std::ptr::eq(end.latency, subject.figure).then_some(curve)
}

fn rule(subject: &Subject) -> Answer {
    let Some(curve) = end(subject) else { return Answer::unknown("not the end of a curve") };
    match curve.saturation(subject.record) {
        Saturation::Reached(injection, latency) => Answer::pass(Arrays::Saturated { injection, latency }),
        Saturation::Short(injection) => Answer::warn(Arrays::Unsaturated(injection)),
        Saturation::Unknown(reason) => Answer::unknown(reason),
    }
}
