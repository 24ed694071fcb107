//! The prices, each with its lap. A new one is a line here.

use std::io;

use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::capabilities::Capabilities;
use super::fixture::Fixture;
use super::lap::Lap;
use super::threads::SampleEnd;
use super::{anonymous, calls, files, threads, watching};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The thread's CPU time: it leaves out what other threads do.
    Cpu,
    /// Wall time: the thread waits for other threads.
    Wall,
    /// Wall time: the thread mostly waits for a disk, and leaves its CPU to others.
    Disk,
}

impl Clock {
    pub fn word(self) -> &'static str {
        match self {
            Clock::Cpu => "cpu",
            Clock::Wall => "wall",
            Clock::Disk => "disk",
        }
    }

    /// The price of a unit, in nanoseconds.
    pub fn price(self, lap: &Lap) -> f64 {
        match self {
            Clock::Cpu => lap.cpu(),
            Clock::Wall | Clock::Disk => lap.wall(),
        }
    }
}

/// What a price needs beyond memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    Huge,
    Free,
    /// Files in the page cache.
    Files,
    /// A file with pages that can be dropped from memory.
    Disk,
    Events,
}

impl Needs {
    pub fn missing(self, capabilities: &Capabilities, fixture: &Fixture) -> Option<Failure> {
        match self {
            Needs::Nothing => None,
            Needs::Huge => capabilities.huge.clone().err().or_else(|| fixture.too_large()),
            Needs::Free => capabilities.free.clone().err(),
            Needs::Files => capabilities.around.clone().err(),
            Needs::Disk => capabilities.disk.clone().err(),
            Needs::Events => capabilities.events.clone().err(),
        }
    }
}

/// The faults that each unit must take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpectedFaults {
    /// So many minor faults, and no major one.
    Minor(f64),
    /// No major fault. The kernel decides how many neighbours a minor one maps.
    Cached,
    Major,
    /// Unknown beforehand: read-ahead decides, or the price is not one of faults.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Page,
    Huge,
    /// A call for a whole region.
    Call,
}

#[derive(Debug)]
pub struct Price {
    /// What follows the mode in its id.
    pub word: &'static str,
    /// Its row in the table of its series; `{}` is the size of the region.
    pub row: &'static str,
    /// The series, and its axis.
    pub series: &'static str,
    pub unit: Unit,
    pub clock: Clock,
    pub needs: Needs,
    pub expected: ExpectedFaults,
    /// Bytes that are touched or mapped at a time.
    pub region: fn(&Fixture) -> usize,
    pub lap: fn(&Fixture) -> io::Result<Lap>,
    /// Seconds that a round lasts, approximately.
    pub round: f64,
}

impl Price {
    /// Nanoseconds of the unit, and its symbol: microseconds where nanoseconds would have many digits.
    pub fn scale(&self) -> (f64, &'static str) {
        if [WHOLE, DISK].contains(&self.series) { (1e3, "µs") } else { (1.0, "ns") }
    }
}

/// Series: the last part of their names, which is also their axis.
pub const PAGE: &str = "anonymous";
const FILE: &str = "file";
const DISK: &str = "disk";
const WHOLE: &str = "whole";
const CALL: &str = "call";
/// What watching a program costs it.
pub const WATCHING: &str = "watching";

/// Fifteen clock ticks of 10 ms, so that tick accounting (steal, foreign load) can say something.
pub const ROUND: f64 = 0.15;
/// For a difference of two measurements in the same lap: a disturbance affects both.
pub const SHORT_ROUND: f64 = 0.05;

const fn minor(word: &'static str, row: &'static str, lap: fn(&Fixture) -> io::Result<Lap>) -> Price {
    Price {
        word,
        row,
        series: PAGE,
        unit: Unit::Page,
        clock: Clock::Cpu,
        needs: Needs::Nothing,
        expected: ExpectedFaults::Minor(1.0),
        region: |fixture| fixture.region,
        lap,
        round: ROUND,
    }
}

const fn file(word: &'static str, row: &'static str, lap: fn(&Fixture) -> io::Result<Lap>) -> Price {
    Price { series: FILE, needs: Needs::Files, ..minor(word, row, lap) }
}

const fn disk(word: &'static str, row: &'static str, lap: fn(&Fixture) -> io::Result<Lap>) -> Price {
    let clock = Clock::Disk;
    let region = |fixture: &Fixture| fixture.file;
    let expected = ExpectedFaults::Any;
    Price { series: DISK, clock, needs: Needs::Disk, expected, region, ..minor(word, row, lap) }
}

const fn call(word: &'static str, row: &'static str, lap: fn(&Fixture) -> io::Result<Lap>) -> Price {
    Price { series: CALL, expected: ExpectedFaults::Minor(0.0), ..minor(word, row, lap) }
}

const fn watching(word: &'static str, row: &'static str, lap: fn(&Fixture) -> io::Result<Lap>) -> Price {
    Price { series: WATCHING, needs: Needs::Events, round: SHORT_ROUND, ..minor(word, row, lap) }
}

pub const WRITE: &str = "minor.write";
pub const HUGE: &str = "huge";
/// A file read cold, page by page.
pub const COLD: &str = "scan.cold";
/// The same in the page cache.
pub const WARM: &str = "scan.warm";
/// What watching adds to each fault that is counted, each sample, each fault in a burst, each task switch, each fault outside windows.
pub const WATCHED: [&str; 5] =
    ["watching.fault", "watching.sample", "watching.burst", "watching.switch", "watching.outside"];

