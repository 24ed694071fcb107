//! Is the figure physically possible?

use figure::Better;
use figure::evidence::{COUNTED_BYTES, NODE_RELATION, WORKING_SET};

use crate::prelude::*;

/// What a figure may be above its limit: module speeds are rounded (2666 is 2666.67 MT/s), and clocks differ
/// by parts in a million.
const TOLERANCE: f64 = 0.01;

/// The figure against the theoretical peak of the memory modules, or against the limit that it states.
///
/// The bytes that STREAM counts must move, whatever the processor does, so these are compared with the peak;
/// the write-allocate on top of them may be evaded (Intel's SpecI2M, Arm's write streaming), so the estimated
/// traffic may lie above the peak without being wrong.
pub const CHECK: Check = Check::new(
    page!("above-limit"),
    |subject| measured(subject) && !is_stated(subject) && (is_bandwidth(subject) || has_own_limit(subject)),
    rule,
)
.audited();

/// Counted bytes that all come from or go to memory; not what works in cache on
/// purpose, nor the points of a curve over array sizes.
fn is_bandwidth(subject: &Subject) -> bool {
    subject.figure.unit == Unit::GB_PER_S
        && subject.condition(COUNTED_BYTES).is_some_and(|bytes| bytes > 0.0)
        && subject.condition(WORKING_SET).is_none()
        && !subject.figure.at.contains_key("array")
}

/// Memory of a node without CPUs: the peak is that of other modules, and the firmware's statement is an estimate, which the finding `hmat`
/// compares.
fn is_stated(subject: &Subject) -> bool {
    subject.figure.conditions.get(NODE_RELATION).as_deref() == Some("memory-only")
}

/// A limit that is physical, not another figure's value.
fn has_own_limit(subject: &Subject) -> bool {
    let limit = subject.figure.limit.as_ref();
    limit.is_some_and(|limit| limit.value > 0.0 && subject.record.figure(&limit.basis).is_none())
}

fn rule(subject: &Subject) -> Answer {
    let (limit, basis) = match (&subject.machine().memory.peak, &subject.figure.limit) {
        (_, Some(limit)) if !is_bandwidth(subject) => (limit.value, &limit.basis),
        (Reading::Value(peak), _) => (peak.bytes_per_s / 1e9, &peak.basis),
        (Reading::Unknown(reason), _) => {
            let how = if reason.contains("--dimms") { "" } else { " (state it: --dimms)" };
            return Answer::unknown(format!("the theoretical peak is unknown: {reason}{how}"));
        }
    };
    let value = subject.figure.value.unwrap_or(0.0);
    let share = if subject.figure.better == Better::Lower { limit / value } else { value / limit };
    let (value, limit) = (subject.amount(value), subject.amount(limit));
    let case = Rounds::OfLimit { value, share: Share(share), limit, basis: basis.clone() };
    Answer::fail_if(share > 1.0 + TOLERANCE, case)
}
