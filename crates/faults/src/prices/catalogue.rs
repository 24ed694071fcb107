//! The prices, each with its lap. A new one is a line here.

use std::io;

use lab::pool::Seat;

use super::ground::Ground;
use super::here::Here;
use super::lap::Lap;
use super::together::Meeting;
use super::{anonymous, calls, files, together, watching};

/// By which clock something is priced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The thread's own CPU time: what others do meanwhile is not in it.
    Cpu,
    /// Time: where the thread waits for other threads.
    Wall,
    /// Time, most of which the thread waits for a disk and leaves its CPU to others.
    Disk,
}

impl Clock {
    /// Its word in conditions.
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

/// What a price needs besides memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Transparent huge pages.
    Huge,
    /// MADV_FREE.
    Free,
    /// Files in the page cache.
    Files,
    /// A file whose pages can be put out of memory.
    Disk,
    /// The kernel's events.
    Events,
}

impl Needs {
    /// Whether it is about files.
    pub fn is_of_files(self) -> bool {
        matches!(self, Needs::Files | Needs::Disk)
    }

    /// Why it is not there, if it is not.
    pub fn missing(self, here: &Here, ground: &Ground) -> Option<String> {
        match self {
            Needs::Nothing => None,
            Needs::Huge => here.huge.clone().err().or_else(|| ground.too_large()),
            Needs::Free => here.free.clone().err(),
            Needs::Files => here.around.clone().err(),
            Needs::Disk => here.disk.clone().err(),
            Needs::Events => here.events.clone().err(),
        }
    }
}

/// Which faults each unit must take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Due {
    /// So many minor faults, and no major one.
    Minor(f64),
    /// No major fault. How many neighbours a minor one brings along, the kernel decides.
    Cached,
    /// One major fault.
    Major,
    /// Not told beforehand: read-ahead decides, or faults are not what is priced.
    Any,
}

/// What one unit is, or what a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A page of the base size.
    Page,
    /// A huge page.
    Huge,
    /// A call about a whole region.
    Call,
}

/// A price that one thread can find.
#[derive(Debug)]
pub struct Price {
    /// What follows the mode in its id.
    pub word: &'static str,
    /// Its row in the table of its series; `{}` stands for the size of the region.
    pub row: &'static str,
    /// The series, and its axis.
    pub series: &'static str,
    /// What is priced.
    pub unit: Unit,
    /// By which clock.
    pub clock: Clock,
    /// What it needs.
    pub needs: Needs,
    /// Which faults there must be.
    pub due: Due,
    /// Bytes that are touched or mapped at a time.
    pub region: fn(&Ground) -> usize,
    /// One lap.
    pub lap: fn(&Ground) -> io::Result<Lap>,
    /// Seconds that a round lasts, about.
    pub round: f64,
}

impl Price {
    /// Microseconds where nanoseconds would be numbers of many digits: how many nanoseconds a unit has, and its symbol.
    pub fn scale(&self) -> (f64, &'static str) {
        if [WHOLE, DISK].contains(&self.series) { (1e3, "us") } else { (1.0, "ns") }
    }
}

/// Series: what follows the mode in their names, which is their axis too.
pub const PAGE: &str = "anonymous";
const FILE: &str = "file";
const DISK: &str = "disk";
const WHOLE: &str = "whole";
const CALL: &str = "call";
/// What watching a program costs it.
pub const WATCHING: &str = "watching";

/// Fifteen clock ticks of 10 ms, so that tick accounting (steal, foreign load) can say something.
const ROUND: f64 = 0.15;
/// Of what is the difference of two in the same lap: what disturbs meets both.
const SHORT_ROUND: f64 = 0.05;

const fn minor(word: &'static str, row: &'static str, lap: fn(&Ground) -> io::Result<Lap>) -> Price {
    Price {
        word,
        row,
        series: PAGE,
        unit: Unit::Page,
        clock: Clock::Cpu,
        needs: Needs::Nothing,
        due: Due::Minor(1.0),
        region: |ground| ground.region,
        lap,
        round: ROUND,
    }
}

const fn file(word: &'static str, row: &'static str, lap: fn(&Ground) -> io::Result<Lap>) -> Price {
    Price { series: FILE, needs: Needs::Files, ..minor(word, row, lap) }
}

const fn disk(word: &'static str, row: &'static str, lap: fn(&Ground) -> io::Result<Lap>) -> Price {
    let clock = Clock::Disk;
    let region = |ground: &Ground| ground.file;
    Price { series: DISK, clock, needs: Needs::Disk, due: Due::Any, region, ..minor(word, row, lap) }
}

const fn call(word: &'static str, row: &'static str, lap: fn(&Ground) -> io::Result<Lap>) -> Price {
    Price { series: CALL, due: Due::Minor(0.0), ..minor(word, row, lap) }
}

const fn watching(word: &'static str, row: &'static str, lap: fn(&Ground) -> io::Result<Lap>) -> Price {
    Price { series: WATCHING, needs: Needs::Events, round: SHORT_ROUND, ..minor(word, row, lap) }
}

