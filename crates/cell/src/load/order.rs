//! What the load is told, and where its results are: truebench and the cell share it.

use super::touch::Access;
use crate::shared::{HEAD_BYTES, Shared};

/// Classes of a histogram at most.
pub const CLASSES: usize = 128;
/// Where the order is in the head of the shared memory.
const AT: usize = 512;

/// Where slots and sizes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// alloc-test: Pareto choice of slots, halving classes of sizes.
    Pareto = 0,
    /// All slots and all sizes alike.
    Uniform = 1,
    /// The classes of a histogram, each with its own slots.
    Classes = 2,
}

/// Who gives the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Giver {
    /// malloc and free.
    Real = 0,
    /// Nobody: one block for all.
    Void = 1,
    /// Nobody: each block behind the one before.
    Bump = 2,
}

/// How the steps of the steady phase are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Way {
    /// Drawn and done, one after the other.
    Direct = 0,
    /// Drawn for a window, then done, and only the doing is timed.
    Replay = 1,
}

/// One class of a histogram: blocks of some sizes, chosen with some probability, that live in slots of their own. By Little's
/// law a class whose blocks live for L allocations needs `2 x probability x L` slots, of which half are full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Class {
    /// Numbers of 32 bits below it, and not below that of the class before, choose this class.
    pub below: u32,
    /// Its smallest block, in bytes.
    pub smallest: u32,
    /// Its largest.
    pub largest: u32,
    /// Its slots.
    pub slots: u32,
}

/// The order, for each thread of each cell alike.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Order {
    /// Steps of the steady phase, of each thread. A step allocates or frees.
    pub steps: u64,
    /// Seed of the first thread.
    pub seed: u64,
    /// A [`Source`].
    pub source: u32,
    /// A [`Giver`].
    pub giver: u32,
    /// A [`Way`].
    pub way: u32,
    /// An index into [`Access::ALL`].
    pub access: u32,
    /// Largest block: for [`Source::Pareto`] its exponent, for [`Source::Uniform`] bytes.
    pub largest: u32,
    /// Slots of each thread.
    pub slots: u32,
    /// Threads of each cell.
    pub threads: u32,
    /// Nonzero: as upstream does it: all threads draw the same numbers, and the slots are a block of the allocator.
    pub is_compat: u32,
    /// Every so many steps one call is timed; 0: none.
    pub sample: u32,
    /// Of 2^32 blocks so many are freed by the next thread.
    pub remote: u32,
    /// Bytes that [`Giver::Bump`] goes round in.
    pub bump: u64,
    /// Classes that are set.
    pub classes: u32,
    /// [`Source::Classes`].
    pub class: [Class; CLASSES],
}

const _: () = assert!(AT + size_of::<Order>() <= HEAD_BYTES);

impl Order {
    /// Where the order is, in memory that is shared.
    ///
    /// # Safety
    /// Written before a cell is started, and never after.
    pub unsafe fn of(shared: &Shared) -> *mut Order {
        core::ptr::from_ref(shared.head()).cast::<u8>().cast_mut().wrapping_add(AT).cast()
    }

    /// Bytes of the largest block that can be drawn.
    pub fn largest_block(&self) -> usize {
        if self.source == Source::Pareto as u32 {
            1usize.wrapping_shl(self.largest)
        } else if self.source == Source::Uniform as u32 {
            self.largest as usize
        } else {
            let classes = self.class.iter().take(self.classes as usize);
            classes.map(|class| class.largest as usize).max().unwrap_or(0)
        }
    }

    /// The access, if there is such a one.
    pub fn access(&self) -> Option<Access> {
        Access::ALL.get(self.access as usize).map(|(_, access)| *access)
    }
}

/// The phases, in their order. Before each of them, and after the last, all threads wait for truebench, which looks at their
/// memory.
pub const PHASES: [&str; 3] = ["setup", "steady", "exit"];

