//! The shapes: each a way to fault. A new one is an entry here.
//!
//! The descriptions are a list of their own: the binary needs none of them, and each text in it would be one
//! more relocation for the dynamic linker at each exec that is measured.

use super::blocks::{Blocks, Touch};
use super::failure::Failure;
use super::pace::Pace;
use super::pages::{self, After};
use super::{file, kernel, numa, processes, trim, userfault};

/// A program that faults in one way.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub name: &'static str,
    pub work: Work,
    /// Default iterations: some seconds.
    pub pace: Pace,
}

#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo {
    pub name: &'static str,
    /// What it does and why that matters: one sentence without its full stop.
    pub about: &'static str,
    /// Name of the mechanism by which it faults with the GNU C library at its defaults.
    pub mechanism: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Blocks(Blocks),
    /// Maps memory: bytes, and whether of huge pages.
    Mapping(usize, After, bool),
    /// Writes to this many bytes that a forked child shares.
    Fork(usize),
    Stacks,
    /// Frees most of many small blocks; whether it calls malloc_trim then.
    Small(bool),
    /// Maps a file: bytes, and whether it is dropped from the page cache.
    File(usize, bool),
    /// Maps a file of so many bytes privately and writes to it.
    FileCopy(usize),
    /// Reads fresh memory before it writes to it.
    ReadFirst(usize),
    Swap(usize),
    Merge(usize),
    /// Uses memory from two NUMA nodes in turn.
    Balance(usize),
    Userfault(usize),
    /// Forks children that touch so many bytes of shared memory.
    Share(usize),
    /// Starts programs.
    Start,
}

