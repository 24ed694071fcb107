//! A spinning barrier for pinned threads: all start within a microsecond.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Spins before the first yield. With more threads than CPUs, a spinning thread may keep a CPU from the
/// thread that it waits for. So it yields in each further iteration.
const SPINS: u32 = 20_000;

/// A sense-reversing barrier (Mellor-Crummey and Scott, ACM TOCS 9, 1991, algorithm 1) that can be broken, so
/// that the other threads do not wait for a thread that failed.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
}

/// The barrier was broken, because a thread will never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Barrier {
    pub fn new(threads: usize) -> Self {
        Barrier {
            threads,
            waiting: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    pub fn wait(&self) -> Result<(), Broken> {
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Releases every waiting thread with an error, until [`mend`](Self::mend) is called.
    pub fn break_it(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// Makes a broken barrier usable again. No thread may be waiting.
    pub fn mend(&self) {
        self.waiting.store(0, Ordering::Relaxed);
        self.broken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn no_thread_passes_before_all_have_arrived() {
        let threads = 5;
        let barrier = Arc::new(Barrier::new(threads));
        let arrived = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let (barrier, arrived) = (barrier.clone(), arrived.clone());
                std::thread::spawn(move || {
                    for turn in 1..200 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        barrier.wait().unwrap();
                        assert!(arrived.load(Ordering::SeqCst) >= turn * threads);
                        barrier.wait().unwrap();
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }

    #[test]
    fn a_broken_barrier_releases_its_threads() {
        let barrier = Arc::new(Barrier::new(2));
        let waiter = std::thread::spawn({
            let barrier = barrier.clone();
            move || barrier.wait()
        });
        barrier.break_it();
        assert_eq!(waiter.join().unwrap(), Err(Broken));
    }
}
