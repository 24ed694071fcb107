//! The three arrays: one mapping, each thread's part of each array touched first by that thread.

use figure::Reading;
use lab::failure::Failure;

use crate::kernels::{ALL_ARRAYS, Array, ELEMENT};
use crate::pages::{self, Backing, Pages, SampledNodes};
use crate::region::{HUGE_PAGE, Region};
use crate::simd::BLOCK;

const PAGE_SAMPLES: usize = 64;

/// Where an array's parts lie, each with room for the largest size: smaller ones keep threads and pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    pub threads: usize,
    /// Elements of the largest size.
    pub most: usize,
}

impl Split {
    /// Elements of a thread's share of `elements`: whole blocks, as even as OpenMP's static schedule.
    pub fn share(&self, thread: usize, elements: usize) -> usize {
        let blocks = elements / BLOCK;
        (blocks / self.threads + usize::from(thread < blocks % self.threads)) * BLOCK
    }

    pub fn start(&self, thread: usize) -> usize {
        let blocks = self.most / BLOCK;
        (thread * (blocks / self.threads) + thread.min(blocks % self.threads)) * BLOCK
    }
}

#[derive(Debug)]
pub struct Arrays {
    region: Region,
    /// Bytes from the start of one array to that of the next.
    stride: usize,
    pub split: Split,
}

impl Arrays {
    /// Maps three arrays, `offset` bytes further apart than they need, on the NUMA node. Touches nothing.
    pub fn map(split: Split, offset: usize, pages: Pages, node: Option<u32>) -> Result<Arrays, Failure> {
        let bytes = split.most * ELEMENT as usize;
        let stride = bytes.next_multiple_of(HUGE_PAGE) + offset;
        Ok(Arrays { region: Region::map(3 * stride, pages, node)?, stride, split })
    }

    fn array(&self, array: Array) -> *mut f64 {
        self.region.start().wrapping_add(array as usize * self.stride).cast()
    }

    /// One thread's part of an array. Parts of different threads do not overlap, nor do arrays.
    pub fn part(&self, array: Array, thread: usize) -> *mut f64 {
        self.array(array).wrapping_add(self.split.start(thread))
    }

    pub fn backing(&self) -> Reading<Backing> {
        self.region.backing()
    }

    pub fn bytes(&self) -> f64 {
        (3 * self.split.most as u64 * ELEMENT) as f64
    }

    /// The NUMA node of pages of a thread's parts, as far as it uses `elements` of each.
    pub fn nodes(&self, thread: usize, elements: usize) -> SampledNodes {
        let bytes = elements * ELEMENT as usize;
        pages::nodes_in(ALL_ARRAYS.map(|array| (self.part(array, thread) as usize, bytes)), PAGE_SAMPLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_cover_all_and_fit_in_their_parts(threads in 1..300usize, blocks in 0..3000usize) {
            let blocks = blocks + threads;
            let split = Split { threads, most: 2 * blocks * BLOCK };
            for elements in [blocks * BLOCK, 2 * blocks * BLOCK] {
                let sum: usize = (0..threads).map(|thread| split.share(thread, elements)).sum();
                prop_assert_eq!(sum, elements);
                for thread in 0..threads {
                    let end = split.start(thread) + split.share(thread, elements);
                    let next = if thread + 1 < threads { split.start(thread + 1) } else { split.most };
                    prop_assert!(end <= next);
                }
            }
        }
    }

    #[test]
    fn arrays_are_apart_and_can_be_written() {
        let split = Split { threads: 3, most: 64 * 1000 };
        let arrays = Arrays::map(split, 192, Pages::Default, None).unwrap();
        for array in [Array::A, Array::B, Array::C] {
            for thread in 0..3 {
                let part = arrays.part(array, thread);
                assert_eq!(part as usize % 64, 0);
                // SAFETY: the share lies inside the part.
                unsafe { std::slice::from_raw_parts_mut(part, split.share(thread, split.most)) }.fill(1.5);
            }
        }
        let [a, b, c] = ALL_ARRAYS.map(|array| arrays.array(array) as usize);
        let bytes = split.most * ELEMENT as usize;
        assert!(a + bytes <= b && b + bytes <= c && (b - a) % HUGE_PAGE == 192);
        let backing = arrays.backing().into_value().unwrap();
        assert!(backing.resident >= 64 * 1000 * 8, "{backing:?}");
        let nodes = crate::pages::nodes_of(&[a, b, c]);
        if let figure::Reading::Value(nodes) = nodes {
            assert!(nodes.iter().all(Option::is_some));
        }
    }
}