impl Work {
    /// Runs the iterations.
    pub fn run(&self, pace: Pace) -> Result<(), Failure> {
        match *self {
            Work::Blocks(blocks) => blocks.run(pace),
            Work::Mapping(bytes, after, huge) => pages::mappings(pace, bytes, after, huge),
            Work::Fork(bytes) => pages::fork(pace, bytes),
            Work::Stacks => pages::stacks(pace),
            Work::Small(trims) => trim::run(pace, trims),
            Work::File(bytes, is_dropped) => file::run(pace, bytes, is_dropped),
            Work::FileCopy(bytes) => file::copy(pace, bytes),
            Work::ReadFirst(bytes) => kernel::read_then_write(pace, bytes),
            Work::Swap(bytes) => kernel::swap(pace, bytes),
            Work::Merge(bytes) => kernel::merge(pace, bytes),
            Work::Balance(bytes) => numa::balance(pace, bytes),
            Work::Userfault(bytes) => userfault::run(pace, bytes),
            Work::Share(bytes) => processes::share(pace, bytes),
            Work::Start => processes::start(pace),
        }
    }
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// One block above the thresholds of the GNU C library, which are frozen.
const FROZEN: Blocks = Blocks { frozen: true, ..Blocks::new(1, 2 * MIB) };

macro_rules! shapes {
    ($($name:literal, by $mechanism:literal, $about:literal: $pace:expr, $work:expr;)*) => {
        pub const SHAPES: &[Shape] = &[$(Shape { name: $name, work: $work, pace: $pace },)*];
        /// Their descriptions, in the same order.
        pub const SHAPE_INFO: &[ShapeInfo] = &[$(ShapeInfo { name: $name, about: $about, mechanism: $mechanism },)*];
    };
}
shapes! {
    "server", by "map-churn",
    "2000 requests a second; each takes 2 MB, touches 6 pages, and frees it; the thresholds were frozen by \
     mallopt(M_TOP_PAD)":
    Pace::rate(2000, 10), Work::Blocks(Blocks { size: 2_000_000, touch: Touch::Few(6), compute: 20_000, ..FROZEN });

    "one-block", by "growth",
    "takes and frees one block of 2 MiB: the thresholds adapt, and it faults twice and never again":
    Pace::work(20_000), Work::Blocks(Blocks::new(1, 2 * MIB));

    "two-blocks", by "heap-trim",
    "takes and frees two blocks of 2 MiB: more than the threshold of the trim, which adapted to one of them":
    Pace::work(5000), Work::Blocks(Blocks::new(2, 2 * MIB));

    "three-blocks", by "heap-trim",
    "takes and frees three blocks of 2 MiB: at the second of the three frees the end of the heap is given back":
    Pace::work(4000), Work::Blocks(Blocks::new(3, 2 * MIB));

    "eight-blocks", by "heap-trim",
    "takes and frees eight blocks of 2 MiB: with every second free the end of the heap is given back":
    Pace::work(1000), Work::Blocks(Blocks::new(8, 2 * MIB));

    "below-32m", by "growth",
    "takes and frees one block of 33.5 MB, just below the largest that the thresholds adapt to (32 MiB)":
    Pace::work(2000), Work::Blocks(Blocks::new(1, 33_500_000));

    "at-32m", by "map-churn",
    "takes and frees one block of 32 MiB, which with its header is above the largest that the thresholds adapt to":
    Pace::work(400), Work::Blocks(Blocks::new(1, 32 * MIB));

    "huge-block", by "map-churn",
    "takes and frees one block of 40 MiB, above the largest that the thresholds adapt to (32 MiB)":
    Pace::work(400), Work::Blocks(Blocks::new(1, 40 * MIB));

    "thread-arena", by "arena-trim",
    "takes and frees three blocks of 2 MiB in a thread; its arena gives pages back by madvise: no mmap, no munmap, no \
     brk":
    Pace::work(2000), Work::Blocks(Blocks { thread: true, ..Blocks::new(3, 2 * MIB) });

    "thread-huge", by "map-churn",
    "takes and frees one block of 70 MB in a thread: more than an arena of a thread can hold, so no threshold keeps it from \
     being mapped":
    Pace::work(200), Work::Blocks(Blocks { thread: true, ..Blocks::new(1, 70_000_000) });

    "frozen-threshold", by "map-churn",
    "takes and frees one block of 2 MiB after mallopt(M_TOP_PAD, 64 KiB), which froze the thresholds at 128 KiB":
    Pace::work(5000), Work::Blocks(FROZEN);

    "calloc", by "map-churn",
    "takes 40 MiB zeroed and touches one page of 128: what keeps the block mapped makes calloc zero all of it each time, \
     which costs more than the faults":
    Pace::work(5000), Work::Blocks(Blocks { touch: Touch::OneOf(128), zeroed: true, ..Blocks::new(1, 40 * MIB) });

    "growth", by "growth",
    "takes 64 KiB after 64 KiB and keeps all: memory is touched once, and no setting of an allocator helps":
    Pace::rate(400, 10), Work::Blocks(Blocks { leaked: true, ..Blocks::new(1, 64 * KIB) });

    "fork", by "copy-on-write",
    "writes to 8 MiB while a forked child has a picture of them, which copies each page":
    Pace::work(1000), Work::Fork(8 * MIB);

    "malloc-trim", by "malloc-trim",
    "takes 8 MB in small blocks, frees nearly all, and calls malloc_trim(0): free pages within the heap are given back, too":
    Pace::work(1000), Work::Small(true);

    "small-blocks", by "growth",
    "takes 8 MB in small blocks and frees nearly all, again and again: the heap stays, and is touched once":
    Pace::work(20_000), Work::Small(false);

    "stacks", by "stacks",
    "starts a thread for each iteration, which uses 256 KiB of its stack and ends":
    Pace::work(20_000), Work::Stacks;

    "file", by "file",
    "maps a file of 16 MiB that is in the page cache, reads it, and unmaps it: minor faults of 16 pages each":
    Pace::work(2000), Work::File(16 * MIB, false);

    "file-dropped", by "file",
    "maps a file of 1 MiB that was dropped from the page cache, and reads it page by page: major faults, which wait for the disk":
    Pace::rate(10, 10), Work::File(MIB, true);

    "purge", by "purge",
    "touches 2 MiB and gives the pages back by madvise, as allocators with a purge and garbage collectors do":
    Pace::work(5000), Work::Mapping(2 * MIB, After::Purge, false);

    "map-churn", by "map-churn",
    "maps 2 MiB, touches them, and unmaps them, by system calls of its own that no setting of an allocator reaches":
    Pace::work(5000), Work::Mapping(2 * MIB, After::Unmap, false);

    "thp", by "huge-pages",
    "maps 32 MiB of huge pages (madvise), touches them, and unmaps them: few faults, and each zeroes a huge page":
    Pace::work(1000), Work::Mapping(32 * MIB, After::Unmap, true);

    "file-copy", by "file-copy",
    "maps a file of 16 MiB privately and writes to each page, which the kernel copies; a shared mapping, or a read, copies none":
    Pace::work(500), Work::FileCopy(16 * MIB);

    "zero-page", by "zero-page",
    "maps 1 MiB after 1 MiB, reads each page and then writes it: two faults a page, the second of which copies zeros":
    Pace::rate(100, 10), Work::ReadFirst(MIB);

    "swap", by "reclaim",
    "writes to 16 MiB that the kernel then swaps out (MADV_PAGEOUT), as where memory is short":
    Pace::work(100), Work::Swap(16 * MIB);

    "ksm", by "ksm",
    "fills 8 MiB with equal pages, waits until KSM has merged them, and writes to each, which copies it":
    Pace::work(10), Work::Merge(8 * MIB);

    "numa", by "numa-hinting",
    "uses 32 MiB from the CPUs of two NUMA nodes in turn, whose pages the kernel takes away to see who uses them (NUMA balancing)":
    Pace::work(10), Work::Balance(32 * MIB);

    "userfaultfd", by "userfaultfd",
    "touches 2 MiB whose pages a thread of the program provides one by one, as live migration and snapshots do":
    Pace::work(500), Work::Userfault(2 * MIB);

    "shared-memory", by "shared-map",
    "forks a process for each iteration, which touches 8 MiB of shared memory that are there, as a database's connections do":
    Pace::work(1000), Work::Share(8 * MIB);

    "start-up", by "start-up",
    "starts a program for each iteration, which ends at once: its loader and libraries are all that faults":
    Pace::work(3000), Work::Start;
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::fault_demo::blocks::MOST_LIVE;

    #[test]
    fn each_shape_has_a_name_of_its_own_and_can_be_run() {
        let mut names: Vec<_> = SHAPES.iter().map(|shape| shape.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SHAPES.len());
        for shape in SHAPES {
            assert!(shape.pace.iterations > 0, "{}", shape.name);
            if let Work::Blocks(blocks) = shape.work {
                assert!((1..=MOST_LIVE).contains(&blocks.live) && blocks.size > 0, "{}", shape.name);
            }
        }
        for info in SHAPE_INFO {
            assert!(!info.about.ends_with('.') && !info.about.is_empty(), "{}", info.name);
        }
    }
}