/// Where the numbers are among the notes of a thread's slot.
pub mod note {
    /// Told to the thread: its CPU, plus 1; 0: any.
    pub const CPU: usize = 0;
    /// Addresses of the functions of [`super::FUNCTIONS`], as the loader resolved them; 0: nobody defines it.
    pub const FUNCTIONS: usize = 1;
    /// How often the thread looked on which CPU it was, in the steady phase …
    pub const LOOKS: usize = 10;
    /// … and found itself on another than its own.
    pub const STRAYED: usize = 11;
    /// Bytes of the blocks that are live after setup, as they were asked for.
    pub const LIVE: usize = 12;
    /// The most in the steady phase.
    pub const PEAK: usize = 13;
    /// Of some of these blocks, bytes that the allocator has given (malloc_usable_size), `u64::MAX` if it does not tell …
    pub const USABLE: usize = 14;
    /// … and the bytes that were asked for.
    pub const USABLE_OF: usize = 18;
    /// Blocks that another thread freed.
    pub const REMOTE: usize = 15;
    /// Blocks that it should have freed, had its mailbox not been full.
    pub const REMOTE_FULL: usize = 16;
    /// The same as [`LIVE`] after the steady phase.
    pub const LIVE_END: usize = 19;
    /// What was read, added up.
    pub const SUM: usize = 17;
    /// The first phase; each has [`PHASE`] numbers.
    pub const PHASES: usize = 20;
    /// Numbers of a phase.
    pub const PHASE: usize = 14;
    /// Nanoseconds (CLOCK_MONOTONIC) in which steps were done.
    pub const WALL: usize = 0;
    /// Ticks of the time stamp counter.
    pub const TICKS: usize = 1;
    /// Cycles of the CPU in user code, `u64::MAX` where there is no counter.
    pub const CYCLES: usize = 2;
    /// Nanoseconds of CPU time.
    pub const CPU_TIME: usize = 3;
    /// Minor faults.
    pub const MINOR: usize = 4;
    /// Major faults.
    pub const MAJOR: usize = 5;
    /// Blocks allocated.
    pub const ALLOCATED: usize = 6;
    /// Blocks freed.
    pub const FREED: usize = 7;
    /// Begin and end of the phase (CLOCK_MONOTONIC).
    pub const BEGIN: usize = 8;
    /// The end.
    pub const END: usize = 9;
    /// Microseconds of CPU time in the kernel.
    pub const SYSTEM: usize = 10;
    /// Nanoseconds ready and without a CPU, `u64::MAX` where that is not known.
    pub const RUN_DELAY: usize = 11;
    /// Voluntary switches.
    pub const VOLUNTARY: usize = 12;
    /// Involuntary ones.
    pub const INVOLUNTARY: usize = 13;
    /// Histogram of sampled calls of malloc, then of free: see [`super::bucket`].
    pub const CALLS: usize = 64;
}

/// Functions of an allocator: who defines them is proved.
pub const FUNCTIONS: [&core::ffi::CStr; 9] = [
    c"malloc",
    c"free",
    c"calloc",
    c"realloc",
    c"posix_memalign",
    c"aligned_alloc",
    c"_Znwm",
    c"_ZdlPv",
    c"malloc_usable_size",
];

/// Buckets of each histogram: eight for each power of two from 16 ticks on.
pub const BUCKETS: usize = 192;

/// The bucket of so many ticks.
pub fn bucket(ticks: u64) -> usize {
    let ticks = ticks.max(16);
    let octave = ticks.ilog2();
    let within = (ticks >> octave.wrapping_sub(3)) & 7;
    let index = u64::from(octave.wrapping_sub(4)).wrapping_mul(8).wrapping_add(within);
    (index as usize).min(BUCKETS - 1)
}

/// The ticks that a bucket begins with.
pub fn ticks_of(bucket: usize) -> u64 {
    let (octave, within) = (bucket / 8 + 4, bucket % 8);
    (8 + within as u64) << (octave - 3)
}

const _: () = assert!(note::PHASES + PHASES.len() * note::PHASE <= note::CALLS);
const _: () = assert!(note::CALLS + 2 * BUCKETS <= crate::shared::NOTES);

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn buckets_hold_what_they_begin_with() {
        for index in 0..BUCKETS {
            assert_eq!(bucket(ticks_of(index)), index);
            assert_eq!(bucket(ticks_of(index + 1) - 1), index, "{index}");
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    }
}
