//! A spin lock: it may be held inside malloc, in any context that calls malloc.

use core::sync::atomic::{AtomicU32, Ordering};

/// Attempts before the first sched_yield.
const SPINS: u32 = 100;
/// sched_yield calls before the first sleep: the holder may have a lower priority and need this CPU.
const YIELDS: u32 = 100;
/// Sleep between two attempts, in nanoseconds.
const SLEEP: libc::c_long = 50_000;

/// Zero is unlocked.
#[repr(transparent)]
#[derive(Debug)]
pub struct Lock(AtomicU32);

impl Lock {
    pub fn lock(&self) {
        let mut attempts = 0u32;
        while !self.try_lock() {
            attempts = attempts.saturating_add(1);
            if attempts < SPINS {
                core::hint::spin_loop();
            } else if attempts < SPINS + YIELDS {
                // SAFETY: always allowed.
                unsafe { libc::sched_yield() };
            } else {
                let time = libc::timespec { tv_sec: 0, tv_nsec: SLEEP };
                // SAFETY: a time that lives; the remaining time is not requested.
                unsafe { libc::nanosleep(&time, core::ptr::null_mut()) };
            }
        }
    }

    /// Locks it, unless another holder keeps it for long. The holder may be this thread, interrupted by a
    /// signal handler.
    pub fn lock_soon(&self) -> bool {
        (0..SPINS * 100).any(|_| {
            core::hint::spin_loop();
            self.try_lock()
        })
    }

    pub fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }

    fn try_lock(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0 && self.0.swap(1, Ordering::Acquire) == 0
    }
}
