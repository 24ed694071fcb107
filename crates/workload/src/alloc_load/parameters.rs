//! The parameters of the load, and where its results are in shared memory.

use super::access::Access;
use crate::shared::{HEAD_BYTES, Shared};

pub const CLASSES: usize = 128;
/// Offset of the parameters in the head of the shared memory, in bytes.
const OFFSET: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Distribution {
    /// alloc-test: Pareto distribution of slots, size classes of which each is half as frequent as the one
    /// before.
    Pareto = 0,
    Uniform = 1,
    /// Classes of a histogram, each with its own slots.
    Classes = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockSource {
    Real = 0,
    /// No allocator: one block for all.
    Void = 1,
    /// No allocator: each block after the one before, in a ring.
    Bump = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StepMode {
    /// Each step is drawn and executed.
    Direct = 0,
    /// A window of steps is drawn, then executed. Only the execution is timed.
    Replay = 1,
}

/// One class of a histogram: a range of sizes, a probability, and its own slots. By Little's law a class
/// with blocks that live for L allocations needs `2 x probability x L` slots, of which half are full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Class {
    /// Random numbers of 32 bits below this, and not below that of the class before, choose this class.
    pub below: u32,
    /// Smallest and largest block, in bytes.
    pub smallest: u32,
    pub largest: u32,
    pub slots: u32,
}

/// The parameters, the same for each thread of each process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Parameters {
    /// Steps of the steady phase, of each thread. A step allocates or frees.
    pub steps: u64,
    pub seed: u64,
    pub distribution: u32,
    pub block_source: u32,
    pub step_mode: u32,
    /// An index into [`Access::ALL`].
    pub access: u32,
    /// Largest block: for [`Distribution::Pareto`] the exponent of 2, for [`Distribution::Uniform`] bytes.
    pub largest: u32,
    /// Slots of each thread.
    pub slots: u32,
    /// Threads of each process.
    pub threads: u32,
    /// Nonzero for upstream's behaviour: all threads draw the same numbers, and the allocator allocates the
    /// array of slots.
    pub is_compat: u32,
    /// Steps per timed call; 0 to time none.
    pub sample_every: u32,
    /// Blocks of 2^32 that the next thread frees.
    pub remote: u32,
    /// Bytes of the ring of [`BlockSource::Bump`].
    pub bump_bytes: u64,
    /// Used entries of `classes`.
    pub class_count: u32,
    pub classes: [Class; CLASSES],
}

const _: () = assert!(OFFSET + size_of::<Parameters>() <= HEAD_BYTES);

impl Parameters {
    /// The parameters in shared memory.
    ///
    /// # Safety
    /// They are written before a process is started, and never after.
    pub unsafe fn in_memory(shared: &Shared) -> *mut Parameters {
        core::ptr::from_ref(shared.head()).cast::<u8>().cast_mut().wrapping_add(OFFSET).cast()
    }

    /// Bytes of the largest block that can be drawn.
    pub fn largest_block(&self) -> usize {
        if self.distribution == Distribution::Pareto as u32 {
            1usize.wrapping_shl(self.largest)
        } else if self.distribution == Distribution::Uniform as u32 {
            self.largest as usize
        } else {
            let classes = self.classes.iter().take(self.class_count as usize);
            classes.map(|class| class.largest as usize).max().unwrap_or(0)
        }
    }

    pub fn access(&self) -> Option<Access> {
        Access::ALL.get(self.access as usize).map(|(_, access)| *access)
    }
}

/// The phases in their order. Before each phase and after the last, all threads wait while truebench reads
/// their memory.
pub const PHASES: [&str; 3] = ["setup", "steady", "exit"];

pub mod fields {
    /// Input: the CPU of the thread, plus 1; 0 for any.
    pub const CPU: usize = 0;
    /// Addresses of [`super::FUNCTIONS`], as the loader resolved them; 0 for a function that no library
    /// defines.
    pub const FUNCTIONS: usize = 1;
    /// Samples of the thread's CPU in the steady phase.
    pub const CPU_SAMPLES: usize = 10;
    /// Samples on another CPU than its own.
    pub const OFF_PLACE: usize = 11;
    /// Requested bytes of the blocks that are live after setup.
    pub const LIVE: usize = 12;
    /// Peak of the requested live bytes in the steady phase.
    pub const PEAK: usize = 13;
    /// Usable bytes of a part of these blocks (malloc_usable_size); `u64::MAX` if the allocator does not
    /// define it.
    pub const USABLE: usize = 14;
    /// Requested bytes of the same blocks.
    pub const USABLE_REQUESTED: usize = 18;
    /// Blocks that another thread freed.
    pub const REMOTE: usize = 15;
    /// Blocks that another thread did not free, because its mailbox was full.
    pub const REMOTE_FULL: usize = 16;
    /// As [`LIVE`], after the steady phase.
    pub const LIVE_END: usize = 19;
    pub const SUM: usize = 17;
    /// First field of the first phase; each phase has [`PHASE`] fields.
    pub const PHASES: usize = 20;
    /// Fields of a phase. The fields below are offsets in it.
    pub const PHASE: usize = 14;
    /// Nanoseconds of CLOCK_MONOTONIC in which steps were executed.
    pub const WALL: usize = 0;
    /// Ticks of the time stamp counter.
    pub const TICKS: usize = 1;
    /// CPU cycles in user code; `u64::MAX` without a counter.
    pub const CYCLES: usize = 2;
    /// Nanoseconds of CPU time.
    pub const CPU_TIME: usize = 3;
    pub const MINOR: usize = 4;
    pub const MAJOR: usize = 5;
    pub const ALLOCATED: usize = 6;
    pub const FREED: usize = 7;
    /// Begin of the phase, in nanoseconds of CLOCK_MONOTONIC.
    pub const BEGIN: usize = 8;
    pub const END: usize = 9;
    /// Microseconds of CPU time in the kernel.
    pub const SYSTEM: usize = 10;
    /// Nanoseconds on a run queue; `u64::MAX` if unknown.
    pub const RUN_DELAY: usize = 11;
    pub const VOLUNTARY: usize = 12;
    pub const INVOLUNTARY: usize = 13;
    /// Histograms of the durations of timed calls: malloc, then free. See [`super::bucket`].
    pub const CALLS: usize = 64;
}

/// Functions of an allocator. Their addresses prove which library serves.
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

/// Buckets of a histogram: eight for each power of two, from 16 ticks on.
pub const BUCKETS: usize = 192;

pub fn bucket(ticks: u64) -> usize {
    let ticks = ticks.max(16);
    let octave = ticks.ilog2();
    let within = (ticks >> octave.wrapping_sub(3)) & 7;
    let index = u64::from(octave.wrapping_sub(4)).wrapping_mul(8).wrapping_add(within);
    (index as usize).min(BUCKETS - 1)
}

pub fn lowest_ticks(bucket: usize) -> u64 {
    let (octave, within) = (bucket / 8 + 4, bucket % 8);
    (8 + within as u64) << (octave - 3)
}

const _: () = assert!(fields::PHASES + PHASES.len() * fields::PHASE <= fields::CALLS);
const _: () = assert!(fields::CALLS + 2 * BUCKETS <= crate::shared::FIELDS);

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn buckets_leave_no_gap() {
        for index in 0..BUCKETS {
            assert_eq!(bucket(lowest_ticks(index)), index);
            assert_eq!(bucket(lowest_ticks(index + 1) - 1), index, "{index}");
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
    }
}
