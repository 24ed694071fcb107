//! Counters of the blocks that a program allocates, by size, with their lifetimes. All processes of the
//! program add to the same memory, so the counts of a process that is killed are not lost.
//!
//! A counter has no list of lifetimes: each allocation subtracts the time from [`Counter::span`], each free
//! adds it. So with `live` blocks at the time `t`, `span + live x t` is the sum of all lifetimes up to then.
//! It is computed modulo 2^64.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::Memory;

/// The environment variable that holds the path of the memory.
pub const VARIABLE: &str = "TRUEBENCH_RECORDING";
pub const LIBRARY: &str = "libtruebench_recorder.so";
/// Size classes. See [`class_of`].
pub const CLASSES: usize = 116;
/// Counters of each class. The address of a block chooses one, so that threads seldom share a counter.
pub const SHARDS: usize = 64;
/// The largest size of a class, in bytes. Larger blocks count as of this size.
pub const LARGEST: u64 = 1 << 31;
/// First word of the memory once it is set up. Its last byte is the version of the format.
pub const MAGIC: u64 = u64::from_be_bytes(*b"trueben\x01");

const HEAD_BYTES: usize = 4096;
pub const BYTES: usize = HEAD_BYTES + SHARDS * CLASSES * size_of::<Counter>();

const _: () = assert!(size_of::<Head>() <= HEAD_BYTES);

#[repr(C)]
#[derive(Debug)]
pub struct Head {
    pub magic: AtomicU64,
    /// Processes that recorded: executed programs, and forked children that called malloc or free.
    pub processes: AtomicU64,
    /// Blocks that were freed without a recorded allocation: from before the recorder was loaded, or from
    /// before a fork.
    pub unknown: AtomicU64,
    /// Addresses that were allocated twice without a recorded free.
    pub twice: AtomicU64,
    pub live_at_exit: AtomicU64,
    /// Blocks that were not counted, because the recorder had no memory for them.
    pub lost: AtomicU64,
    pub huge: AtomicU64,
    /// Nanoseconds that the recorder took for the timed calls.
    pub cost: AtomicU64,
    pub timed: AtomicU64,
    /// errno of a process that could not record; 0 for none.
    pub refused: AtomicU64,
}

/// The blocks of one class, in one shard.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Counter {
    pub allocated: AtomicU64,
    pub resized: AtomicU64,
    /// Blocks that ended: freed, moved by realloc, or live when their process called exit.
    pub ended: AtomicU64,
    /// Requested bytes.
    pub bytes: AtomicU64,
    /// Nanoseconds: see the module.
    pub span: AtomicU64,
    /// Bitwise complement of the smallest size, so that zero means no size.
    pub smallest: AtomicU64,
    pub largest: AtomicU64,
}

impl Counter {
    pub fn add_allocation(&self, size: u64, now: u64, is_resized: bool) {
        self.allocated.fetch_add(1, Relaxed);
        self.span.fetch_sub(now, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        if is_resized {
            self.resized.fetch_add(1, Relaxed);
        }
        // A load is cheap, and after the first blocks nothing else is needed.
        if self.smallest.load(Relaxed) < !size {
            self.smallest.fetch_max(!size, Relaxed);
        }
        if self.largest.load(Relaxed) < size {
            self.largest.fetch_max(size, Relaxed);
        }
    }

    pub fn add_ended(&self, blocks: u64, now: u64) {
        self.ended.fetch_add(blocks, Relaxed);
        self.span.fetch_add(now.wrapping_mul(blocks), Relaxed);
    }
}

/// The class of blocks of this size: steps of 8 bytes to 128, of 16 to 256, then four for each doubling.
pub fn class_of(size: u64) -> usize {
    let last = size.clamp(1, LARGEST).wrapping_sub(1);
    match last {
        0..128 => (last / 8) as usize,
        128..256 => (8 + last / 16) as usize,
        _ => {
            let doubling = u64::from(last.ilog2());
            let quarter = (last >> doubling.wrapping_sub(2)) & 3;
            (24 + doubling.wrapping_sub(8).wrapping_mul(4).wrapping_add(quarter)) as usize
        }
    }
}

pub type Recording = Memory<Head, BYTES>;

impl Recording {
    /// The counter of a class in a shard. An index that is too large means the last.
    pub fn counter(&self, shard: usize, class: usize) -> &'static Counter {
        let at = shard.min(SHARDS - 1) * CLASSES + class.min(CLASSES - 1);
        // SAFETY: inside the mapping, by the line above; all fields are atomic.
        unsafe { &*self.base().add(HEAD_BYTES).cast::<Counter>().add(at) }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn classes_are_in_order_and_none_is_empty() {
        let sizes = (1..=4096).chain((12..31).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]));
        let mut before = 0;
        for size in sizes.chain([LARGEST - 1, LARGEST]) {
            let class = class_of(size);
            assert!(class >= before && class < CLASSES, "{size}: {class} after {before}");
            before = class;
        }
        assert_eq!((class_of(0), class_of(1), class_of(8), class_of(9)), (0, 0, 0, 1));
        assert_eq!((class_of(128), class_of(129), class_of(256), class_of(257)), (15, 16, 23, 24));
        assert_eq!((class_of(320), class_of(321), class_of(512), class_of(513)), (24, 25, 27, 28));
        assert_eq!((class_of(LARGEST), class_of(u64::MAX)), (CLASSES - 1, CLASSES - 1));
        let all: std::collections::BTreeSet<usize> = (0..31)
            .flat_map(|bit| (0..256).map(move |part| class_of((1 << bit) + (part << bit) / 256)))
            .collect();
        assert_eq!(all.len(), CLASSES);
    }

    #[test]
    fn lifetimes_add_up() {
        let counter = Counter::default();
        counter.add_allocation(40, u64::MAX - 5, false);
        counter.add_allocation(48, u64::MAX - 3, true);
        counter.add_allocation(33, 2, false);
        // The first lives to 10, the second to 20 (the clock wraps).
        counter.add_ended(1, 10);
        counter.add_ended(1, 20);
        // One is live at 100.
        let lifetimes = counter.span.load(Relaxed).wrapping_add(100);
        assert_eq!(lifetimes, 16 + 24 + 98);
        assert_eq!((!counter.smallest.load(Relaxed), counter.largest.load(Relaxed)), (33, 48));
        assert_eq!((counter.allocated.load(Relaxed), counter.resized.load(Relaxed)), (3, 1));
        assert_eq!((counter.ended.load(Relaxed), counter.bytes.load(Relaxed)), (2, 121));
    }
}
