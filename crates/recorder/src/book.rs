//! Births and ends of blocks: what lives is remembered for this process, what was is added to the shared counters.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use shm::recording::{LARGEST, Recording, SHARDS, class_of};
use shm::sys;

use crate::lock::Lock;
use crate::table::{Inserted, Table, hash};

/// Of so many calls one is timed.
const TIMED: u32 = 256;
/// Nanoseconds of a timed call at most: what took longer waited for a CPU, and that is not our cost.
const MOST: u64 = 10_000;
/// Bits of the hash that choose a shard.
const BITS: u32 = SHARDS.trailing_zeros();

/// Some of the blocks that live.
#[repr(C, align(64))]
#[derive(Debug)]
struct Shard {
    lock: Lock,
    /// Calls so far.
    calls: AtomicU32,
    table: UnsafeCell<Table>,
}

/// What belongs to one process: all of it zero at first, and again in the child after a fork.
#[repr(C)]
#[derive(Debug)]
pub struct Own {
    shards: [Shard; SHARDS],
    /// The process, once it is counted.
    process: AtomicI32,
}

// SAFETY: a table is reached by whoever has the lock of its shard.
unsafe impl Sync for Own {}

impl Own {
    /// Maps it. `None`, with errno, where the system cannot (MADV_WIPEONFORK came with Linux 4.14).
    pub fn map() -> Option<&'static Own> {
        let own = sys::fresh(size_of::<Own>())?;
        // SAFETY: just mapped, of this size.
        let is_wiped = unsafe { libc::madvise(own.cast(), size_of::<Own>(), libc::MADV_WIPEONFORK) } == 0;
        // SAFETY: zeros are a valid one; it stays for the rest of the process.
        is_wiped.then(|| unsafe { &*own.cast::<Own>() })
    }
}

/// Both kinds of memory.
#[derive(Clone, Copy, Debug)]
pub struct Book {
    shared: Recording,
    own: &'static Own,
}

impl Book {
    /// Of these two. Counts the process, if it is new.
    #[inline]
    pub fn new(shared: Recording, own: &'static Own) -> Book {
        let book = Book { shared, own };
        if own.process.load(Relaxed) == 0 {
            book.count();
        }
        book
    }

    #[cold]
    fn count(&self) {
        if self.own.process.swap(sys::process(), Relaxed) == 0 {
            self.shared.head().processes.fetch_add(1, Relaxed);
        }
    }

    /// Whether it is the book of this process.
    pub fn is_of(&self, process: libc::pid_t) -> bool {
        self.own.process.load(Relaxed) == process
    }

    /// A block came to be.
    pub fn born(&self, address: usize, size: usize, is_resized: bool) {
        let (now, size) = (sys::now(), size as u64);
        let class = class_of(size);
        self.at(address, now, |shard, table| match table.insert(address, class) {
            Inserted::Lost => {
                self.shared.head().lost.fetch_add(1, Relaxed);
            }
            inserted => {
                if let Inserted::Twice(before) = inserted {
                    self.shared.head().twice.fetch_add(1, Relaxed);
                    self.shared.counter(shard, before).ended(1, now);
                }
                self.shared.counter(shard, class).born(size, now, is_resized);
            }
        });
        if size > LARGEST {
            self.shared.head().huge.fetch_add(1, Relaxed);
        }
    }

    /// A block is about to end: afterwards its address may be another's at once.
    pub fn ended(&self, address: usize) {
        let now = sys::now();
        let class = self.at(address, now, |shard, table| {
            let class = table.remove(address)?;
            self.shared.counter(shard, class).ended(1, now);
            Some(class)
        });
        if class.is_none() {
            self.shared.head().unknown.fetch_add(1, Relaxed);
        }
    }

    /// A block may be about to end: it is forgotten, and nothing counted yet.
    pub fn taken(&self, address: usize) -> Taken {
        let now = sys::now();
        let class = self.at(address, now, |_, table| table.remove(address));
        Taken { address, now, class }
    }

    /// It did end.
    pub fn confirm(&self, taken: Taken) {
        match taken.class {
            Some(class) => self.shared.counter(shard_of(taken.address), class).ended(1, taken.now),
            None => {
                self.shared.head().unknown.fetch_add(1, Relaxed);
            }
        }
    }

    /// It did not.
    pub fn restore(&self, taken: Taken) {
        if let Some(class) = taken.class {
            self.at(taken.address, taken.now, |_, table| table.insert(taken.address, class));
        }
    }

