//! The transferred cache line: a counter that two threads increment in turn by compare-and-swap.
//!
//! The waiting thread retries the swap, as in core-to-core-latency (N. Viennot), so the figures are
//! comparable with its published tables. That tool uses a flag. With a counter, a swap succeeds only after
//! the other thread's, and the final value is the number of hand-overs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Attempts before the first yield, some milliseconds. A thread that spins longer may keep the CPU from the
/// other.
const ATTEMPTS: u32 = 100_000;
/// Time after which the other thread counts as missing.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A counter on its own cache line. Neighbouring lines, which a prefetcher may fetch too, are empty.
#[derive(Debug, Default)]
#[repr(align(256))]
pub struct Line {
    count: AtomicU64,
    stop: Stop,
}

/// Set by a thread that gave up, so that the other does not wait as long. On its own cache lines.
#[derive(Debug, Default)]
#[repr(align(256))]
struct Stop(AtomicBool);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other CPU did not answer in {} s", LONGEST_WAIT.as_secs())]
pub struct NoAnswer;

impl Line {
    /// Sets the count. No thread may be running.
    pub fn begin(&self, count: u64) {
        self.stop.0.store(false, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// One thread's part of `trips` round trips: increments the count at `first`, `first` + 2, … The other
    /// thread does the same from `first` + 1. Gives up after ten seconds without the other thread.
    #[inline]
    pub fn bounce(&self, first: u64, trips: u64) -> Result<(), NoAnswer> {
        for trip in 0..trips {
            self.increment(first + 2 * trip)?;
        }
        Ok(())
    }

    #[inline]
    fn increment(&self, from: u64) -> Result<(), NoAnswer> {
        for _ in 0..ATTEMPTS {
            if self.swap(from) {
                return Ok(());
            }
        }
        self.increment_yielding(from, LONGEST_WAIT)
    }

    /// As [`increment`](Self::increment), and yields, because the other thread is not running.
    #[cold]
    fn increment_yielding(&self, from: u64, longest: Duration) -> Result<(), NoAnswer> {
        let start = Instant::now();
        while !self.swap(from) {
            if self.stop.0.load(Ordering::Relaxed) || start.elapsed() > longest {
                self.stop.0.store(true, Ordering::Relaxed);
                return Err(NoAnswer);
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    #[inline]
    fn swap(&self, from: u64) -> bool {
        self.count.compare_exchange(from, from + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_line_counts_hand_overs() {
        let line = Line::default();
        line.begin(40);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| line.bounce(41, 3000));
            assert_eq!(line.bounce(40, 3000), Ok(()));
            assert_eq!(other.join().unwrap(), Ok(()));
        });
        assert_eq!(line.count(), 40 + 2 * 3000);
    }

    #[test]
    fn a_thread_without_partner_gives_up_and_stops_the_other() {
        let line = Line::default();
        line.begin(0);
        assert_eq!(line.increment_yielding(1, Duration::ZERO), Err(NoAnswer));
        assert_eq!(line.increment_yielding(3, Duration::MAX), Err(NoAnswer), "the first gave up");
        assert_eq!(line.count(), 0);
        // begin() resets the stop flag.
        line.begin(1);
        assert_eq!(line.increment_yielding(1, Duration::ZERO), Ok(()));
        assert_eq!(line.count(), 2);
    }

    #[test]
    fn the_counter_has_its_own_lines() {
        assert_eq!(std::mem::align_of::<Line>(), 256);
        assert!(std::mem::size_of::<Line>() >= 512);
    }
}
