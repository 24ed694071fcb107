//! A chain with known points on the way: a walk can begin at any of them, the caches can be brought to what a
//! long walk would have left in them, and where a walk ends proves that it was walked.

use std::sync::Arc;

use crate::chase::{Chain, LINE, Order, UNROLL};
use crate::flush::{fence, flush};
use crate::region::Region;

/// Known points of a chain at most. A segment of the longest chain, 32 M steps, then takes some 10 ms.
const MOST_POINTS: u64 = 256;
/// Bytes of the longest line that exists (s390x); a machine that shows more is in error.
const LONGEST_LINE: usize = 256;
/// Walks side by side that warm caches: a core's outstanding misses (10 on older Intel, 16 since Sunny Cove).
const LANES: usize = 16;

/// A chain in a region that lives as long as it is used.
#[derive(Debug)]
pub struct PointerChain {
    // Owns the memory; not read.
    _region: Arc<Region>,
    elements: u64,
    /// Address of the first byte, and bytes.
    memory: (usize, usize),
    /// Addresses, at the steps of [`step`](PointerChain::step).
    points: Vec<usize>,
}

impl PointerChain {
    /// Bytes of a chain of about `bytes` that [`write`](Self::write) writes: whole turns of the walking loop.
    pub fn bytes(bytes: usize, stride: usize) -> usize {
        bytes / stride / UNROLL as usize * UNROLL as usize * stride
    }

    /// Writes a chain into [`bytes`](Self::bytes) bytes of the region, `offset` bytes from its start: an
    /// element every `stride` bytes. Chains may share lines if they use different words of them.
    ///
    /// # Safety
    /// No other code uses the words of this chain (8 B every `stride` bytes from `offset` on), now or while the
    /// chain lives.
    ///
    /// # Panics
    /// If it does not fit into the region, or not even one turn fits into `bytes`.
    pub unsafe fn write(
        region: Arc<Region>,
        offset: usize,
        bytes: usize,
        stride: usize,
        order: Order,
        seed: u64,
    ) -> PointerChain {
        let bytes = PointerChain::bytes(bytes, stride);
        let end = offset + bytes - stride + size_of::<usize>();
        assert!(
            bytes > 0 && end <= region.bytes(),
            "a chain of {bytes} B at {offset} of {} B",
            region.bytes()
        );
        let elements = (bytes / stride) as u64;
        let memory = (region.start() as usize + offset, bytes);
        let mut chain = PointerChain { _region: region.clone(), elements, memory, points: Vec::new() };
        let steps: Vec<u64> = (0..chain.count()).map(|point| chain.step(point)).collect();
        let base = region.start().wrapping_add(offset);
        // SAFETY: inside the region; the caller's for who else uses it.
        let written =
            unsafe { Chain::write_noting(base, bytes, stride, order, seed, &steps, &mut chain.points) };
        debug_assert_eq!(written.elements as u64, elements);
        chain
    }

    pub fn elements(&self) -> u64 {
        self.elements
    }

    pub fn count(&self) -> usize {
        (self.elements / UNROLL).min(MOST_POINTS) as usize
    }

    /// Which step a point is: a multiple of the walking loop's turn.
    fn step(&self, point: usize) -> u64 {
        let turns = u128::from(self.elements / UNROLL);
        (turns * point as u128 / self.count() as u128) as u64 * UNROLL
    }

    /// Steps from a point over `segments` segments on; round by round if that is more than there are.
    pub fn steps(&self, point: usize, segments: usize) -> u64 {
        let (rounds, rest) = (segments / self.count(), segments % self.count());
        let end = point % self.count() + rest;
        let over = if end >= self.count() { self.elements } else { 0 };
        rounds as u64 * self.elements + over + self.step(end % self.count()) - self.step(point % self.count())
    }

    /// Walks `segments` segments (1 or more) from a point. Whether it arrived where it must.
    #[must_use]
    pub fn walk(&self, point: usize, segments: usize) -> bool {
        let (from, to) = (self.point(point), self.point(point + segments));
        // SAFETY: the region is alive, and `write`'s caller saw to it that no other code writes the chain.
        let end = unsafe { Chain::walk(from as *const u8, self.steps(point, segments)) };
        end as usize == to
    }

