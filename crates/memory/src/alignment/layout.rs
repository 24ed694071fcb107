//! Where the arrays of a point lie: one mapping with room to spare, in which every point finds its addresses.
//!
//! One array is only written and two are only read, so that contents do not depend on the order of points.

use figure::Reading;
use lab::failure::Failure;
use serde::{Deserialize, Serialize};

use crate::bandwidth::arrays::Split;
use crate::bandwidth::expected::{TOLERANCE, relative_error};
use crate::kernels::{ELEMENT, Operation, SCALAR};
use crate::pages::{self, Backing, Pages, SampledNodes};
use crate::region::Region;
use crate::simd::ALIGNMENT;

/// A load depends on a store by the low 12 bits first (Intel Optimization Manual, "4-KByte aliasing").
pub const ALIASING: u64 = 4096;
/// Extra bytes of every array: the largest offset and the largest misalignment.
const SLACK: usize = ALIASING as usize + ALIGNMENT;
/// What the arrays hold after first touch: the one that is written, and the two that are read.
const START: [f64; 3] = [0.1, 0.2, 0.3];
const SPOTS: usize = 256;
const PAGE_SAMPLES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point {
    /// How far the array that is written begins behind those that are read, modulo 4 KiB, in bytes.
    pub offset: u64,
    /// Bytes from a boundary of the widest vector to where every array begins.
    pub misalignment: u64,
}

#[derive(Debug)]
pub struct Layout {
    region: Region,
    /// Bytes from the start of one array to that of the next.
    stride: usize,
    pub split: Split,
}

impl Layout {
    /// Maps three arrays, each beginning on a `boundary`: a multiple of 4 KiB. Nothing is touched yet.
    pub fn map(split: Split, boundary: usize, pages: Pages) -> Result<Layout, Failure> {
        let stride = (split.most * ELEMENT as usize + SLACK).next_multiple_of(boundary);
        Ok(Layout { region: Region::map(START.len() * stride, pages, None)?, stride, split })
    }

    /// First element of one thread's part of an array (0 is written, 1 and 2 are read), without any shift.
    fn part(&self, array: usize, thread: usize) -> *mut f64 {
        self.region
            .start()
            .wrapping_add(array * self.stride)
            .cast::<f64>()
            .wrapping_add(self.split.start(thread))
    }

    /// The same at a point. Parts of different threads do not overlap.
    fn at(&self, array: usize, thread: usize, point: Point) -> *mut f64 {
        let shift = point.misalignment + if array == 0 { point.offset } else { 0 };
        self.part(array, thread).cast::<u8>().wrapping_add(shift as usize).cast()
    }

    /// The arrays a, b and c that a kernel works on at a point: one thread's part.
    pub fn arrays(&self, operation: Operation, thread: usize, point: Point) -> [*mut f64; 3] {
        let [written, first, second] = [0, 1, 2].map(|array| self.at(array, thread, point));
        match operation {
            // c = a
            Operation::Copy => [first, second, written],
            // a = b + s c
            _ => [written, first, second],
        }
    }

    pub fn fill(&self, thread: usize) {
        for (array, value) in START.into_iter().enumerate() {
            let part = self.part(array, thread);
            for element in 0..self.touched(thread) {
                // SAFETY: the thread's own part, or behind the last one the slack.
                unsafe { part.add(element).write(value) };
            }
        }
    }

    /// Elements of an array that a thread touches first: its share, and the last thread the slack.
    fn touched(&self, thread: usize) -> usize {
        let slack = if thread + 1 == self.split.threads { SLACK / ELEMENT as usize } else { 0 };
        self.split.share(thread, self.split.most) + slack
    }

    /// Elements of one thread's share that are checked: the first, the last, and others for each `turn`.
    fn spots(&self, thread: usize, turn: usize) -> impl Iterator<Item = usize> + use<> {
        let share = self.split.share(thread, self.split.most);
        let step = (share / SPOTS).max(1);
        [0, share.saturating_sub(1)]
            .into_iter()
            .chain((turn % step..share).step_by(step))
            .filter(move |&i| i < share)
    }

    /// Puts NaN into some of the elements that one thread is to write.
    pub fn spoil(&self, thread: usize, point: Point, turn: usize) {
        let written = self.at(0, thread, point);
        for spot in self.spots(thread, turn) {
            // SAFETY: inside the thread's part; alignment is what the point is about.
            unsafe { written.add(spot).write_unaligned(f64::NAN) };
        }
    }

    /// Largest relative error of the elements that [`spoil`](Self::spoil) spoilt, after the kernel ran.
    pub fn error(&self, thread: usize, operation: Operation, point: Point, turn: usize) -> f64 {
        let written = self.at(0, thread, point);
        let error = |spot| {
            // SAFETY: inside the thread's part, which no thread writes at the same time.
            relative_error(unsafe { written.add(spot).read_unaligned() }, result(operation))
        };
        self.spots(thread, turn).map(error).fold(0.0, f64::max)
    }

