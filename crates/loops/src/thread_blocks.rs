//! A block of memory for each thread, in whole groups of a walk's pages; each touched first by its thread.

use figure::Reading;
use lab::failure::Failure;

use crate::kernels::ELEMENT;
use crate::pages::{self, Backing, Pages, SampledNodes};
use crate::region::{HUGE_PAGE, Region};
use crate::simd::mix::GROUP;

pub const GROUP_BYTES: usize = GROUP * ELEMENT as usize;
const PAGE_SAMPLES: usize = 192;

#[derive(Debug)]
pub struct ThreadBlocks {
    region: Region,
    pub groups: usize,
    /// Bytes from one block to the next: whole huge pages, so that no page belongs to two threads.
    stride: usize,
}

impl ThreadBlocks {
    /// Maps `threads` blocks of `groups` groups. Nothing is touched yet.
    pub fn map(threads: usize, groups: usize, pages: Pages) -> Result<ThreadBlocks, Failure> {
        ThreadBlocks::map_on(threads, groups, pages, None)
    }

    /// The same with all pages from a `node` (MPOL_BIND).
    pub fn map_on(
        threads: usize,
        groups: usize,
        pages: Pages,
        node: Option<u32>,
    ) -> Result<ThreadBlocks, Failure> {
        let stride = ThreadBlocks::stride(groups);
        Ok(ThreadBlocks { region: Region::map(threads * stride, pages, node)?, groups, stride })
    }

    /// Bytes that a block of `groups` groups takes of the mapping.
    pub fn stride(groups: usize) -> usize {
        (groups * GROUP_BYTES).next_multiple_of(HUGE_PAGE)
    }

    /// The first element of a thread's block, on a page boundary. ThreadBlocks do not overlap.
    pub fn start(&self, thread: usize) -> *mut f64 {
        self.region.start().wrapping_add(thread * self.stride).cast()
    }

    pub fn elements(&self) -> usize {
        self.groups * GROUP
    }

    pub fn backing(&self) -> Reading<Backing> {
        self.region.backing()
    }

    pub fn bytes(&self) -> f64 {
        (self.region.bytes() / self.stride.max(1) * self.groups * GROUP_BYTES) as f64
    }

    pub fn nodes(&self, thread: usize) -> SampledNodes {
        pages::nodes_in([(self.start(thread) as usize, self.groups * GROUP_BYTES)], PAGE_SAMPLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_on_pages_of_their_own() {
        let blocks = ThreadBlocks::map(3, 5, Pages::Small).unwrap();
        assert_eq!(blocks.bytes(), (3 * 5 * 12 * 4096) as f64);
        for thread in 0..3 {
            assert!((blocks.start(thread) as usize).is_multiple_of(HUGE_PAGE));
            // SAFETY: the block is this test's alone.
            unsafe { std::slice::from_raw_parts_mut(blocks.start(thread), blocks.elements()) }
                .fill(thread as f64 + 1.0);
        }
        for thread in 0..3 {
            // SAFETY: as above.
            let block = unsafe { std::slice::from_raw_parts(blocks.start(thread), blocks.elements()) };
            assert!(block.iter().all(|value| *value == thread as f64 + 1.0));
        }
        if let Reading::Value(nodes) = blocks.nodes(2) {
            assert_eq!(nodes.len(), 60);
            assert!(nodes.iter().all(Option::is_some));
        }
    }
}