/// Words that others look for.
pub const WRITE: &str = "minor.write";
/// A fault of a huge page.
pub const HUGE: &str = "huge";
/// A file read cold, page by page.
pub const COLD: &str = "scan.cold";
/// The same in the page cache.
pub const WARM: &str = "scan.warm";
/// What watching adds to each fault, each sample, each fault in a burst, each task switch.
pub const WATCHED: [&str; 4] = ["watching.fault", "watching.sample", "watching.burst", "watching.switch"];

/// All that one thread can find, in the order in which they are shown.
pub static ALONE: &[Price] = &[
    minor(WRITE, "first write", anonymous::written),
    Price {
        region: |ground| ground.large,
        ..minor("minor.large", "first write, {} at a time", anonymous::large)
    },
    minor("minor.read", "first read (page of zeros)", anonymous::read),
    minor("cow.copy", "first write after fork (copied)", anonymous::copied),
    minor("cow.reuse", "the same, the child gone (not copied)", anonymous::reused),
    file("file.read", "first read, alone", files::single),
    Price { due: Due::Cached, ..file("file.around", "first read, with its neighbours", files::around) },
    file("file.shared", "first write, shared", files::shared),
    file("file.private", "first write, private (copied)", files::private),
    call("munmap", "munmap, for each touched page", calls::unmapped),
    call("dontneed", "MADV_DONTNEED, for each touched page", calls::dontneed),
    Price { needs: Needs::Free, ..call("free", "MADV_FREE, for each touched page", calls::freed) },
    Price { unit: Unit::Call, ..call("mmap", "mmap and munmap of {}, untouched", calls::mapped) },
    Price { unit: Unit::Call, ..call("brk", "brk up and down by {}, untouched", calls::moved) },
    Price {
        series: WHOLE,
        unit: Unit::Huge,
        needs: Needs::Huge,
        region: |ground| ground.huges * ground.huge,
        ..minor(HUGE, "fault of a huge page", anonymous::huge)
    },
    Price {
        series: WHOLE,
        unit: Unit::Call,
        due: Due::Any,
        region: |ground| ground.forked,
        ..minor("fork", "fork with {} touched", anonymous::forked)
    },
    Price { due: Due::Major, ..disk("major", "random page (major fault)", files::fetched) },
    disk(COLD, "page by page, from disk", files::cold),
    Price {
        due: Due::Cached,
        clock: Clock::Wall,
        ..disk(WARM, "page by page, in the page cache", files::warm)
    },
    Price { round: ROUND, ..watching(WATCHED[0], "a fault is counted", watching::counted) },
    Price {
        unit: Unit::Call,
        due: Due::Minor(watching::SAMPLED as f64),
        ..watching(WATCHED[1], "a fault is sampled, with its stack", watching::sampled)
    },
    watching(WATCHED[2], "a fault is seen in a burst", watching::burst),
    Price {
        unit: Unit::Call,
        due: Due::Any,
        ..watching(WATCHED[3], "the task leaves its CPU and comes back", watching::switched)
    },
];

/// A price by the number of threads.
#[derive(Debug)]
pub struct Crowd {
    /// What follows the mode in its series and ids.
    pub word: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Whether one thread is priced while the others run; else all are.
    pub is_one: bool,
    /// By which clock.
    pub clock: Clock,
    /// Minor faults that each unit must take.
    pub due: f64,
    /// The part of one thread in a sample.
    pub lap: fn(&Ground, &Seat, usize, &Meeting) -> io::Result<Lap>,
}

/// The prices by number of threads.
pub static CROWDS: &[Crowd] = &[
    Crowd {
        word: "madvise",
        name: "MADV_DONTNEED of one page",
        is_one: true,
        clock: Clock::Cpu,
        due: 0.0,
        lap: together::dontneed,
    },
    Crowd {
        word: "munmap",
        name: "munmap of one page",
        is_one: true,
        clock: Clock::Cpu,
        due: 0.0,
        lap: together::unmapped,
    },
    Crowd {
        word: "concurrent",
        name: "first write",
        is_one: false,
        clock: Clock::Wall,
        due: 1.0,
        lap: together::written,
    },
];

/// Words of all prices. A kind of them, such as `minor`, is what stands before the dot.
pub fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = ALONE.iter().map(|price| price.word).collect();
    // munmap is a price alone, and one by the number of threads.
    words.extend(CROWDS.iter().map(|crowd| crowd.word).filter(|word| alone(word).is_none()));
    words
}

/// Whether a price is meant by this word: its own, or its kind's.
pub fn is_meant(price: &str, word: &str) -> bool {
    price.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The price of this word.
pub fn alone(word: &str) -> Option<&'static Price> {
    ALONE.iter().find(|price| price.word == word)
}

/// The one by number of threads.
pub fn crowd(word: &str) -> Option<&'static Crowd> {
    CROWDS.iter().find(|crowd| crowd.word == word)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn each_word_means_one() {
        let mut words: Vec<&str> =
            ALONE.iter().map(|price| price.word).chain(CROWDS.iter().map(|c| c.word)).collect();
        // A call alone, and the same by threads, are two things.
        assert_eq!(words.iter().filter(|word| **word == "munmap").count(), 2);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len() + 1, ALONE.len() + CROWDS.len());
        for word in [WRITE, HUGE, COLD, WARM] {
            assert!(alone(word).is_some(), "{word}");
        }
    }
}
