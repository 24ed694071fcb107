//! Of which blocks the stack is taken: of so many a second, chosen by chance, the larger the likelier, for more faults are in them.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Nanoseconds between two looks at how much is allocated.
const WINDOW: u64 = 50_000_000;
/// Stacks that are aimed at in that time: 2000 a second, each of which takes about a microsecond.
const AIM: u32 = 100;
/// After so many it is looked sooner.
const MOST: u32 = 256;

/// How it goes in this process. Threads that meet in it cost exactness, and nothing else.
#[derive(Debug)]
pub struct Pace {
    /// When the window began.
    since: AtomicU64,
    /// In the window: blocks, their bytes, stacks taken.
    blocks: AtomicU32,
    bytes: AtomicU64,
    taken: AtomicU32,
    /// Of so many bytes one stack is taken; of each block that is as large; 0: of each.
    step: AtomicU64,
    seed: AtomicU64,
}

impl Pace {
    /// At the beginning all are taken.
    pub const fn new() -> Pace {
        Pace {
            since: AtomicU64::new(0),
            blocks: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            taken: AtomicU32::new(0),
            step: AtomicU64::new(0),
            seed: AtomicU64::new(0),
        }
    }

    /// Whether the stack of a block of so many bytes is taken, and how likely that was.
    pub fn chance(&self, size: u64, now: u64) -> Option<f64> {
        let blocks = self.blocks.fetch_add(1, Relaxed).wrapping_add(1);
        let bytes = self.bytes.fetch_add(size, Relaxed).wrapping_add(size);
        let since = self.since.load(Relaxed);
        let passed = now.saturating_sub(since);
        if (passed >= WINDOW || self.taken.load(Relaxed) >= MOST)
            && self.since.compare_exchange(since, now, Relaxed, Relaxed).is_ok()
        {
            self.turn(passed.max(1), blocks, bytes);
        }
        let step = self.step.load(Relaxed);
        let chance = if size >= step { 1.0 } else { size as f64 / step as f64 };
        if chance < 1.0 && self.random(now) >= chance {
            return None;
        }
        self.taken.fetch_add(1, Relaxed);
        Some(chance)
    }

    /// Begins another window, by what the last one held.
    fn turn(&self, passed: u64, blocks: u32, bytes: u64) {
        let windows = passed as f64 / WINDOW as f64;
        let is_quiet = f64::from(blocks) <= f64::from(AIM) * windows;
        let step = if is_quiet { 0 } else { (bytes as f64 / windows / f64::from(AIM)) as u64 };
        self.step.store(step, Relaxed);
        self.blocks.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
        self.taken.store(0, Relaxed);
    }

    /// A number from 0 to below 1 (splitmix64).
    fn random(&self, now: u64) -> f64 {
        let seed = self.seed.fetch_add(now | 1, Relaxed);
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Blocks of these sizes in turn, `gap` nanoseconds apart, for a second: stacks taken of each size, and what they stand for.
    fn second(sizes: &[u64], gap: u64) -> Vec<(u64, f64)> {
        let pace = Pace::new();
        let mut all = vec![(0, 0.0); sizes.len()];
        for block in 0..1_000_000_000 / gap {
            let at = block as usize % sizes.len();
            if let Some(chance) = pace.chance(sizes[at], 5_000_000_000 + block * gap) {
                all[at] = (all[at].0 + 1, all[at].1 + 1.0 / chance);
            }
        }
        all
    }

    #[test]
    fn of_few_blocks_all_are_taken_and_of_many_some() {
        assert_eq!(second(&[1 << 16, 1 << 30], 1_000_000), [(500, 500.0), (500, 500.0)]);
        // A million of 64 KiB a second.
        let all = second(&[1 << 16], 1000);
        assert!((1000..6000).contains(&all[0].0), "{all:?}");
        assert!((all[0].1 / 1e6 - 1.0).abs() < 0.2, "{all:?}");
    }

    #[test]
    fn large_blocks_are_likelier_and_all_stand_for_what_there_is() {
        let all = second(&[1 << 16, 1 << 16, 1 << 16, 1 << 22], 10_000);
        assert!(all[3].0 > 8 * all[0].0, "{all:?}");
        for (taken, stands) in &all {
            assert!(*taken > 0 && (stands / 25_000.0 - 1.0).abs() < 0.7, "{all:?}");
        }
        // Blocks in turn do not go in step with the choice.
        let turn = second(&[1 << 21, 1 << 21], 10_000);
        assert!((turn[0].0 as f64 / turn[1].0 as f64 - 1.0).abs() < 0.3, "{turn:?}");
    }
}
