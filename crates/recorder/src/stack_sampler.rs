//! Samples the blocks to copy the stack of: about [`TARGET_STACKS`] per window, at random, with a probability that
//! grows with the size of the block, because larger blocks have more page faults.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Nanoseconds of a window. Each window sets the probabilities for the next.
const WINDOW: u64 = 50_000_000;
/// Stacks per window: 2000 a second, each of which takes about a microsecond.
const TARGET_STACKS: u32 = 100;
/// Stacks that end a window early.
const MOST_STACKS: u32 = 256;

/// The sampler of this process. Races between threads make it less exact, and nothing else.
#[derive(Debug)]
pub struct StackSampler {
    /// Begin of the window, in nanoseconds of CLOCK_MONOTONIC.
    window_start: AtomicU64,
    /// In the window: blocks, their bytes, sampled stacks.
    blocks: AtomicU32,
    bytes: AtomicU64,
    sampled: AtomicU32,
    /// Bytes per stack. Every block of this size or more is sampled; 0: every block.
    bytes_per_stack: AtomicU64,
    seed: AtomicU64,
}

impl StackSampler {
    /// At the beginning every block is sampled.
    pub const fn new() -> StackSampler {
        StackSampler {
            window_start: AtomicU64::new(0),
            blocks: AtomicU32::new(0),
            bytes: AtomicU64::new(0),
            sampled: AtomicU32::new(0),
            bytes_per_stack: AtomicU64::new(0),
            seed: AtomicU64::new(0),
        }
    }

    /// The probability with which this block was sampled; `None` if it was not.
    pub fn sample(&self, size: u64, now: u64) -> Option<f64> {
        let blocks = self.blocks.fetch_add(1, Relaxed).wrapping_add(1);
        let bytes = self.bytes.fetch_add(size, Relaxed).wrapping_add(size);
        let start = self.window_start.load(Relaxed);
        let elapsed = now.saturating_sub(start);
        if (elapsed >= WINDOW || self.sampled.load(Relaxed) >= MOST_STACKS)
            && self.window_start.compare_exchange(start, now, Relaxed, Relaxed).is_ok()
        {
            self.next_window(elapsed.max(1), blocks, bytes);
        }
        let bytes_per_stack = self.bytes_per_stack.load(Relaxed);
        let probability = if size >= bytes_per_stack { 1.0 } else { size as f64 / bytes_per_stack as f64 };
        if probability < 1.0 && self.random(now) >= probability {
            return None;
        }
        self.sampled.fetch_add(1, Relaxed);
        Some(probability)
    }

    /// Begins the next window, with probabilities from the last.
    fn next_window(&self, elapsed: u64, blocks: u32, bytes: u64) {
        let windows = elapsed as f64 / WINDOW as f64;
        let is_quiet = f64::from(blocks) <= f64::from(TARGET_STACKS) * windows;
        let bytes_per_stack =
            if is_quiet { 0 } else { (bytes as f64 / windows / f64::from(TARGET_STACKS)) as u64 };
        self.bytes_per_stack.store(bytes_per_stack, Relaxed);
        self.blocks.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
        self.sampled.store(0, Relaxed);
    }

    /// A random number in [0, 1) (splitmix64).
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

    /// Blocks of these sizes in turn, `gap` nanoseconds apart, for a second. Returns the sampled stacks of
    /// each size, and the blocks that they stand for.
    fn second(sizes: &[u64], gap: u64) -> Vec<(u64, f64)> {
        let sampler = StackSampler::new();
        let mut samples = vec![(0, 0.0); sizes.len()];
        for block in 0..1_000_000_000 / gap {
            let index = block as usize % sizes.len();
            if let Some(probability) = sampler.sample(sizes[index], 5_000_000_000 + block * gap) {
                let (stacks, blocks) = samples[index];
                samples[index] = (stacks + 1, blocks + 1.0 / probability);
            }
        }
        samples
    }

    #[test]
    fn few_blocks_are_all_sampled_and_of_many_some() {
        assert_eq!(second(&[1 << 16, 1 << 30], 1_000_000), [(500, 500.0), (500, 500.0)]);
        // A million of 64 KiB a second.
        let samples = second(&[1 << 16], 1000);
        assert!((1000..6000).contains(&samples[0].0), "{samples:?}");
        assert!((samples[0].1 / 1e6 - 1.0).abs() < 0.2, "{samples:?}");
    }

    #[test]
    fn large_blocks_are_likelier_and_samples_stand_for_all_blocks() {
        let samples = second(&[1 << 16, 1 << 16, 1 << 16, 1 << 22], 10_000);
        assert!(samples[3].0 > 8 * samples[0].0, "{samples:?}");
        for (stacks, blocks) in &samples {
            assert!(*stacks > 0 && (blocks / 25_000.0 - 1.0).abs() < 0.7, "{samples:?}");
        }
        // Alternating blocks are not in step with the random numbers.
        let samples = second(&[1 << 21, 1 << 21], 10_000);
        assert!((samples[0].0 as f64 / samples[1].0 as f64 - 1.0).abs() < 0.3, "{samples:?}");
    }
}