    /// The process ends, and with it all that still lives. What another thread holds for long is left out.
    pub fn settle(&self) {
        let (now, mut kept) = (sys::now(), 0u64);
        for (index, shard) in self.own.shards.iter().enumerate() {
            if !shard.lock.take_soon() {
                continue;
            }
            // SAFETY: the lock is ours.
            let table = unsafe { &mut *shard.table.get() };
            table.clear(|class| {
                self.shared.counter(index, class).ended(1, now);
                kept = kept.wrapping_add(1);
            });
            shard.lock.open();
        }
        self.shared.head().live_at_exit.fetch_add(kept, Relaxed);
    }

    /// Does something with the table that an address belongs to; times it now and then, from `now` on.
    #[inline]
    fn at<T>(&self, address: usize, now: u64, act: impl FnOnce(usize, &mut Table) -> T) -> T {
        let index = shard_of(address);
        // SAFETY: below the number of shards.
        let shard = unsafe { self.own.shards.get_unchecked(index) };
        shard.lock.take();
        // SAFETY: the lock is ours.
        let table = unsafe { &mut *shard.table.get() };
        table.spend(BITS);
        let result = act(index, table);
        let calls = shard.calls.load(Relaxed).wrapping_add(1);
        shard.calls.store(calls, Relaxed);
        shard.lock.open();
        if calls % TIMED == 0 {
            self.time(sys::now().wrapping_sub(now));
        }
        result
    }

    #[cold]
    fn time(&self, nanoseconds: u64) {
        if nanoseconds < MOST {
            self.shared.head().cost.fetch_add(nanoseconds, Relaxed);
            self.shared.head().timed.fetch_add(1, Relaxed);
        }
    }
}

/// A block of which it is open whether it ended.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    address: usize,
    now: u64,
    class: Option<usize>,
}

fn shard_of(address: usize) -> usize {
    (hash(address) >> (64 - BITS)) as usize
}

#[cfg(test)]
mod unit {
    use shm::recording::{BYTES, CLASSES};

    use super::*;

    fn book() -> Book {
        // SAFETY: a name.
        let file = unsafe { libc::memfd_create(c"unit".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: ours.
        assert_eq!(unsafe { libc::ftruncate(file, BYTES as libc::off_t) }, 0);
        Book::new(Recording::map(file).expect("memory"), Own::map().expect("Linux 4.14"))
    }

    /// Blocks allocated and ended, of this size's class.
    fn counts(book: &Book, size: u64) -> (u64, u64) {
        let counters = (0..SHARDS).map(|shard| book.shared.counter(shard, class_of(size)));
        counters.fold((0, 0), |(allocated, ended), counter| {
            (allocated + counter.allocated.load(Relaxed), ended + counter.ended.load(Relaxed))
        })
    }

    #[test]
    fn each_block_is_counted_once() {
        let book = book();
        for block in 1..=1000 {
            book.born(block * 4096, 40, false);
        }
        for block in 1..=400 {
            book.ended(block * 4096);
        }
        assert_eq!(counts(&book, 40), (1000, 400));
        // A realloc that fails, and one that moves.
        book.restore(book.taken(500 * 4096));
        assert_eq!(counts(&book, 40), (1000, 400));
        book.confirm(book.taken(500 * 4096));
        book.born(500 * 4096 + 16, 5000, true);
        assert_eq!((counts(&book, 40), counts(&book, 5000)), ((1000, 401), (1, 0)));
        // What was never born, and what was born twice.
        book.ended(17);
        book.born(500 * 4096 + 16, 40, false);
        let head = book.shared.head();
        assert_eq!((head.unknown.load(Relaxed), head.twice.load(Relaxed)), (1, 1));
        assert_eq!((counts(&book, 40), counts(&book, 5000)), ((1001, 401), (1, 1)));
        // The end of all.
        book.settle();
        assert_eq!((counts(&book, 40), head.live_at_exit.load(Relaxed)), ((1001, 1001), 600));
        assert_eq!(head.processes.load(Relaxed), 1);
    }

    #[test]
    fn threads_do_not_disturb_one_another() {
        let book = book();
        std::thread::scope(|scope| {
            for thread in 1..=4usize {
                scope.spawn(move || {
                    for round in 0..20_000 {
                        let address = thread << 32 | (round % 100) << 4;
                        book.born(address, 100 * thread, false);
                        book.ended(address);
                    }
                });
            }
        });
        for size in [100, 200, 300, 400] {
            assert_eq!(counts(&book, size), (20_000, 20_000));
        }
        let all: u64 = (0..CLASSES)
            .flat_map(|class| (0..SHARDS).map(move |shard| (shard, class)))
            .map(|(shard, class)| book.shared.counter(shard, class).span.load(Relaxed) as i64)
            .map(|span| u64::try_from(span).expect("no life is negative"))
            .sum();
        let head = book.shared.head();
        assert!(all > 0 && head.timed.load(Relaxed) > 0 && head.cost.load(Relaxed) > 0);
    }
}
