//! The live blocks of this process. Allocations and frees are added to the shared counters.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use shm::recording::{LARGEST, Recording, SHARDS, class_of};
use shm::sys;

use crate::lock::Lock;
use crate::table::{Inserted, Table, hash};

/// Calls per timed call.
const TIME_EVERY: u32 = 256;
/// Longest timed call, in nanoseconds: a longer one waited for a CPU, which is no cost of the recorder.
const LONGEST_CALL: u64 = 10_000;
/// Bits of the hash that choose a shard.
const SHARD_BITS: u32 = SHARDS.trailing_zeros();

#[repr(C, align(64))]
#[derive(Debug)]
struct Shard {
    lock: Lock,
    calls: AtomicU32,
    table: UnsafeCell<Table>,
}

/// The state of one process: zero at first, and again in the child after a fork.
#[repr(C)]
#[derive(Debug)]
pub struct ProcessState {
    shards: [Shard; SHARDS],
    /// Process ID, once the process is counted.
    process: AtomicI32,
}

// SAFETY: a table is accessed under the lock of its shard.
unsafe impl Sync for ProcessState {}

impl ProcessState {
    /// Maps it. `None`, with errno, before Linux 4.14.
    pub fn map() -> Option<&'static ProcessState> {
        // SAFETY: zeros are a valid state; it stays mapped.
        sys::fresh_wiped_on_fork(size_of::<ProcessState>()).map(|state| unsafe { &*state.cast() })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LiveBlocks {
    shared: Recording,
    state: &'static ProcessState,
}

impl LiveBlocks {
    /// Counts the process, if it is new.
    #[inline]
    pub fn new(shared: Recording, state: &'static ProcessState) -> LiveBlocks {
        let blocks = LiveBlocks { shared, state };
        if state.process.load(Relaxed) == 0 {
            blocks.count_process();
        }
        blocks
    }

    #[cold]
    fn count_process(&self) {
        if self.state.process.swap(sys::process(), Relaxed) == 0 {
            self.shared.head().processes.fetch_add(1, Relaxed);
        }
    }

    pub fn belongs_to(&self, process: libc::pid_t) -> bool {
        self.state.process.load(Relaxed) == process
    }

    pub fn allocated(&self, address: usize, size: usize, is_resized: bool) {
        let (now, size) = (sys::now(), size as u64);
        let class = class_of(size);
        self.with_table(address, now, |shard, table| match table.insert(address, class) {
            Inserted::NoMemory => {
                self.shared.head().lost.fetch_add(1, Relaxed);
            }
            inserted => {
                if let Inserted::Replaced(previous) = inserted {
                    self.shared.head().twice.fetch_add(1, Relaxed);
                    self.shared.counter(shard, previous).add_ended(1, now);
                }
                self.shared.counter(shard, class).add_allocation(size, now, is_resized);
            }
        });
        if size > LARGEST {
            self.shared.head().huge.fetch_add(1, Relaxed);
        }
    }

    pub fn freed(&self, address: usize) {
        let now = sys::now();
        let class = self.with_table(address, now, |shard, table| {
            let class = table.remove(address)?;
            self.shared.counter(shard, class).add_ended(1, now);
            Some(class)
        });
        if class.is_none() {
            self.shared.head().unknown.fetch_add(1, Relaxed);
        }
    }

    pub fn remove(&self, address: usize) -> Removed {
        let now = sys::now();
        let class = self.with_table(address, now, |_, table| table.remove(address));
        Removed { address, now, class }
    }

    pub fn confirm(&self, removed: Removed) {
        match removed.class {
            Some(class) => self.shared.counter(shard_of(removed.address), class).add_ended(1, removed.now),
            None => {
                self.shared.head().unknown.fetch_add(1, Relaxed);
            }
        }
    }

    pub fn restore(&self, removed: Removed) {
        if let Some(class) = removed.class {
            self.with_table(removed.address, removed.now, |_, table| table.insert(removed.address, class));
        }
    }

    /// At exit: counts all live blocks as ended, except those of a shard that another thread has locked for
    /// long.
    pub fn end_all(&self) {
        let (now, mut live) = (sys::now(), 0u64);
        for (index, shard) in self.state.shards.iter().enumerate() {
            if !shard.lock.lock_soon() {
                continue;
            }
            // SAFETY: this thread holds the lock.
            let table = unsafe { &mut *shard.table.get() };
            table.clear(|class| {
                self.shared.counter(index, class).add_ended(1, now);
                live = live.wrapping_add(1);
            });
            shard.lock.unlock();
        }
        self.shared.head().live_at_exit.fetch_add(live, Relaxed);
    }

