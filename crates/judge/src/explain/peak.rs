//! What share of the theoretical peak a figure's traffic reaches.

use figure::Limit;

use super::support::*;
use crate::relations::traffic::{mix, traffic};

/// From this share of the peak on, the memory is the limit and nothing more needs explaining: refresh, turns and
/// bank conflicts take the rest (study 1: 77 % with non-temporal triad, 87 % with MLC's reads alone).
const REACHED: f64 = 0.70;

/// The theoretical peak in GB/s, if known and the figure is a bandwidth.
pub(super) fn limit(subject: &Subject) -> Option<Limit> {
    let peak = subject.record.machine.memory.peak.value()?;
    (subject.figure.unit == Unit::GB_PER_S && peak.bytes_per_s > 0.0)
        .then(|| Limit { value: peak.bytes_per_s / 1e9, basis: peak.basis.clone() })
}

/// The figure's traffic, where its stores are known: what libc or a compiler moves is the question.
fn declared(figure: &Figure) -> Option<f64> {
    mix(figure).and_then(|_| traffic(figure))
}

pub(super) fn is_reached(subject: &Subject) -> bool {
    limit(subject)
        .zip(declared(subject.figure))
        .is_some_and(|(peak, traffic)| traffic >= peak.value * REACHED)
}

/// The share reached. Above the peak the check of the physical limit, or the rule `avoided`, explains it.
pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let amount = |value| Amount::like(subject.figure, value);
    let (moved, peak) = (declared(subject.figure)?, limit(subject)?);
    let share = Share(moved / peak.value);
    (moved <= peak.value).then(|| Memory::ShareOfPeak {
        moved: amount(moved),
        share,
        peak: amount(peak.value),
        basis: peak.basis,
    })
}
