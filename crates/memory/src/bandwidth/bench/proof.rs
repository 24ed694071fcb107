//! Proof that the arrays are what figures assume: where their pages are, of what size, and what they hold.

use figure::Evidence;

use super::{Bandwidth, Setup};
use crate::bandwidth::expected::relative_error;
use crate::kernels::{ALL_ARRAYS, Array};
use crate::page_evidence;
use lab::failure::Failure;

const SPOT_CHECKS: usize = 256;

impl Bandwidth {
    pub(super) fn pages(&self) -> Result<Evidence, Failure> {
        let arrays = self.arrays.clone();
        let nodes = self.team.each(move |thread| {
            arrays.nodes(thread.index, arrays.split.share(thread.index, arrays.split.most))
        })?;
        let (backing, bytes) = (self.arrays.backing(), self.arrays.bytes());
        let Setup { machine, threads, .. } = &self.setup;
        Ok(page_evidence::of_threads(backing, bytes, machine, threads, nodes))
    }

    /// Largest relative error at some elements of an array, other ones for each `turn`; near region only.
    pub(super) fn spot_checks(&self, array: Array, turn: usize) -> Result<f64, Failure> {
        let (arrays, near, expected) = (self.arrays.clone(), self.near, self.regions[0].value(array));
        self.team.worst(move |thread| {
            let share = arrays.split.share(thread.index, near);
            let step = (share / SPOT_CHECKS).max(1);
            let part = arrays.part(array, thread.index);
            (turn % step..share)
                .step_by(step)
                // SAFETY: inside the thread's share, which no thread writes at the same time.
                .map(|i| relative_error(unsafe { part.add(i).read_volatile() }, expected))
                .fold(0.0, f64::max)
        })
    }

    pub(super) fn full_check(&self) -> Result<f64, Failure> {
        let (arrays, near, regions) = (self.arrays.clone(), self.near, self.regions);
        self.team.worst(move |thread| {
            let most = arrays.split.share(thread.index, arrays.split.most);
            let border = arrays.split.share(thread.index, near);
            let mut worst: f64 = 0.0;
            for array in ALL_ARRAYS {
                // SAFETY: the thread's own part, which no thread writes at the same time.
                let part = unsafe { std::slice::from_raw_parts(arrays.part(array, thread.index), most) };
                for (region, slice) in regions.iter().zip([&part[..border], &part[border..]]) {
                    let expected = region.value(array);
                    let error = |value: &f64| relative_error(*value, expected);
                    worst = slice.iter().map(error).fold(worst, f64::max);
                }
            }
            worst
        })
    }
}
