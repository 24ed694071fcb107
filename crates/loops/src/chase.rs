//! Pointer chains: memory in which each element holds the address of the next, so that every load waits for
//! the one before. What a step takes is a latency.
//!
//! A chain is one cycle through all elements (Sattolo's algorithm), in an order that no prefetcher foresees.
//! lmbench's strided chains are prefetched; google/multichase's are random, as here.

use core::arch::asm;

/// Bytes of a cache line, and the least distance of two elements. Where lines are longer (128 B on some Arm),
/// two elements share one and a step may be a hit: take twice the stride there.
pub const LINE: usize = 64;
/// Steps that the walking loop takes between two looks at its counter; lengths of walks are multiples.
pub const UNROLL: u64 = 16;

/// The least stride, in bytes, of elements that contain their number.
pub const NUMBERED: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Any element after any other: nearly every step to memory is a miss in the TLB too, with small pages.
    Random,
    /// Page by page, both in random order: one TLB miss for many steps, so that caches alone remain.
    Pages(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Chain {
    pub start: *const u8,
    pub elements: usize,
}

// SAFETY: a chain is only read, and reading needs `unsafe` of the caller, who keeps the memory.
unsafe impl Send for Chain {}
// SAFETY: as above.
unsafe impl Sync for Chain {}

/// A small generator of random numbers (Marsaglia's xorshift64*); a chain is reproducible by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed ^ 0x9E37_79B9_7F4A_7C15 | 1)
    }

    /// A number below `bound`, not 0 (Lemire's multiplication; its bias is below 2^-32 for these sizes).
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let random = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(random) * bound as u128) >> 64) as usize
    }
}

impl Chain {
    /// Writes a chain into `bytes` bytes from `base` on: an element every `stride` bytes. Behind its address
    /// an element of [`NUMBERED`] bytes or more holds its [`number`](Chain::number) on the chain.
    ///
    /// # Safety
    /// The memory is valid for writes, aligned to 8 B, and nothing else uses it at the same time.
    ///
    /// # Panics
    /// If not even one element fits, or a stride is no multiple of 8 B.
    pub unsafe fn write(base: *mut u8, bytes: usize, stride: usize, order: Order, seed: u64) -> Chain {
        // SAFETY: the caller's.
        let (chain, visits) = unsafe { Chain::lay(base, bytes, stride, order, seed) };
        if stride >= NUMBERED {
            for (step, &index) in visits.iter().enumerate() {
                // SAFETY: inside the element, which lies inside the caller's memory.
                unsafe { base.wrapping_add(index as usize * stride).cast::<u64>().add(1).write(step as u64) };
            }
        }
        chain
    }

    /// A chain of addresses alone, that uses 8 B of each element: the rest may hold other chains. Notes the
    /// addresses of the elements at `steps`, each less than the number of elements.
    ///
    /// # Safety
    /// As [`write`](Chain::write).
    pub(crate) unsafe fn write_noting(
        base: *mut u8,
        bytes: usize,
        stride: usize,
        order: Order,
        seed: u64,
        steps: &[u64],
        noted: &mut Vec<usize>,
    ) -> Chain {
        // SAFETY: the caller's.
        let (chain, visits) = unsafe { Chain::lay(base, bytes, stride, order, seed) };
        let at = |step: u64| base.wrapping_add(visits[step as usize] as usize * stride) as usize;
        noted.extend(steps.iter().map(|&step| at(step)));
        chain
    }

    /// Writes the addresses; returns the order of the elements too.
    unsafe fn lay(base: *mut u8, bytes: usize, stride: usize, order: Order, seed: u64) -> (Chain, Vec<u32>) {
        assert!(
            stride >= 8 && stride.is_multiple_of(8) && bytes >= stride,
            "a chain of {bytes} B by {stride} B"
        );
        let elements = bytes / stride;
        let at = |index: u32| base.wrapping_add(index as usize * stride).cast::<*const u8>();
        let visits = visits(elements, stride, order, &mut Random::new(seed));
        for (step, &index) in visits.iter().enumerate() {
            let next = visits.get(step + 1).copied().unwrap_or(visits[0]);
            // SAFETY: both lie inside the caller's memory.
            unsafe { at(index).write(at(next).cast()) };
        }
        (Chain { start: at(visits[0]).cast(), elements }, visits)
    }

    /// Steps from the chain's start to the element at `at`: proves that a walk took every step.
    ///
    /// # Safety
    /// `at` is an element of a chain that is still in memory, with a stride of [`NUMBERED`] bytes or more.
    pub unsafe fn number(at: *const u8) -> u64 {
        // SAFETY: the caller's.
        unsafe { at.cast::<u64>().add(1).read() }
    }

