//! The memory that truebench shares with workload processes: the start, and a slot for the results of each
//! process.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a slot: a page, so that no process writes where another does, with room for a histogram.
pub const SLOT_BYTES: usize = 4096;
pub const HEAD_BYTES: usize = 4096;
/// Fields in a slot that each workload defines for itself.
pub const FIELDS: usize = 480;

#[repr(C)]
#[derive(Debug)]
pub struct Head {
    pub slots: AtomicU32,
    /// How often processes were ready to start: each once, and a process of several passes once more after
    /// each pass.
    pub ready: AtomicU32,
    /// A futex: nonzero once the processes may start. For processes of several passes: passes that they may
    /// make in all.
    pub go: AtomicU32,
    /// The process that starts the workload processes. They end when it ends.
    pub parent: AtomicU32,
}

#[repr(C)]
#[derive(Debug)]
pub struct Slot {
    pub count: AtomicU64,
    /// Nanoseconds of CLOCK_MONOTONIC when counting began.
    pub started: AtomicU64,
    /// Nanoseconds of CLOCK_MONOTONIC when counting ended; 0 if it did not.
    pub ended: AtomicU64,
    /// For operations of which a pass holds few: nanoseconds of CLOCK_MONOTONIC when the last counted one
    /// ended. An operation that the end of the pass interrupts is not counted. 0 for other workloads.
    pub whole: AtomicU64,
    /// [`Cause::step`]; 0 for no failure.
    pub failed: AtomicU32,
    pub errno: AtomicU32,
    /// A number about the failed step, such as a child's status or a wrong sequence number.
    pub detail: AtomicU64,
    /// Microseconds of CPU time in user code while counting, of the process and of its children that it
    /// waited for.
    pub user: AtomicU64,
    /// The same in the kernel.
    pub system: AtomicU64,
    /// Voluntary context switches of the process while counting, without its children.
    pub voluntary: AtomicU64,
    /// Of the copy itself, as above.
    pub involuntary: AtomicU64,
    /// Nanoseconds on a run queue while counting; `u64::MAX` if unknown.
    pub run_delay: AtomicU64,
    pub fields: [AtomicU64; FIELDS],
}

const _: () = assert!(size_of::<Slot>() <= SLOT_BYTES);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Which step: one of [`step`].
    pub step: u32,
    /// errno; 0 for a wrong result.
    pub errno: c_int,
    pub detail: u64,
}

impl Cause {
    pub fn now(step: u32) -> Self {
        Cause { step, errno: crate::sys::errno(), detail: 0 }
    }

    pub fn wrong(step: u32, detail: u64) -> Self {
        Cause { step, errno: 0, detail }
    }
}

/// Success, or the cause of a failure.
pub type Outcome = Result<(), Cause>;

/// Steps that can fail. Their numbers cross the process boundary.
pub mod step {
    macro_rules! steps {
        ($($name:ident = $number:literal, $about:literal;)*) => {
            $(#[doc = $about] pub const $name: u32 = $number;)*
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

#[derive(Clone, Copy, Debug)]
pub struct Shared {
    base: *mut u8,
}

// SAFETY: all that is reached through it is atomic.
unsafe impl Send for Shared {}
// SAFETY: likewise.
unsafe impl Sync for Shared {}

impl Shared {
    pub const fn bytes(slots: usize) -> usize {
        HEAD_BYTES + slots * SLOT_BYTES
    }

    /// Maps a file. Its head holds the number of slots.
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

    /// Wraps an existing mapping.
    ///
    /// # Safety
    /// `base` is page-aligned and begins [`bytes`](Self::bytes) initialised bytes of shared memory, mapped
    /// for the rest of the process. The head holds the number of slots.
    pub unsafe fn over(base: *mut u8) -> Shared {
        Shared { base }
    }

    pub fn head(&self) -> &'static Head {
        // SAFETY: mapped for the rest of the process; all fields are atomic.
        unsafe { &*self.base.cast::<Head>() }
    }

    pub fn slot(&self, index: usize) -> Option<&'static Slot> {
        if index >= self.head().slots.load(Ordering::Relaxed) as usize {
            return None;
        }
        // SAFETY: inside the mapping, as the index was checked.
        Some(unsafe { &*self.base.wrapping_add(HEAD_BYTES + index * SLOT_BYTES).cast::<Slot>() })
    }
}

impl Slot {
    /// Writes the cause of a failure, unless there is one already.
    pub fn fail(&self, cause: Cause) {
        if self.failed.load(Ordering::Relaxed) == 0 {
            self.errno.store(cause.errno as u32, Ordering::Relaxed);
            self.detail.store(cause.detail, Ordering::Relaxed);
            self.failed.store(cause.step, Ordering::Release);
        }
    }

    /// Zeroes all results before the next pass.
    pub fn clear(&self) {
        let Slot { count, started, ended, whole, failed, errno, detail, .. } = self;
        let Slot { user, system, voluntary, involuntary, run_delay, fields, .. } = self;
        let words = [count, started, ended, whole, detail, user, system, voluntary, involuntary, run_delay];
        words.into_iter().chain(fields).for_each(|word| word.store(0, Ordering::Relaxed));
        [failed, errno].into_iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    pub fn field(&self, index: usize) -> Option<&AtomicU64> {
        self.fields.get(index)
    }

    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.field(index).map_or(0, |field| field.load(Ordering::Relaxed))
    }

    #[inline]
    pub fn set(&self, index: usize, value: u64) {
        if let Some(field) = self.field(index) {
            field.store(value, Ordering::Relaxed);
        }
    }

    /// Adds 1 to a field that no other task writes to.
    #[inline]
    pub fn increment(&self, index: usize) {
        self.set(index, self.get(index).wrapping_add(1));
    }
}