/// All prices that one thread measures, in the order in which they are shown.
pub static SINGLE: &[Price] = &[
    minor(WRITE, "first write", anonymous::first_write),
    Price {
        region: |fixture| fixture.large,
        ..minor("minor.large", "first write, {} at a time", anonymous::large_write)
    },
    minor("minor.read", "first read (page of zeros)", anonymous::first_read),
    minor("cow.copy", "first write after fork (copied)", anonymous::copy_on_write),
    minor("cow.reuse", "the same, the child gone (not copied)", anonymous::write_after_child),
    file("file.read", "first read, alone", files::single_page),
    Price {
        expected: ExpectedFaults::Cached,
        ..file("file.around", "first read, with its neighbours", files::fault_around)
    },
    file("file.shared", "first write, shared", files::shared_write),
    file("file.private", "first write, private (copied)", files::private_write),
    call("munmap", "munmap, for each touched page", calls::munmap),
    call("dontneed", "MADV_DONTNEED, for each touched page", calls::dontneed),
    Price { needs: Needs::Free, ..call("free", "MADV_FREE, for each touched page", calls::free) },
    Price { unit: Unit::Call, ..call("mmap", "mmap and munmap of {}, untouched", calls::map_unmap) },
    Price { unit: Unit::Call, ..call("brk", "brk up and down by {}, untouched", calls::brk_up_down) },
    Price {
        series: WHOLE,
        unit: Unit::Huge,
        needs: Needs::Huge,
        region: |fixture| fixture.huges * fixture.huge,
        ..minor(HUGE, "fault of a huge page", anonymous::huge_page)
    },
    Price {
        series: WHOLE,
        unit: Unit::Call,
        expected: ExpectedFaults::Any,
        region: |fixture| fixture.forked,
        ..minor("fork", "fork with {} touched", anonymous::fork)
    },
    Price {
        expected: ExpectedFaults::Major,
        ..disk("major", "random page (major fault)", files::random_pages)
    },
    disk(COLD, "page by page, from disk", files::cold),
    Price {
        expected: ExpectedFaults::Cached,
        clock: Clock::Wall,
        ..disk(WARM, "page by page, in the page cache", files::warm)
    },
    Price { round: ROUND, ..watching(WATCHED[0], "a fault is counted", watching::counting) },
    Price {
        unit: Unit::Call,
        expected: ExpectedFaults::Minor(watching::SAMPLED as f64),
        ..watching(WATCHED[1], "a fault is sampled, with its stack", watching::sampling)
    },
    watching(WATCHED[2], "a fault is sampled in a burst", watching::burst),
    Price {
        unit: Unit::Call,
        expected: ExpectedFaults::Any,
        ..watching(WATCHED[3], "the task leaves its CPU and comes back", watching::task_switch)
    },
    Price {
        round: ROUND,
        ..watching(WATCHED[4], "a fault outside windows is not counted", watching::outside)
    },
];

/// The part of one thread in a sample of this number.
type ThreadedLap = fn(&Fixture, &WorkerThread, usize, &SampleEnd) -> io::Result<Lap>;

/// A price by the number of threads.
#[derive(Debug)]
pub struct ThreadedPrice {
    /// What follows the mode in its series and ids.
    pub word: &'static str,
    pub name: &'static str,
    /// Whether one thread is measured while the others run; otherwise all are.
    pub is_one: bool,
    pub clock: Clock,
    /// Minor faults that each unit must take.
    pub expected: f64,
    pub lap: ThreadedLap,
}

pub static THREADED: &[ThreadedPrice] = &[
    one_thread("madvise", "MADV_DONTNEED of one page", threads::dontneed),
    one_thread("munmap", "munmap of one page", threads::munmap),
    ThreadedPrice {
        is_one: false,
        clock: Clock::Wall,
        expected: 1.0,
        ..one_thread("concurrent", "first write", threads::first_write)
    },
];

const fn one_thread(word: &'static str, name: &'static str, lap: ThreadedLap) -> ThreadedPrice {
    ThreadedPrice { word, name, is_one: true, clock: Clock::Cpu, expected: 0.0, lap }
}

/// Words of all prices. The part before the dot, such as `minor`, is their kind.
pub fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = SINGLE.iter().map(|price| price.word).collect();
    // munmap is a price of one thread, and one by the number of threads.
    words.extend(THREADED.iter().map(|price| price.word).filter(|word| single(word).is_none()));
    words
}

/// Whether a word is a price's own, or its kind's.
pub fn matches(price: &str, word: &str) -> bool {
    price.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

pub fn single(word: &str) -> Option<&'static Price> {
    SINGLE.iter().find(|price| price.word == word)
}

pub fn threaded(word: &str) -> Option<&'static ThreadedPrice> {
    THREADED.iter().find(|price| price.word == word)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn words_are_unique() {
        let mut words: Vec<&str> =
            SINGLE.iter().map(|price| price.word).chain(THREADED.iter().map(|price| price.word)).collect();
        // A call of one thread, and the same by threads, are two prices.
        assert_eq!(words.iter().filter(|word| **word == "munmap").count(), 2);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len() + 1, SINGLE.len() + THREADED.len());
        for word in [WRITE, HUGE, COLD, WARM] {
            assert!(single(word).is_some(), "{word}");
        }
    }
}