    /// Follows the chain for `steps` steps, a multiple of [`UNROLL`] and not 0; returns where it ends.
    ///
    /// # Safety
    /// `from` is an element of a chain that is still in memory.
    pub unsafe fn walk(from: *const u8, steps: u64) -> *const u8 {
        debug_assert!(steps > 0 && steps.is_multiple_of(UNROLL));
        // SAFETY: the caller's.
        unsafe { walk(from, steps / UNROLL) }
    }
}

fn visits(elements: usize, stride: usize, order: Order, random: &mut Random) -> Vec<u32> {
    let shuffled = |from: u32, to: u32, random: &mut Random| {
        let mut numbers: Vec<u32> = Vec::with_capacity((to - from) as usize);
        crate::region::advise_huge(&mut numbers);
        numbers.extend(from..to);
        // A shuffled list, closed to a ring, is one cycle whatever the shuffle.
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.below(last + 1));
        }
        numbers
    };
    let all = u32::try_from(elements).unwrap_or(u32::MAX);
    match order {
        Order::Random => shuffled(0, all, random),
        Order::Pages(page) => {
            let in_page = u32::try_from((page / stride).max(1)).unwrap_or(u32::MAX);
            let pages = shuffled(0, all.div_ceil(in_page), random);
            let of_page = |page: u32| {
                let first = page * in_page;
                shuffled(first, first.saturating_add(in_page).min(all), random)
            };
            pages.into_iter().flat_map(of_page).collect()
        }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn walk(mut at: *const u8, turns: u64) -> *const u8 {
    // SAFETY: reads along a chain that the caller vouches for.
    unsafe {
        asm!(
            "2:",
            "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]",
            "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]",
            "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]",
            "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]", "mov {at}, [{at}]",
            "dec {turns}",
            "jnz 2b",
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    at
}

#[cfg(target_arch = "aarch64")]
unsafe fn walk(mut at: *const u8, turns: u64) -> *const u8 {
    // SAFETY: reads along a chain that the caller vouches for.
    unsafe {
        asm!(
            "2:",
            "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]",
            "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]",
            "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]",
            "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]", "ldr {at}, [{at}]",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(readonly, nostack),
        );
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain(memory: &mut [u64], stride: usize, order: Order, seed: u64) -> Chain {
        // SAFETY: the slice is borrowed exclusively.
        unsafe { Chain::write(memory.as_mut_ptr().cast(), memory.len() * 8, stride, order, seed) }
    }

    proptest! {
        #[test]
        fn a_chain_visits_every_element_once(
            elements in 1..3000usize, words in 1..9usize, page in 0..8192usize, seed in any::<u64>(),
        ) {
            let mut memory = vec![0u64; elements * words];
            let stride = words * 8;
            let order = if page < 64 { Order::Random } else { Order::Pages(page) };
            let chain = chain(&mut memory, stride, order, seed);
            prop_assert_eq!(chain.elements, elements);
            let base = memory.as_ptr() as usize;
            if stride >= NUMBERED {
                // SAFETY: the chain lies in `memory`.
                prop_assert_eq!(unsafe { Chain::number(chain.start) }, 0);
            }
            let (mut at, mut visited) = (chain.start as usize, vec![false; elements]);
            for _ in 0..elements {
                let index = (at - base) / stride;
                prop_assert!(!std::mem::replace(&mut visited[index], true), "twice at {}", index);
                at = memory[(at - base) / 8] as usize;
            }
            prop_assert_eq!(at, chain.start as usize, "it comes round");
        }

        #[test]
        fn a_page_is_left_only_when_it_is_done(pages in 1..40usize, seed in any::<u64>()) {
            let visits = visits(pages * 64, LINE, Order::Pages(4096), &mut Random::new(seed));
            let changes = visits.windows(2).filter(|pair| pair[0] / 64 != pair[1] / 64).count();
            prop_assert_eq!(changes, pages - 1);
        }
    }

    #[test]
    fn a_walk_takes_as_many_steps_as_asked() {
        let mut memory = vec![0u64; 8 * 48];
        let chain = chain(&mut memory, LINE, Order::Random, 7);
        // SAFETY: the chain lies in `memory`.
        let (round, part) = unsafe { (Chain::walk(chain.start, 48), Chain::walk(chain.start, 16)) };
        assert_eq!(round, chain.start);
        let expected = (0..16)
            .fold(chain.start, |at, _| memory[(at as usize - memory.as_ptr() as usize) / 8] as *const u8);
        assert_eq!(part, expected);
        // SAFETY: as above.
        assert_eq!(unsafe { Chain::number(part) }, 16);
    }

    #[test]
    fn orders_differ_by_seed_and_are_reproducible() {
        let order = |seed| visits(1000, LINE, Order::Random, &mut Random::new(seed));
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        assert_ne!(order(1), (0..1000).collect::<Vec<u32>>());
    }
}