    /// Calls `act` with the shard and table of an address, under the lock. Every [`TIME_EVERY`]th call is
    /// timed, from `now` on.
    #[inline]
    fn with_table<T>(&self, address: usize, now: u64, act: impl FnOnce(usize, &mut Table) -> T) -> T {
        let index = shard_of(address);
        // SAFETY: below the number of shards.
        let shard = unsafe { self.state.shards.get_unchecked(index) };
        shard.lock.lock();
        // SAFETY: this thread holds the lock.
        let table = unsafe { &mut *shard.table.get() };
        table.set_used_bits(SHARD_BITS);
        let result = act(index, table);
        let calls = shard.calls.load(Relaxed).wrapping_add(1);
        shard.calls.store(calls, Relaxed);
        shard.lock.unlock();
        if calls % TIME_EVERY == 0 {
            self.count_time(sys::now().wrapping_sub(now));
        }
        result
    }

    #[cold]
    fn count_time(&self, nanoseconds: u64) {
        if nanoseconds < LONGEST_CALL {
            self.shared.head().cost.fetch_add(nanoseconds, Relaxed);
            self.shared.head().timed.fetch_add(1, Relaxed);
        }
    }
}

#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    address: usize,
    now: u64,
    class: Option<usize>,
}

fn shard_of(address: usize) -> usize {
    (hash(address) >> (64 - SHARD_BITS)) as usize
}

#[cfg(test)]
mod unit {
    use shm::recording::{BYTES, CLASSES};

    use super::*;

    fn live_blocks() -> LiveBlocks {
        // SAFETY: a name.
        let file = unsafe { libc::memfd_create(c"unit".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: a file of this test.
        assert_eq!(unsafe { libc::ftruncate(file, BYTES as libc::off_t) }, 0);
        LiveBlocks::new(Recording::map(file).expect("memory"), ProcessState::map().expect("Linux 4.14"))
    }

    /// Blocks allocated and ended, of the class of this size.
    fn counts(blocks: &LiveBlocks, size: u64) -> (u64, u64) {
        let counters = (0..SHARDS).map(|shard| blocks.shared.counter(shard, class_of(size)));
        counters.fold((0, 0), |(allocated, ended), counter| {
            (allocated + counter.allocated.load(Relaxed), ended + counter.ended.load(Relaxed))
        })
    }

    #[test]
    fn each_block_is_counted_once() {
        let blocks = live_blocks();
        for block in 1..=1000 {
            blocks.allocated(block * 4096, 40, false);
        }
        for block in 1..=400 {
            blocks.freed(block * 4096);
        }
        assert_eq!(counts(&blocks, 40), (1000, 400));
        // A realloc that fails, and one that moves.
        blocks.restore(blocks.remove(500 * 4096));
        assert_eq!(counts(&blocks, 40), (1000, 400));
        blocks.confirm(blocks.remove(500 * 4096));
        blocks.allocated(500 * 4096 + 16, 5000, true);
        assert_eq!((counts(&blocks, 40), counts(&blocks, 5000)), ((1000, 401), (1, 0)));
        // A block that was never allocated, and one that was allocated twice.
        blocks.freed(17);
        blocks.allocated(500 * 4096 + 16, 40, false);
        let head = blocks.shared.head();
        assert_eq!((head.unknown.load(Relaxed), head.twice.load(Relaxed)), (1, 1));
        assert_eq!((counts(&blocks, 40), counts(&blocks, 5000)), ((1001, 401), (1, 1)));
        // Exit.
        blocks.end_all();
        assert_eq!((counts(&blocks, 40), head.live_at_exit.load(Relaxed)), ((1001, 1001), 600));
        assert_eq!(head.processes.load(Relaxed), 1);
    }

    #[test]
    fn threads_do_not_disturb_one_another() {
        let blocks = live_blocks();
        std::thread::scope(|scope| {
            for thread in 1..=4usize {
                scope.spawn(move || {
                    for round in 0..20_000 {
                        let address = thread << 32 | (round % 100) << 4;
                        blocks.allocated(address, 100 * thread, false);
                        blocks.freed(address);
                    }
                });
            }
        });
        for size in [100, 200, 300, 400] {
            assert_eq!(counts(&blocks, size), (20_000, 20_000));
        }
        let lifetimes: u64 = (0..CLASSES)
            .flat_map(|class| (0..SHARDS).map(move |shard| (shard, class)))
            .map(|(shard, class)| blocks.shared.counter(shard, class).span.load(Relaxed) as i64)
            .map(|span| u64::try_from(span).expect("no lifetime is negative"))
            .sum();
        let head = blocks.shared.head();
        assert!(lifetimes > 0 && head.timed.load(Relaxed) > 0 && head.cost.load(Relaxed) > 0);
    }
}
