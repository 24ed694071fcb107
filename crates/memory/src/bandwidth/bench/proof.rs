//! Proof that the arrays are what figures assume: where their pages are, of what size, and what they hold.

use figure::Evidence;
use figure::evidence::NUMA_LOCAL_SHARE;

use super::Bandwidth;
use crate::bandwidth::expected::relative_error;
use crate::kernels::Array;
use crate::page_evidence;
use crate::pages;
use lab::failure::Failure;

/// Elements that each thread checks after a round.
const SPOT_CHECKS: usize = 256;
/// Pages whose node each thread asks for in each array.
const PAGE_SAMPLES: usize = 64;

impl Bandwidth {
    /// Size and place of the pages, as they are now.
    pub(super) fn pages(&self) -> Result<Evidence, Failure> {
        let (start, _) = self.arrays.range(Array::A);
        let (_, end) = self.arrays.range(Array::C);
        let arrays = self.arrays.clone();
        let nodes = self.team.each(move |seat| {
            let share = arrays.split.share(seat.index, arrays.split.most);
            let step = (share / PAGE_SAMPLES).max(1);
            let parts = [Array::A, Array::B, Array::C].map(|array| arrays.part(array, seat.index));
            let addresses: Vec<usize> = parts
                .into_iter()
                .flat_map(|part| (0..share).step_by(step).map(move |i| part.wrapping_add(i) as usize))
                .collect();
            pages::nodes_of(&addresses)
        })?;
        let mut evidence = page_evidence::of_backing(pages::backing(start, end), self.arrays.bytes() as f64);
        let local = page_evidence::local_share(&self.setup.machine, &self.setup.threads, nodes);
        evidence.put_reading(NUMA_LOCAL_SHARE, local);
        Ok(evidence)
    }

    /// Largest relative error at some elements of an array, other ones for each `turn`; near region only.
    pub(super) fn spot_checks(&self, array: Array, turn: usize) -> Result<f64, Failure> {
        let (arrays, near, expected) = (self.arrays.clone(), self.near, self.regions[0].value(array));
        let errors = self.team.each(move |seat| {
            let share = arrays.split.share(seat.index, near);
            let step = (share / SPOT_CHECKS).max(1);
            let part = arrays.part(array, seat.index);
            (turn % step..share)
                .step_by(step)
                // SAFETY: inside the thread's share, which no thread writes at the same time.
                .map(|i| relative_error(unsafe { part.add(i).read_volatile() }, expected))
                .fold(0.0, f64::max)
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    /// Largest relative error over every element of every array.
    pub(super) fn full_check(&self) -> Result<f64, Failure> {
        let (arrays, near, regions) = (self.arrays.clone(), self.near, self.regions);
        let errors = self.team.each(move |seat| {
            let most = arrays.split.share(seat.index, arrays.split.most);
            let border = arrays.split.share(seat.index, near);
            let mut worst: f64 = 0.0;
            for array in [Array::A, Array::B, Array::C] {
                // SAFETY: the thread's own part, which no thread writes at the same time.
                let part = unsafe { std::slice::from_raw_parts(arrays.part(array, seat.index), most) };
                for (region, slice) in regions.iter().zip([&part[..border], &part[border..]]) {
                    let expected = region.value(array);
                    let error = |value: &f64| relative_error(*value, expected);
                    worst = slice.iter().map(error).fold(worst, f64::max);
                }
            }
            worst
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }
}
