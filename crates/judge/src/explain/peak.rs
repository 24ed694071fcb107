//! What share of the theoretical peak a figure's traffic reaches.

use figure::{Figure, Limit, Reading, Unit};

use crate::cases::{Case, Memory};
use crate::check::Subject;
use crate::relations::partner::is_headline;
use crate::relations::traffic::{mix, traffic};
use crate::values::{Amount, Share};

/// From this share of the peak on, the memory is the limit and nothing more needs explaining: refresh, turns and
/// bank conflicts take the rest (study 1: 77 % with non-temporal triad, 87 % with MLC's reads alone).
const REACHED: f64 = 0.70;

/// The theoretical peak in GB/s, if known and the figure is a bandwidth.
pub(super) fn of(subject: &Subject) -> Option<Limit> {
    let peak = subject.record.machine.memory.peak.value()?;
    (subject.figure.unit == Unit::GB_PER_S && peak.bytes_per_s > 0.0)
        .then(|| Limit { value: peak.bytes_per_s / 1e9, basis: peak.basis.clone() })
}

/// The figure's traffic, where its stores are known: what libc or a compiler moves is what has to be found out.
fn declared(figure: &Figure) -> Option<f64> {
    mix(figure).and_then(|_| traffic(figure))
}

/// Whether the figure's traffic comes near to the peak.
pub(super) fn is_reached(subject: &Subject) -> bool {
    of(subject).zip(declared(subject.figure)).is_some_and(|(peak, traffic)| traffic >= peak.value * REACHED)
}

/// The share reached; on the figure with the most traffic also why it is unknown, once in a record.
pub(super) fn says(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    let own = declared(figure)?;
    let moved = Amount { value: own, unit: figure.unit.clone() };
    if let Some(peak) = of(subject) {
        // Above the peak the check of the physical limit, or the rule `avoided`, explains it.
        let of_peak = || Memory::ShareOfPeak {
            moved,
            share: Share(own / peak.value),
            peak: Amount { value: peak.value, unit: figure.unit.clone() },
            basis: peak.basis,
        };
        return (own <= peak.value).then(of_peak).map(Case::from);
    }
    let Reading::Unknown(reason) = &subject.record.machine.memory.peak else { return None };
    let best = subject
        .record
        .figures
        .iter()
        .filter(|other| other.is_usable() && is_headline(other) && other.unit == figure.unit)
        .max_by(|a, b| declared(a).unwrap_or(0.0).total_cmp(&declared(b).unwrap_or(0.0)))?;
    (figure.unit == Unit::GB_PER_S && std::ptr::eq(best, figure))
        .then(|| Memory::PeakUnknown { moved, reason: reason.clone() }.into())
}
