//! A lock that sleeps on nothing: it may be taken inside malloc, wherever that is called from.

use core::sync::atomic::{AtomicU32, Ordering};

/// Looks before the CPU is given away …
const SPINS: u32 = 100;
/// … and how often that is done before sleeping: the holder may have a lower priority, and need this CPU.
const YIELDS: u32 = 100;
/// How long one sleeps then, in nanoseconds.
const NAP: libc::c_long = 50_000;

/// Zero is open.
#[repr(transparent)]
#[derive(Debug)]
pub struct Lock(AtomicU32);

impl Lock {
    /// Takes it, however long that takes.
    pub fn take(&self) {
        let mut tries = 0u32;
        while !self.try_take() {
            tries = tries.saturating_add(1);
            if tries < SPINS {
                core::hint::spin_loop();
            } else if tries < SPINS + YIELDS {
                // SAFETY: always allowed.
                unsafe { libc::sched_yield() };
            } else {
                let nap = libc::timespec { tv_sec: 0, tv_nsec: NAP };
                // SAFETY: a time that lives; what is left of it is not asked for.
                unsafe { libc::nanosleep(&nap, core::ptr::null_mut()) };
            }
        }
    }

    /// Takes it unless its holder keeps it for long: that may be the caller itself, below a signal handler.
    pub fn take_soon(&self) -> bool {
        (0..SPINS * 100).any(|_| {
            core::hint::spin_loop();
            self.try_take()
        })
    }

    /// Opens it.
    pub fn open(&self) {
        self.0.store(0, Ordering::Release);
    }

    fn try_take(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0 && self.0.swap(1, Ordering::Acquire) == 0
    }
}