    /// Touches the `steps` steps before a point, side by side: caches hold what a long walk leaves in them.
    pub fn warm(&self, point: usize, steps: u64) {
        let segments = (steps.min(self.elements) * self.count() as u64).div_ceil(self.elements) as usize;
        let segments = segments.clamp(1, self.count());
        let from = point + self.count() - segments;
        for first in (from..from + segments).step_by(LANES) {
            let last = (first + LANES).min(from + segments);
            // The last of them is the shortest to go on with: its order is the walk's.
            let mut lanes: Vec<usize> = (first..last).map(|point| self.point(point)).collect();
            let steps = (first..last).map(|point| self.steps(point, 1)).max().unwrap_or(0);
            for _ in 0..steps {
                for at in &mut lanes {
                    // SAFETY: as in `walk`: every element holds the address of another.
                    *at = unsafe { (*at as *const usize).read_volatile() };
                }
            }
        }
    }

    /// Puts every line of the chain out of all caches.
    pub fn flush(&self) {
        let (start, bytes) = self.memory;
        // SAFETY: inside the region, which is alive.
        (start..start + bytes).step_by(LINE).for_each(|at| unsafe { flush(at as *const u8) });
        fence();
    }

    fn point(&self, point: usize) -> usize {
        self.points[point % self.count()]
    }
}

/// Bytes between elements so that each has its own line: the longest line of the data caches, where shown.
pub fn stride(machine: &figure::Machine) -> usize {
    let lines = machine.caches.instances.iter().filter_map(|cache| cache.line);
    lines.max().map_or(LINE, |line| (line as usize).next_power_of_two().clamp(LINE, LONGEST_LINE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Pages;
    use proptest::prelude::*;

    fn region(bytes: usize) -> Arc<Region> {
        Arc::new(Region::map(bytes, Pages::Default, None).unwrap())
    }

    fn chain(bytes: usize, stride: usize, order: Order) -> PointerChain {
        // SAFETY: a region of its own.
        unsafe { PointerChain::write(region(bytes), 0, bytes, stride, order, 3) }
    }

    proptest! {
        #[test]
        fn a_walk_arrives_where_it_must(
            kib in 4..700usize, wide in any::<bool>(), paged in any::<bool>(), from in 0..600usize, segments in 1..900usize,
        ) {
            let order = if paged { Order::Pages(4096) } else { Order::Random };
            let chain = chain(kib << 10, if wide { 128 } else { 64 }, order);
            prop_assert!(chain.walk(from, segments));
            let whole = chain.count();
            prop_assert_eq!(chain.steps(from, whole), chain.elements());
            prop_assert_eq!(chain.steps(from, segments + whole), chain.steps(from, segments) + chain.elements());
            prop_assert!(chain.steps(from, segments).is_multiple_of(UNROLL));
        }
    }

    #[test]
    fn a_broken_chain_is_detected() {
        let region = region(1 << 20);
        // SAFETY: a region of its own.
        let chain = unsafe { PointerChain::write(region.clone(), 0, 1 << 20, 64, Order::Random, 3) };
        let first = region.start().cast::<usize>();
        // SAFETY: inside the region; an element that leads to itself is still a chain, and not the one that
        // was written.
        unsafe { first.write(first as usize) };
        assert!(!chain.walk(0, chain.count()));
    }

    #[test]
    fn chains_share_lines_and_do_not_disturb_one_another() {
        let region = region(256 << 10);
        // SAFETY: each chain has a word of its own in every line.
        let write = |offset, bytes, order| unsafe {
            PointerChain::write(region.clone(), offset, bytes, 64, order, 5)
        };
        let chains = [
            write(0, 256 << 10, Order::Random),
            write(8, 128 << 10, Order::Pages(4096)),
            write((128 << 10) + 8, 64 << 10, Order::Random),
        ];
        for chain in &chains {
            chain.warm(0, u64::MAX);
            assert!(chain.walk(0, 2 * chain.count()));
        }
    }

    #[test]
    fn strides_are_lines() {
        let mut machine = figure::Machine::default();
        assert_eq!(stride(&machine), 64);
        machine.caches.instances.push(figure::host::Cache {
            level: 2,
            kind: figure::host::CacheKind::Unified,
            size: 1 << 20,
            line: Some(128),
            ways: None,
            cpus: "0".parse().unwrap(),
        });
        assert_eq!(stride(&machine), 128);
    }
}
