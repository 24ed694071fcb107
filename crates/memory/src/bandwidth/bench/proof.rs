//! Proof that the arrays are what figures assume: where their pages are, of what size, and what they hold.

use figure::evidence::{MEMORY_RESIDENT, NUMA_LOCAL_SHARE, PAGES_HUGE_SHARE, PAGES_SIZE};
use figure::{Evidence, Reading};

use super::MemoryBench;
use crate::bandwidth::expected::relative_error;
use crate::kernels::Array;
use crate::obtained;
use crate::pages::{self, Backing};

/// Elements that each thread looks at after a round.
const SPOT_CHECKS: usize = 256;
/// Pages whose node each thread asks for in each array.
const PAGE_SAMPLES: usize = 64;

impl MemoryBench {
    /// Size and place of the pages, as they are now.
    pub(super) fn obtained(&self) -> Result<Evidence, String> {
        let mut evidence = Evidence::default();
        let backing = self.backing();
        let arrays = self.arrays.bytes() as f64;
        let share = |part: fn(&Backing) -> u64| backing.clone().map(|b| (part(&b) as f64 / arrays).min(1.0));
        evidence.put_reading(MEMORY_RESIDENT, share(|backing| backing.resident));
        evidence.put_reading(PAGES_HUGE_SHARE, share(|backing| backing.huge));
        evidence.put_reading(PAGES_SIZE, backing.clone().map(|backing| backing.page as f64));
        evidence.put_reading(NUMA_LOCAL_SHARE, self.local_share()?);
        Ok(evidence)
    }

    /// The same over all rounds.
    pub(super) fn obtained_throughout(&self) -> Result<Evidence, String> {
        Ok(obtained::throughout(&self.at_start, self.obtained()?))
    }

    /// What backs the three arrays together.
    fn backing(&self) -> Reading<Backing> {
        let (start, _) = self.arrays.range(Array::A);
        let (_, end) = self.arrays.range(Array::C);
        pages::backing(start, end)
    }

    /// Share of sampled pages that lie on the node of the thread that uses them.
    fn local_share(&self) -> Result<Reading<f64>, String> {
        let arrays = self.arrays.clone();
        let samples = self.each(move |seat| {
            let share = arrays.split.share(seat.index, arrays.split.most);
            let step = (share / PAGE_SAMPLES).max(1);
            let parts = [Array::A, Array::B, Array::C].map(|array| arrays.part(array, seat.index));
            let addresses: Vec<usize> = parts
                .into_iter()
                .flat_map(|part| (0..share).step_by(step).map(move |i| part.wrapping_add(i) as usize))
                .collect();
            pages::nodes_of(&addresses)
        })?;
        Ok(obtained::local_share(&self.setup.machine, &self.setup.threads, samples))
    }

    /// Largest relative error at some elements of an array, other ones for each `turn`; near region only.
    pub(super) fn spot_checks(&self, array: Array, turn: usize) -> Result<f64, String> {
        let (arrays, near, expected) = (self.arrays.clone(), self.near, self.regions[0].of(array));
        let errors = self.each(move |seat| {
            let share = arrays.split.share(seat.index, near);
            let step = (share / SPOT_CHECKS).max(1);
            let part = arrays.part(array, seat.index);
            (turn % step..share)
                .step_by(step)
                // SAFETY: inside the thread's share, which nobody writes meanwhile.
                .map(|i| relative_error(unsafe { part.add(i).read_volatile() }, expected))
                .fold(0.0, f64::max)
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    /// Largest relative error over every element of every array.
    pub(super) fn full_check(&self) -> Result<f64, String> {
        let (arrays, near, regions) = (self.arrays.clone(), self.near, self.regions);
        let errors = self.each(move |seat| {
            let most = arrays.split.share(seat.index, arrays.split.most);
            let border = arrays.split.share(seat.index, near);
            let mut worst: f64 = 0.0;
            for array in [Array::A, Array::B, Array::C] {
                // SAFETY: the thread's own part, which nobody writes meanwhile.
                let part = unsafe { std::slice::from_raw_parts(arrays.part(array, seat.index), most) };
                for (region, slice) in regions.iter().zip([&part[..border], &part[border..]]) {
                    let expected = region.of(array);
                    let error = |value: &f64| relative_error(*value, expected);
                    worst = slice.iter().map(error).fold(worst, f64::max);
                }
            }
            worst
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }
}
