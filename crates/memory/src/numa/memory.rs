//! The memory of one node: an array and a chain, bound to the node, and proof of where their pages lie.

use std::sync::Arc;

use figure::Evidence;
use figure::evidence::MEMORY_NONZERO;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::plan::Column;
use super::traversal::FullTraversal;
use crate::bandwidth::arrays::Split;
use crate::kernels::ELEMENT;
use crate::page_evidence;
use crate::pages::Pages;
use crate::region::Region;
use crate::team::Team;

/// What every element of the array holds: sums of it are exact.
pub const VALUE: f64 = 1.5;
const PAGE_SAMPLES: usize = 256;
const SPOT_CHECKS: usize = 1024;

#[derive(Debug)]
pub struct NodeMemory {
    pub node: u32,
    pub array: Arc<Region>,
    pub chain: Arc<FullTraversal>,
}

#[derive(Debug)]
pub struct Mapped {
    node: u32,
    array: Arc<Region>,
    chain: Region,
}

impl Mapped {
    /// Maps both regions. With `bind` their pages will come from the node or not at all.
    pub fn map(column: &Column, pages: Pages, bind: bool) -> Result<Mapped, Failure> {
        let (node, bytes) = (column.node, column.bytes as usize);
        let map = || Region::map(bytes, pages, bind.then_some(node));
        Ok(Mapped { node, array: Arc::new(map()?), chain: map()? })
    }

    pub fn touch(&self, team: &Team) -> Result<(), Failure> {
        let array = self.array.clone();
        let split = Split { threads: team.threads(), most: array.bytes() / ELEMENT as usize };
        let touch = move |thread: &WorkerThread| {
            let share = split.share(thread.index, split.most);
            let part = array.start().cast::<f64>().wrapping_add(split.start(thread.index));
            // SAFETY: the thread's own part of the array, and no other thread uses the array yet.
            unsafe { std::slice::from_raw_parts_mut(part, share) }.fill(VALUE);
        };
        team.each(touch).map(drop)
    }

    pub fn write_chain(self) -> NodeMemory {
        let chain = Arc::new(FullTraversal::write(self.chain, u64::from(self.node)));
        NodeMemory { node: self.node, array: self.array, chain }
    }
}

impl NodeMemory {
    /// The pages of the array and of the chain, as they are now, and whether both hold what was written.
    pub fn pages(&self) -> [Evidence; 2] {
        let mut both = [&*self.array, self.chain.region()].map(|region| pages(region, self.node));
        both[0].put(MEMORY_NONZERO, self.holds_its_value());
        // A step to address 0 would have ended the worker.
        both[1].put(MEMORY_NONZERO, true);
        both
    }

    fn holds_its_value(&self) -> bool {
        let elements = self.array.bytes() / ELEMENT as usize;
        let start = self.array.start().cast::<f64>().cast_const();
        (0..elements).step_by((elements / SPOT_CHECKS).max(1)).all(|index| {
            // SAFETY: inside the array, which is never written again.
            (unsafe { start.add(index).read_volatile() }) == VALUE
        })
    }
}

fn pages(region: &Region, node: u32) -> Evidence {
    let nodes = region.nodes(PAGE_SAMPLES);
    page_evidence::of_node(region.backing(), region.bytes() as f64, node, nodes)
}
