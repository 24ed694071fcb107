//! The memory that truebench shares with its cells: the start, and a slot for each cell's results.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a slot: a page, so that no cell writes where another does, and there is room for a histogram.
pub const SLOT_BYTES: usize = 4096;
/// Bytes before the first slot.
pub const HEAD_BYTES: usize = 4096;
/// Numbers of a test's own in a slot.
pub const NOTES: usize = 480;

/// The head of the mapping.
#[repr(C)]
#[derive(Debug)]
pub struct Head {
    /// How many slots follow.
    pub slots: AtomicU32,
    /// How often cells were ready to start: each once, and one that lasts once more after each of its passes.
    pub ready: AtomicU32,
    /// Nonzero once they may: a futex. To cells that last, the number of passes that they are to make in all.
    pub go: AtomicU32,
    /// The process that starts the cells, which end when it does.
    pub parent: AtomicU32,
}

/// What one cell writes.
#[repr(C)]
#[derive(Debug)]
pub struct Slot {
    /// What was counted.
    pub count: AtomicU64,
    /// Nanoseconds of CLOCK_MONOTONIC when it began to count …
    pub started: AtomicU64,
    /// … and when it ended; 0 if it never did.
    pub ended: AtomicU64,
    /// When the last operation that counts was done, where operations are so long that it matters for a short pass that
    /// one was begun and does not count; 0 elsewhere.
    pub whole: AtomicU64,
    /// What failed: [`Cause::step`], 0 for nothing.
    pub failed: AtomicU32,
    /// errno then.
    pub errno: AtomicU32,
    /// A number of the failed step, such as a child's status or the sequence number that was wrong.
    pub detail: AtomicU64,
    /// CPU time in user code while it counted, in microseconds: its own and that of waited-for children.
    pub user: AtomicU64,
    /// The same, in the kernel.
    pub system: AtomicU64,
    /// Voluntary switches of the cell while it counted (of the cell alone).
    pub voluntary: AtomicU64,
    /// Involuntary ones.
    pub involuntary: AtomicU64,
    /// Nanoseconds in which it was ready and waited for a CPU while it counted; `u64::MAX` where that is not known.
    pub run_delay: AtomicU64,
    /// The test's own numbers; each test names them.
    pub notes: [AtomicU64; NOTES],
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Which step: one of [`step`].
    pub step: u32,
    /// errno, or 0.
    pub errno: c_int,
    /// See [`Slot::detail`].
    pub detail: u64,
}

impl Cause {
    /// A step that failed with errno as it is now.
    pub fn now(step: u32) -> Self {
        Cause { step, errno: crate::sys::errno(), detail: 0 }
    }

    /// A step that gave a wrong result.
    pub fn wrong(step: u32, detail: u64) -> Self {
        Cause { step, errno: 0, detail }
    }
}

/// Steps that can fail, and what they are in words: numbers cross the process boundary.
pub mod step {
    macro_rules! steps {
        ($($name:ident = $number:literal, $about:literal;)*) => {
            $(#[doc = $about] pub const $name: u32 = $number;)*
            /// Every step.
            pub const ALL: &[(u32, &str)] = &[$(($number, $about),)*];
        };
    }
    steps! {
        TIMER = 1, "setting the timer";
        PIPE = 2, "making a pipe";
        FORK = 3, "forking";
        EXEC = 4, "executing the program";
        WAIT = 5, "waiting for the child";
        CHILD = 6, "the child's exit status";
        READ = 7, "reading";
        WRITE = 8, "writing";
        SEQUENCE = 9, "the number that came back";
        OPEN = 10, "opening a file";
        SEEK = 11, "seeking in a file";
        AFFINITY = 12, "setting the CPU affinity";
        CONTENTS = 13, "what was copied";
        VALUES = 14, "the computed values";
        SYSCALL = 15, "a system call";
        LIBRARY = 16, "loading the mathematical library";
        SOCKET = 17, "making a socket pair";
        EVENT = 18, "making an event descriptor";
        THREAD = 19, "starting a thread";
        ARGUMENTS = 20, "the arguments";
        SHARE = 21, "mapping memory that two tasks share";
        MEMORY = 22, "mapping memory";
        ALLOCATE = 23, "malloc, which gave no memory";
    }
}

/// The mapping.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    base: *mut u8,
}

// SAFETY: all that is reached through it is atomic.
unsafe impl Send for Shared {}
// SAFETY: likewise.
unsafe impl Sync for Shared {}

impl Shared {
    /// Bytes for so many slots.
    pub const fn bytes(slots: usize) -> usize {
        HEAD_BYTES + slots * SLOT_BYTES
    }

    /// Maps what a descriptor refers to, with as many slots as it says itself.
    pub fn map(descriptor: c_int) -> Option<Shared> {
        let head = crate::sys::map(descriptor, HEAD_BYTES)?;
        // SAFETY: just mapped, and larger than a head.
        let slots = unsafe { (*head.cast::<Head>()).slots.load(Ordering::Relaxed) } as usize;
        crate::sys::unmap(head, HEAD_BYTES);
        if slots > 1 << 16 {
            return None;
        }
        crate::sys::map(descriptor, Shared::bytes(slots)).map(|base| Shared { base })
    }

    /// Over a mapping that exists and lives as long as the process.
    ///
    /// # Safety
    /// `base` begins [`bytes`](Self::bytes) zeroed or initialised bytes of shared memory, page-aligned, whose head tells
    /// the number of slots.
    pub unsafe fn over(base: *mut u8) -> Shared {
        Shared { base }
    }

    /// The head.
    pub fn head(&self) -> &'static Head {
        // SAFETY: mapped for the rest of the process; all fields are atomic.
        unsafe { &*self.base.cast::<Head>() }
    }

    /// A slot, if there is one of this number.
    pub fn slot(&self, index: usize) -> Option<&'static Slot> {
        if index >= self.head().slots.load(Ordering::Relaxed) as usize {
            return None;
        }
        // SAFETY: inside the mapping, as the number was checked.
        Some(unsafe { &*self.base.wrapping_add(HEAD_BYTES + index * SLOT_BYTES).cast::<Slot>() })
    }
}

impl Slot {
    /// Writes what failed, unless something did before.
    pub fn fail(&self, cause: Cause) {
        if self.failed.load(Ordering::Relaxed) == 0 {
            self.errno.store(cause.errno as u32, Ordering::Relaxed);
            self.detail.store(cause.detail, Ordering::Relaxed);
            self.failed.store(cause.step, Ordering::Release);
        }
    }

    /// Forgets all: for the next pass of a cell that waits for it.
    pub fn clear(&self) {
        let Slot { count, started, ended, whole, failed, errno, detail, .. } = self;
        let Slot { user, system, voluntary, involuntary, run_delay, notes, .. } = self;
        let words = [count, started, ended, whole, detail, user, system, voluntary, involuntary, run_delay];
        words.into_iter().chain(notes).for_each(|word| word.store(0, Ordering::Relaxed));
        [failed, errno].into_iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// One of the test's own numbers.
    pub fn note(&self, index: usize) -> Option<&AtomicU64> {
        self.notes.get(index)
    }
}
