//! A chain of pointers, walked on from where the last walk ended, and proof that every step was taken.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::chase::{Chain, LINE, Order, UNROLL};
use crate::region::Region;

/// A chain through every line of a region, in random order.
///
/// Walks go on where the last one ended, so that a line comes round only when all others have: what a cache
/// smaller than the region holds of it is gone by then, but for some per cent where replacement is random (at
/// four times the cache exp(-4) of them).
#[derive(Debug)]
pub struct FullTraversal {
    region: Region,
    chain: Chain,
    at: AtomicPtr<u8>,
    walked: AtomicU64,
}

impl FullTraversal {
    /// Writes the chain and touches every page. The region's bytes are a multiple of [`LINE`] x [`UNROLL`].
    pub fn write(region: Region, seed: u64) -> FullTraversal {
        debug_assert!(region.bytes() > 0 && region.bytes().is_multiple_of(LINE * UNROLL as usize));
        // SAFETY: the region is borrowed exclusively and begins on a boundary of 2 MiB.
        let chain = unsafe { Chain::write(region.start(), region.bytes(), LINE, Order::Random, seed) };
        let at = AtomicPtr::new(chain.start.cast_mut());
        FullTraversal { region, chain, at, walked: AtomicU64::new(0) }
    }

    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Walks so many steps, a multiple of [`UNROLL`] and not 0. One thread at a time, or it counts wrong.
    pub fn walk(&self, steps: u64) {
        let from = self.at.load(Ordering::Relaxed);
        // SAFETY: `from` is an element of the chain, in a region that is never written again and that lives
        // as long.
        let to = unsafe { Chain::walk(from, steps) };
        self.at.store(to.cast_mut(), Ordering::Relaxed);
        self.walked.fetch_add(steps, Ordering::Relaxed);
    }

    /// Walks to the end. Whether that is the start: then the chain is whole and every step was taken.
    pub fn complete(&self) -> bool {
        let elements = self.chain.elements as u64;
        self.walk(elements - self.walked.load(Ordering::Relaxed) % elements);
        std::ptr::eq(self.at.load(Ordering::Relaxed), self.chain.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Pages;

    fn traversal() -> FullTraversal {
        FullTraversal::write(Region::map(64 << 10, Pages::Small, None).unwrap(), 3)
    }

    #[test]
    fn a_traversal_ends_where_it_began_however_it_was_walked() {
        assert!(traversal().complete());
        let walked = traversal();
        [16, 1024, 32, 3 * 1024].into_iter().for_each(|steps| walked.walk(steps));
        assert!(walked.complete());
    }

    #[test]
    fn a_step_that_was_not_taken_shows() {
        let traversal = traversal();
        traversal.walk(64);
        traversal.walked.fetch_add(16, Ordering::Relaxed);
        assert!(!traversal.complete());
    }
}
