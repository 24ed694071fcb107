//! Is the figure physically possible?

use figure::evidence::{COUNTED_BYTES, WORKING_SET};
use figure::{Better, Outcome, Reading, Unit};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, measured, never, page};
use crate::values::{Amount, Share};

/// What a figure may be above its limit: module speeds are rounded (2666 is 2666.67 MT/s), and clocks differ
/// by parts in a million.
const TOLERANCE: f64 = 0.01;

/// The figure against the theoretical peak of the memory modules, or against the limit that it states.
///
/// The bytes that STREAM counts must move, whatever the processor does, so these are compared with the peak;
/// the write-allocate on top of them may be evaded (Intel's SpecI2M, Arm's write streaming), so the estimated
/// traffic may lie above the peak without being wrong.
pub const CHECK: Check = Check {
    id: "above-limit",
    page: page!("above-limit"),
    applies: |subject| measured(subject) && (is_bandwidth(subject) || has_own_limit(subject)),
    essential: never,
    rule,
};

/// Counted bytes that all come from or go to memory; not what works in cache on
/// purpose, nor the points of a curve over array sizes.
fn is_bandwidth(subject: &Subject) -> bool {
    subject.figure.unit == Unit::GB_PER_S
        && subject.condition(COUNTED_BYTES).is_some_and(|bytes| bytes > 0.0)
        && subject.condition(WORKING_SET).is_none()
        && !subject.figure.at.contains_key("array")
}

/// A limit that is physical, not another figure's value.
fn has_own_limit(subject: &Subject) -> bool {
    let limit = subject.figure.limit.as_ref();
    limit.is_some_and(|limit| limit.value > 0.0 && subject.record.figure(&limit.basis).is_none())
}

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let value = figure.value.unwrap_or(0.0);
    if is_bandwidth(subject) {
        return match &subject.machine().memory.peak {
            Reading::Value(peak) => possible(subject, value, peak.bytes_per_s / 1e9, &peak.basis),
            Reading::Unknown(reason) => {
                let how = if reason.contains("--dimms") { "" } else { " (state it: --dimms)" };
                Answer::unknown(format!("the theoretical peak is unknown: {reason}{how}"))
            }
        };
    }
    match &figure.limit {
        Some(limit) => possible(subject, value, limit.value, &limit.basis),
        None => Answer::unknown("no limit is known"),
    }
}

fn possible(subject: &Subject, value: f64, limit: f64, basis: &str) -> Answer {
    let share = if subject.figure.better == Better::Lower { limit / value } else { value / limit };
    let amount = |value| Amount { value, unit: subject.figure.unit.clone() };
    let is_possible = share <= 1.0 + TOLERANCE;
    let (value, limit, basis) = (amount(value), amount(limit), basis.to_owned());
    let case = Rounds::OfLimit { value, share: Share(share), limit, basis };
    Answer::of(if is_possible { Outcome::Pass } else { Outcome::Fail }, case)
}
