//! Heads that came in several pieces.

use std::num::NonZeroU32;

/// Buffers for partial heads, reused.
#[derive(Debug, Default)]
pub struct Carries {
    buffers: Vec<Vec<u8>>,
    spare: Vec<NonZeroU32>,
    /// For connections without a partial head.
    empty: Vec<u8>,
}

impl Carries {
    #[inline]
    pub fn take(&mut self, slot: Option<NonZeroU32>) -> Vec<u8> {
        let Some(slot) = slot else { return std::mem::take(&mut self.empty) };
        self.spare.push(slot);
        self.buffers.get_mut(slot.get() as usize - 1).map(std::mem::take).unwrap_or_default()
    }

    /// Keeps a partial head, if not empty, and returns its slot.
    #[inline]
    pub fn keep(&mut self, carry: Vec<u8>) -> Option<NonZeroU32> {
        if carry.is_empty() {
            self.empty = carry;
            return None;
        }
        let slot = self.spare.pop().or_else(|| {
            self.buffers.push(Vec::new());
            NonZeroU32::new(self.buffers.len() as u32)
        })?;
        self.buffers[slot.get() as usize - 1] = carry;
        Some(slot)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn slots_are_used_again() {
        let mut carries = Carries::default();
        let first = carries.keep(vec![1]);
        let second = carries.keep(vec![2]);
        assert_eq!(carries.take(first), [1]);
        let third = carries.keep(vec![3]);
        assert_eq!(third, first);
        assert_eq!((carries.take(second), carries.take(third)), (vec![2], vec![3]));
        assert_eq!((carries.keep(Vec::new()), carries.buffers.len()), (None, 2));
    }
}
