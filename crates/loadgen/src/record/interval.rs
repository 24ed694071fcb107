//! What each second of the window brought.

use serde::{Deserialize, Serialize};

use super::histogram::Histogram;

/// Length of a slot, in nanoseconds.
pub const LENGTH: u64 = 1_000_000_000;
/// An hour of slots. Later requests are in the totals and in no slot.
const MAX_SLOTS: usize = 3600;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    pub answered: u64,
    pub failed: u64,
    /// Latencies of the answers, from the intended start.
    pub latency: Histogram,
}

/// Slots from the start of the window on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Intervals(Vec<Slot>);

impl Intervals {
    /// Counts an answer `at` nanoseconds after the start of the window.
    #[inline]
    pub fn answer(&mut self, at: u64, latency: u64) {
        if let Some(slot) = self.at(at) {
            slot.answered += 1;
            slot.latency.record(latency);
        }
    }

    pub fn failure(&mut self, at: u64) {
        if let Some(slot) = self.at(at) {
            slot.failed += 1;
        }
    }

    pub fn slots(&self) -> &[Slot] {
        &self.0
    }

    /// Adds the slots of another thread or process with the same start of the window.
    pub fn merge(&mut self, other: &Intervals) {
        for (index, slot) in other.0.iter().enumerate() {
            if let Some(mine) = self.at(index as u64 * LENGTH) {
                mine.answered += slot.answered;
                mine.failed += slot.failed;
                mine.latency.merge(&slot.latency);
            }
        }
    }

    #[inline]
    fn at(&mut self, nanoseconds: u64) -> Option<&mut Slot> {
        let index = usize::try_from(nanoseconds / LENGTH).ok().filter(|index| *index < MAX_SLOTS)?;
        if index >= self.0.len() {
            let empty = Slot { answered: 0, failed: 0, latency: Histogram::coarse() };
            self.0.resize(index + 1, empty);
        }
        self.0.get_mut(index)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn empty_seconds_stay() {
        let (mut merged, mut other) = (Intervals::default(), Intervals::default());
        merged.answer(LENGTH - 1, 5_000);
        merged.failure(LENGTH);
        other.answer(3 * LENGTH, 7_000);
        other.answer(u64::MAX, 7_000);
        merged.merge(&other);
        let slots: Vec<_> = merged.slots().iter().map(|slot| (slot.answered, slot.failed)).collect();
        assert_eq!(slots, [(1, 0), (0, 1), (0, 0), (1, 0)]);
    }
}