    /// Largest relative error of a thread's parts: unchanged where read, a kernel's result where written.
    pub fn full_error(&self, thread: usize) -> f64 {
        let mut worst: f64 = 0.0;
        for (array, start) in START.into_iter().enumerate() {
            // SAFETY: what the thread touched first, and no thread writes at the same time.
            let part = unsafe { std::slice::from_raw_parts(self.part(array, thread), self.touched(thread)) };
            let results = [start, result(Operation::Copy), result(Operation::Triad)];
            let allowed = if array == 0 { &results[..] } else { &results[..1] };
            let off = |value: f64| {
                allowed.iter().map(|right| relative_error(value, *right)).fold(f64::INFINITY, f64::min)
            };
            // The kernels compute the same in every set, to the last bit; divisions are for what is wrong.
            let error = |value: &f64| if allowed.contains(value) { 0.0 } else { off(*value) };
            worst = part.iter().map(error).fold(worst, f64::max);
        }
        worst
    }

    /// Whether what first touch wrote is there: at some elements of every array.
    pub fn is_touched(&self, thread: usize) -> bool {
        let holds = |array: usize, element: usize| {
            // SAFETY: inside the thread's part, which no thread writes at the same time.
            let value = unsafe { self.part(array, thread).add(element).read_volatile() };
            relative_error(value, START[array]) <= TOLERANCE
        };
        (0..START.len()).all(|array| self.spots(thread, 0).all(|element| holds(array, element)))
    }

    pub fn bytes(&self) -> f64 {
        let elements: usize = (0..self.split.threads).map(|thread| self.touched(thread)).sum();
        (START.len() * elements * ELEMENT as usize) as f64
    }

    pub fn backing(&self) -> Reading<Backing> {
        self.region.backing()
    }

    pub fn nodes(&self, thread: usize) -> SampledNodes {
        let bytes = self.touched(thread) * ELEMENT as usize;
        let parts = (0..START.len()).map(|array| (self.part(array, thread) as usize, bytes));
        pages::nodes_in(parts, PAGE_SAMPLES)
    }
}

/// What a kernel leaves in every element that it writes.
fn result(operation: Operation) -> f64 {
    match operation {
        Operation::Copy => START[1],
        _ => START[1] + SCALAR * START[2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Stores;
    use crate::simd::{BLOCK, Simd};
    use proptest::prelude::*;

    fn layout(threads: usize, blocks: usize) -> Layout {
        let layout =
            Layout::map(Split { threads, most: blocks * BLOCK }, ALIASING as usize, Pages::Default).unwrap();
        (0..threads).for_each(|thread| layout.fill(thread));
        layout
    }

    proptest! {
        #[test]
        fn a_point_is_where_it_says_and_stays_inside(
            threads in 1..5usize, blocks in 5..40usize, offset in 0..64u64, misalignment in 0..64u64,
        ) {
            let point = Point { offset: offset * 64, misalignment };
            let layout = layout(threads, blocks);
            let last = threads - 1;
            for thread in 0..threads {
                let [written, first, second] = [0, 1, 2].map(|array| layout.at(array, thread, point) as u64);
                prop_assert_eq!(first % 64, misalignment);
                for read in [first, second] {
                    prop_assert_eq!((written.wrapping_sub(read)) % ALIASING, point.offset);
                }
                let end = written + layout.split.share(thread, layout.split.most) as u64 * 8;
                let next = if thread < last {
                    layout.at(0, thread + 1, point) as u64
                } else {
                    layout.part(0, last).wrapping_add(layout.touched(last)) as u64
                };
                prop_assert!(end <= next);
            }
        }
    }

    #[test]
    fn every_set_computes_right_wherever_the_arrays_begin() {
        let layout = layout(1, 20);
        for set in Simd::available() {
            for operation in [Operation::Copy, Operation::Triad] {
                for misalignment in [0, 8, 32, 56] {
                    for offset in [0, 64, 2048, ALIASING - 64] {
                        let point = Point { offset, misalignment };
                        let code = set.kernel(operation, Stores::Regular).unwrap();
                        let [a, b, c] = layout.arrays(operation, 0, point);
                        layout.spoil(0, point, 3);
                        assert_eq!(layout.error(0, operation, point, 3), f64::INFINITY, "NaN is an error");
                        // SAFETY: the layout's own arrays; regular stores take any alignment.
                        unsafe { code(a, b, c, 20 * BLOCK, SCALAR) };
                        assert!(
                            layout.error(0, operation, point, 3) <= TOLERANCE,
                            "{set:?} {operation:?} {point:?}"
                        );
                    }
                }
            }
        }
        assert!(layout.full_error(0) <= TOLERANCE);
        assert!(!layout.is_touched(0), "results are in the place of what first touch wrote");
    }

    #[test]
    fn what_is_wrong_is_found() {
        let layout = layout(2, 20);
        assert!(layout.is_touched(0) && layout.is_touched(1));
        assert_eq!(layout.full_error(0), 0.0);
        for (array, wrong) in [(1, 0.25), (2, f64::NAN), (0, 0.4)] {
            // SAFETY: inside the array, in the second thread's part.
            unsafe { layout.part(array, 1).add(7).write(wrong) };
            assert!(layout.full_error(1) > TOLERANCE, "array {array}");
            assert!(layout.is_touched(0) && layout.full_error(0) == 0.0);
            layout.fill(1);
        }
        assert_eq!(layout.full_error(1), 0.0);
    }
}
