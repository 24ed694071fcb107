//! The chain of the thread that chases, a block for each that injects, and proof of their work.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bandwidth::expected::relative_error;
use crate::chase::{Chain, Order};
use crate::kernels::Mix;
use crate::mix::contents::value;
use crate::region::Region;
use crate::simd::mix::{GROUP, PAGE_ELEMENTS, PAGES, Turn, Walk};
use crate::thread_blocks::ThreadBlocks;

const SEED: u64 = 3;

#[derive(Debug)]
pub struct Memory {
    pub region: Region,
    pub blocks: ThreadBlocks,
    chaser: Mutex<Option<Chaser>>,
    injectors: Vec<Mutex<Injector>>,
}

impl Memory {
    /// Memory before its chain is written and its blocks are filled.
    pub fn new(region: Region, blocks: ThreadBlocks, threads: usize) -> Memory {
        let injectors = (0..threads).map(|_| Mutex::default()).collect();
        Memory { region, blocks, chaser: Mutex::default(), injectors }
    }

    /// Writes the chain: the first touch, by the thread that will chase.
    pub fn write_chain(&self, stride: usize) {
        // SAFETY: the region is the chain's alone, and no thread chases yet: the chaser is not there.
        let chain =
            unsafe { Chain::write(self.region.start(), self.region.bytes(), stride, Order::Random, SEED) };
        *self.chaser.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Chaser { chain, at: chain, lost: false });
    }

    /// Fills a thread's block: the first touch, by that thread.
    pub fn fill(&self, thread: usize) {
        let start = value(0);
        // SAFETY: the thread's own block.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.start(thread), self.blocks.elements()) }
            .fill(start);
        self.injector(thread).contents = vec![[start; PAGES]; self.blocks.groups];
    }

    /// Follows the chain by so many steps from where the last call got to.
    pub fn chase(&self, steps: u64) {
        if let Some(chaser) = &mut *self.chaser.lock().unwrap_or_else(PoisonError::into_inner) {
            chaser.chase(steps);
        }
    }

    /// The injector of a thread. Only that thread takes it, so that no thread waits.
    pub fn injector(&self, thread: usize) -> MutexGuard<'_, Injector> {
        self.injectors[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_chain_intact(&self) -> bool {
        let chaser = self.chaser.lock().unwrap_or_else(PoisonError::into_inner);
        chaser.as_ref().is_some_and(|chaser| !chaser.lost)
    }

    /// Largest relative error of what a thread's block holds, and of the sums of all its walks.
    pub fn worst(&self, thread: usize) -> f64 {
        let injector = self.injector(thread);
        // SAFETY: the thread's own block, which it does not write at the same time: no other code uses the injector.
        let block = unsafe { std::slice::from_raw_parts(self.blocks.start(thread), self.blocks.elements()) };
        let pages = block.chunks_exact(PAGE_ELEMENTS).zip(injector.contents.iter().flatten());
        pages
            .flat_map(|(page, contents)| page.iter().map(|value| relative_error(*value, *contents)))
            .fold(injector.worst, f64::max)
    }
}

#[derive(Debug)]
struct Chaser {
    chain: Chain,
    at: Chain,
    lost: bool,
}

impl Chaser {
    fn chase(&mut self, steps: u64) {
        // SAFETY: the chain's memory lives as long as the chaser's owner and no thread writes it.
        unsafe {
            let before = Chain::number(self.at.start);
            let end = Chain::walk(self.at.start, steps);
            self.lost |= Chain::number(end) != (before + steps) % self.chain.elements as u64;
            self.at.start = end;
        }
    }
}

#[derive(Debug, Default)]
pub struct Injector {
    next: usize,
    contents: Vec<[f64; PAGES]>,
    /// Walks so far: decides the value that is written.
    turns: u64,
    worst: f64,
}

impl Injector {
    /// Walks on over at most `groups` groups of the thread's block, and not beyond its end; returns how many.
    pub fn walk(
        &mut self,
        blocks: &ThreadBlocks,
        thread: usize,
        walk: Walk,
        mix: Mix,
        groups: usize,
        spins: u64,
    ) -> usize {
        let Some(turn) = Turn::of(mix) else { return 0 };
        let groups = groups.min(self.contents.len() - self.next);
        let written = value(self.turns + 1);
        let mut expected = 0.0;
        for group in &mut self.contents[self.next..self.next + groups] {
            for (page, contents) in group.iter_mut().enumerate() {
                if turn.writes(page) { *contents = written } else { expected += *contents }
            }
        }
        let start = blocks.start(thread).wrapping_add(self.next * GROUP);
        // SAFETY: the groups lie in the thread's own block; the set is available, as the plan saw to.
        let sum = unsafe { walk(start, groups, written, spins) };
        if expected > 0.0 {
            self.worst = self.worst.max(relative_error(sum, expected * PAGE_ELEMENTS as f64));
        }
        self.turns += 1;
        self.next = (self.next + groups) % self.contents.len();
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chase::LINE;
    use crate::pages::Pages;
    use crate::simd::Simd;

    fn memory() -> Memory {
        let region = Region::map(1 << 16, Pages::Small, None).unwrap();
        let memory = Memory::new(region, ThreadBlocks::map(2, 5, Pages::Small).unwrap(), 2);
        memory.write_chain(LINE);
        memory.fill(0);
        memory.fill(1);
        memory
    }

    fn inject(memory: &Memory, mix: Mix, groups: usize) -> usize {
        let walk = Simd::widest().walk(mix, false).unwrap();
        memory.injector(1).walk(&memory.blocks, 1, walk, mix, groups, 0)
    }

    #[test]
    fn walks_go_round_and_are_followed() {
        let memory = memory();
        for mix in [Mix::Ratio(2, 1), Mix::Ratio(1, 0), Mix::Ratio(1, 1), Mix::Ratio(0, 1), Mix::Ratio(3, 1)]
        {
            let walked: Vec<usize> = (0..3).map(|_| inject(&memory, mix, 2)).collect();
            assert_eq!(walked, [2, 2, 1], "to the end, and then from the start");
        }
        assert_eq!((memory.worst(0), memory.worst(1)), (0.0, 0.0));
    }

    #[test]
    fn memory_that_changed_by_itself_shows() {
        let memory = memory();
        // SAFETY: inside the block, which no thread uses at the same time.
        unsafe { memory.blocks.start(1).add(9 * PAGE_ELEMENTS).write(5.0) };
        assert!(memory.worst(1) > 0.1, "in the block");
        inject(&memory, Mix::Ratio(1, 0), 5);
        inject(&memory, Mix::Ratio(0, 1), 5);
        assert!(memory.worst(1) > 0.0, "and in the sum, after it was overwritten");
    }

    #[test]
    fn a_chase_knows_where_it_must_be() {
        let memory = memory();
        memory.chase(1600);
        memory.chase(16);
        assert!(memory.is_chain_intact());
        // A chain that is bent to itself somewhere is not walked to the end.
        for line in 0..1024 {
            let element = memory.region.start().wrapping_add(line * LINE).cast::<*const u8>();
            // SAFETY: inside the region, which no thread uses at the same time.
            unsafe { element.write(element.cast()) };
        }
        memory.chase(160);
        assert!(!memory.is_chain_intact());
    }
}
