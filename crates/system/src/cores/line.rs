//! The line that goes to and fro: a counter that two threads take turns to raise by compare-and-swap.
//!
//! Who waits tries the swap again and again, as in core-to-core-latency (N. Viennot), whose published tables the figures
//! can so be held against. A counter in place of its flag: a swap succeeds on nothing but what the other thread left, so
//! that at the end the line holds the number of hand-overs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Attempts before the first yield: who waits longer may be keeping the other from the CPU. Some milliseconds.
const ATTEMPTS: u32 = 100_000;
/// Who waits longer has nobody to wait for.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A counter on a line of its own; neighbouring lines, which a prefetcher may fetch with it, are left empty.
#[derive(Debug, Default)]
#[repr(align(256))]
pub struct Line {
    count: AtomicU64,
    stop: Stop,
}

/// Raised by a thread that has given up, so that the other need not wait as long. On lines of its own.
#[derive(Debug, Default)]
#[repr(align(256))]
struct Stop(AtomicBool);

/// The other thread did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other CPU did not answer in {} s", LONGEST_WAIT.as_secs())]
pub struct Alone;

impl Line {
    /// Sets the count; nobody else may be at work.
    pub fn begin(&self, count: u64) {
        self.stop.0.store(false, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    /// What the line holds.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// One thread's part of so many round trips: raises the count from `first`, `first` + 2, … by one each. The other thread
    /// does the same from `first` + 1.
    ///
    /// # Errors
    /// [`Alone`], after ten seconds in which the other thread did nothing.
    #[inline]
    pub fn bounce(&self, first: u64, trips: u64) -> Result<(), Alone> {
        for trip in 0..trips {
            self.raise(first + 2 * trip)?;
        }
        Ok(())
    }

    #[inline]
    fn raise(&self, from: u64) -> Result<(), Alone> {
        for _ in 0..ATTEMPTS {
            if self.swap(from) {
                return Ok(());
            }
        }
        self.raise_patiently(from, LONGEST_WAIT)
    }

    /// The same, for a thread whose other one is not running now.
    #[cold]
    fn raise_patiently(&self, from: u64, longest: Duration) -> Result<(), Alone> {
        let start = Instant::now();
        while !self.swap(from) {
            if self.stop.0.load(Ordering::Relaxed) || start.elapsed() > longest {
                self.stop.0.store(true, Ordering::Relaxed);
                return Err(Alone);
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
    fn the_line_counts_its_hand_overs() {
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
    fn who_is_alone_does_not_wait_for_ever_and_the_other_learns_it() {
        let line = Line::default();
        line.begin(0);
        assert_eq!(line.raise_patiently(1, Duration::ZERO), Err(Alone));
        assert_eq!(line.raise_patiently(3, Duration::MAX), Err(Alone), "the first has given up");
        assert_eq!(line.count(), 0);
        // A new beginning is one.
        line.begin(1);
        assert_eq!(line.raise_patiently(1, Duration::ZERO), Ok(()));
        assert_eq!(line.count(), 2);
    }

    #[test]
    fn the_counter_has_its_lines_alone() {
        assert_eq!(std::mem::align_of::<Line>(), 256);
        assert!(std::mem::size_of::<Line>() >= 512);
    }
}
