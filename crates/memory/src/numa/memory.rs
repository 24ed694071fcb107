//! The memory of one node: an array and a chain, bound to the node, and proof of where their pages lie.

use std::io;
use std::sync::Arc;

use figure::evidence::{Key, MEMORY_NONZERO, MEMORY_RESIDENT, NUMA_NODE_SHARE, PAGES_HUGE_SHARE, PAGES_SIZE};
use figure::{Evidence, Reading};
use lab::pool::{Pool, Seat};

use super::lap::Lap;
use super::plan::Column;
use crate::bandwidth::arrays::Split;
use crate::kernels::ELEMENT;
use crate::pages::Pages;
use crate::region::Region;

/// What every element of the array holds: sums of it are exact.
pub const VALUE: f64 = 1.5;
/// Pages of each region whose node is asked for.
const PAGE_SAMPLES: usize = 256;
/// Elements of the array that are read back.
const SPOT_CHECKS: usize = 1024;

/// The memory of one node.
#[derive(Debug)]
pub struct NodeMemory {
    /// The node.
    pub node: u32,
    /// The array.
    pub array: Arc<Region>,
    /// The chain.
    pub lap: Arc<Lap>,
    /// What was obtained at the start, of the array and of the chain.
    at_start: [Evidence; 2],
}

/// Both regions, mapped and not yet touched.
#[derive(Debug)]
pub struct Mapped {
    node: u32,
    array: Arc<Region>,
    chain: Region,
}

impl Mapped {
    /// Maps both regions. With `bind` their pages will come from the node or not at all.
    ///
    /// # Errors
    /// What was tried, and what the system answered.
    pub fn map(column: &Column, pages: Pages, bind: bool) -> Result<Mapped, String> {
        let (node, bytes) = (column.node, column.bytes as usize);
        let map = || {
            Region::map(bytes, pages, bind.then_some(node)).map_err(|error| {
                let size = figure::format::bytes(bytes as f64);
                let hint = match error.kind() {
                    io::ErrorKind::PermissionDenied => {
                        "; a container may forbid mbind: allow it, as by docker run --cap-add SYS_NICE"
                    }
                    _ => "",
                };
                format!("{size} could not be mapped on node {node}: {error}{hint}")
            })
        };
        Ok(Mapped { node, array: Arc::new(map()?), chain: map()? })
    }

    /// Lets the threads of a pool touch the array, each its part.
    ///
    /// # Errors
    /// That a thread failed.
    pub fn touch(&self, pool: &Pool) -> Result<(), String> {
        let array = self.array.clone();
        let split = Split { threads: pool.threads(), most: array.bytes() / ELEMENT as usize };
        let touch = move |seat: &Seat| {
            let share = split.share(seat.index, split.most);
            let part = array.start().cast::<f64>().wrapping_add(split.start(seat.index));
            // SAFETY: the thread's own part of the array, and nobody else uses the array yet.
            unsafe { std::slice::from_raw_parts_mut(part, share) }.fill(VALUE);
        };
        pool.run(touch).map(drop).map_err(|error| error.to_string())
    }

    /// Lays the chain, on the calling thread, and finds out what was obtained.
    pub fn lay(self) -> NodeMemory {
        let lap = Arc::new(Lap::lay(self.chain, u64::from(self.node)));
        let mut memory = NodeMemory { node: self.node, array: self.array, lap, at_start: Default::default() };
        memory.at_start = memory.obtained();
        memory
    }
}

impl NodeMemory {
    /// What was obtained for the array and for the chain, as it is now.
    pub fn obtained(&self) -> [Evidence; 2] {
        let mut both = [&*self.array, self.lap.region()].map(|region| obtained(region, self.node));
        both[0].put(MEMORY_NONZERO, self.holds_its_value());
        // A step to address 0 would have ended the worker.
        both[1].put(MEMORY_NONZERO, true);
        both
    }

    /// What was obtained at the start, for the array and for the chain.
    pub fn at_start(&self) -> &[Evidence; 2] {
        &self.at_start
    }

    /// The same over all rounds: the worse of start and end. The kernel may move pages, or take them away.
    pub fn obtained_throughout(&self) -> [Evidence; 2] {
        let mut both = self.obtained();
        for (start, end) in self.at_start.iter().zip(&mut both) {
            for key in [NUMA_NODE_SHARE, MEMORY_RESIDENT, PAGES_HUGE_SHARE] {
                keep_worse(start, end, key);
            }
        }
        both
    }

    /// Whether a sample of the array, read back, holds what was written.
    fn holds_its_value(&self) -> bool {
        let elements = self.array.bytes() / ELEMENT as usize;
        let start = self.array.start().cast::<f64>().cast_const();
        (0..elements).step_by((elements / SPOT_CHECKS).max(1)).all(|index| {
            // SAFETY: inside the array, which nobody writes any more.
            (unsafe { start.add(index).read_volatile() }) == VALUE
        })
    }
}

fn obtained(region: &Region, node: u32) -> Evidence {
    let mut evidence = Evidence::default();
    let (backing, bytes) = (region.backing(), region.bytes() as f64);
    evidence.put_reading(MEMORY_RESIDENT, backing.clone().map(|b| (b.resident as f64 / bytes).min(1.0)));
    evidence.put_reading(PAGES_HUGE_SHARE, backing.clone().map(|b| (b.huge as f64 / bytes).min(1.0)));
    evidence.put_reading(PAGES_SIZE, backing.map(|b| b.page as f64));
    evidence.put_reading(NUMA_NODE_SHARE, region.nodes(PAGE_SAMPLES).map(|nodes| share_on(&nodes, node)));
    evidence
}

/// Share of pages on a node. A page that is nowhere is not on it.
fn share_on(pages: &[Option<u32>], node: u32) -> f64 {
    pages.iter().filter(|page| **page == Some(node)).count() as f64 / pages.len().max(1) as f64
}

/// What is less at the start than at the end; unknown at either time is unknown.
fn keep_worse(start: &Evidence, end: &mut Evidence, key: Key<f64>) {
    let worse = match (start.get(key), end.get(key)) {
        (Reading::Value(start), Reading::Value(end)) => Reading::Value(start.min(end)),
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
    };
    end.put_reading(key, worse);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_elsewhere_or_nowhere_count_against_the_node() {
        assert_eq!(share_on(&[Some(1), Some(1), Some(0), None], 1), 0.5);
        assert_eq!(share_on(&[], 1), 0.0);
    }

    #[test]
    fn the_worse_of_start_and_end_is_kept_and_ignorance_is_worst() {
        let evidence = |share| {
            let mut evidence = Evidence::default();
            evidence.put(NUMA_NODE_SHARE, share);
            evidence
        };
        let mut end = evidence(1.0);
        keep_worse(&evidence(0.25), &mut end, NUMA_NODE_SHARE);
        assert_eq!(end.get(NUMA_NODE_SHARE), Reading::Value(0.25));
        keep_worse(&Evidence::default(), &mut end, NUMA_NODE_SHARE);
        assert!(end.get(NUMA_NODE_SHARE).reason().is_some());
    }
}
