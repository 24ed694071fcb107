//! Proof of the memory: where it lies, on what pages, and what it holds after figures ran.

use std::collections::BTreeMap;

use figure::{CpuList, Evidence, Reading};

use super::super::layout::Layout;
use super::super::plan::Task;
use super::{Contents, Scaling};
use crate::bandwidth::expected::{Expected, relative_error};
use crate::kernels::{ALL_ARRAYS, Array, Kernel};
use crate::mode::Schedule;
use crate::page_evidence;
use crate::team::Team;
use lab::failure::Failure;

const SPOT_CHECKS: usize = 256;
const TURN: usize = 7919;

impl Scaling {
    /// Writes the start values, each node's by threads of that node: the first touch.
    pub(super) fn fill(&mut self) -> Result<(), Failure> {
        self.contents = self.setup.nodes.iter().map(|need| Contents::new(need.elements)).collect();
        let start = Expected::default();
        self.each_slice(move |_, array, _, slice| slice.fill(start.value(array))).map(drop)
    }

    pub(super) fn check(&self, step: usize) -> Result<f64, Failure> {
        let contents = self.contents.clone();
        let errors = self.each_slice(move |node, array, first, slice| {
            let mut worst: f64 = 0.0;
            for (from, to, expected) in contents[node].within(first, slice.len()) {
                let expected = expected.value(array);
                let error = |value: &f64| relative_error(*value, expected);
                worst = slice[from - first..to - first].iter().step_by(step).map(error).fold(worst, f64::max);
            }
            worst
        })?;
        Ok(errors.into_iter().flatten().fold(0.0, f64::max))
    }

    /// Calls `job` with node, array, first element and slice, for each array and touching thread.
    fn each_slice<T: Send + 'static>(
        &self,
        job: impl Fn(usize, Array, usize, &mut [f64]) -> T + Send + Sync + 'static,
    ) -> Result<Vec<[T; 3]>, Failure> {
        let (arrays, homes) = (self.arrays.clone(), self.homes.clone());
        let elements: Vec<usize> = self.setup.nodes.iter().map(|need| need.elements).collect();
        self.touchers.each(move |thread| {
            let (node, nth, count) = homes[thread.index];
            let (first, end) = (elements[node] * nth / count, elements[node] * (nth + 1) / count);
            let one = |array| {
                let start = arrays.start(node, array).wrapping_add(first);
                // SAFETY: inside the node's array; slices of different threads do not overlap, and no
                // other code runs.
                let slice = unsafe { std::slice::from_raw_parts_mut(start, end - first) };
                job(node, array, first, slice)
            };
            ALL_ARRAYS.map(one)
        })
    }

    /// Size and presence of the pages. Their place is sampled for each figure.
    pub(super) fn pages(&self) -> Evidence {
        page_evidence::of_backing(self.arrays.backing(), self.arrays.bytes())
    }

    /// Share of sampled pages of a task that lie on the node of the threads that use them.
    pub(super) fn local_share(&self, task: &Task) -> Reading<f64> {
        let used = task.layout.used.iter().enumerate().filter(|(_, used)| **used > 0);
        let sampled = used.map(|(node, used)| {
            // All cores of a region are of its node.
            let place = self.setup.nodes[node].cores.first().cloned().unwrap_or_default();
            (place, self.arrays.nodes(node, *used))
        });
        let (places, nodes): (Vec<CpuList>, Vec<_>) = sampled.unzip();
        page_evidence::local_share(&self.setup.machine, &places, nodes)
    }

    /// Overwrites elements that will be checked, where a kernel writes only: old results must not pass.
    pub(super) fn blank(&self, team: &Team, task: &Task, turn: usize) -> Result<(), Failure> {
        let kernel = Kernel::of(task.operation);
        let Some(target) = kernel.stores.filter(|target| !kernel.loads.contains(target)) else {
            return Ok(());
        };
        let (arrays, ranges) = (self.arrays.clone(), ranges(&task.layout, task.schedule));
        team.each(move |thread| {
            let (node, start, length) = ranges[thread.index];
            for element in spots(start, length, turn) {
                // SAFETY: inside the thread's range, which no other thread uses at the same time.
                unsafe { arrays.start(node, target).add(element).write_volatile(f64::NAN) };
            }
        })?;
        Ok(())
    }

    pub(super) fn spot_checks(&self, team: &Team, task: &Task, turn: usize) -> Result<f64, Failure> {
        let Some(target) = Kernel::of(task.operation).stores else { return Ok(0.0) };
        let (arrays, ranges) = (self.arrays.clone(), ranges(&task.layout, task.schedule));
        let contents = self.contents.clone();
        team.worst(move |thread| {
            let (node, start, length) = ranges[thread.index];
            spots(start, length, turn)
                .map(|element| {
                    // SAFETY: inside the thread's range, which no thread writes at the same time.
                    let value = unsafe { arrays.start(node, target).add(element).read_volatile() };
                    relative_error(value, contents[node].at(element).value(target))
                })
                .fold(0.0, f64::max)
        })
    }
}

fn spots(start: usize, length: usize, turn: usize) -> impl Iterator<Item = usize> {
    let step = (length / SPOT_CHECKS).max(1);
    (turn * TURN % step..length).step_by(step).map(move |at| start + at)
}

/// What each thread checks (node, first element, count): its part, or an equal share of its node's.
fn ranges(layout: &Layout, schedule: Schedule) -> Vec<(usize, usize, usize)> {
    let threads = |node: usize| layout.parts.iter().filter(|part| part.node == node).count();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let range = |part: &super::super::layout::Part| match schedule {
        Schedule::Static => (part.node, part.start, part.length),
        Schedule::Dynamic => {
            let nth = numbers.entry(part.node).or_default();
            let (used, count) = (layout.used[part.node], threads(part.node));
            let (first, end) = (used * *nth / count, used * (*nth + 1) / count);
            *nth += 1;
            (part.node, first, end - first)
        }
    };
    layout.parts.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::layout;
    use super::*;
    use crate::simd::BLOCK;

    #[test]
    fn every_thread_looks_elsewhere_and_all_together_everywhere() {
        let homes = [(0, 0), (1, 1), (0, 0)];
        for schedule in [Schedule::Static, Schedule::Dynamic] {
            let layout = layout::share(schedule, &homes, 2, 3000 * BLOCK);
            let mut ranges = ranges(&layout, schedule);
            ranges.sort_unstable();
            let mut ends = [0; 2];
            for (node, start, length) in ranges {
                assert_eq!(start, ends[node]);
                ends[node] += length;
            }
            assert_eq!(ends[..], layout.used[..]);
        }
    }

    #[test]
    fn spots_move_and_stay_inside() {
        let at = |turn| spots(100, 5000, turn).collect::<Vec<_>>();
        assert_ne!(at(0), at(1));
        assert!(at(3).iter().all(|at| (100..5100).contains(at)) && at(3).len() > 200);
        assert_eq!(spots(0, 3, 9).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
