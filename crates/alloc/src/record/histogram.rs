//! What a recording says: as text for people, and as the file that `--profile` reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cell::recording::{CLASSES, Counter, LARGEST, Recording, SHARDS};
use figure::format;

/// Reads of a counter at most, of which two in a row must agree: programs may still run.
const READS: usize = 100;
/// The shortest mean lifetime that is written, in seconds: what the clock can tell.
const SHORTEST: f64 = 1e-9;

/// Blocks of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Class {
    /// Blocks allocated.
    pub allocated: u64,
    /// Of these, by realloc.
    pub resized: u64,
    /// Blocks that ended.
    pub ended: u64,
    /// Bytes asked for, of all together.
    pub bytes: u64,
    /// Seconds that they lived up to the end of the recording, of all together.
    pub lived: f64,
    /// The smallest, in bytes.
    pub smallest: u64,
    /// The largest.
    pub largest: u64,
}

/// The allocations of a program and of what it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Seconds that it ran.
    pub seconds: f64,
    /// By size; those that are empty too.
    pub classes: Vec<Class>,
    /// Processes that recorded.
    pub processes: u64,
    /// Blocks that were freed without a birth that was seen.
    pub unknown: u64,
    /// Addresses that were given out twice without a free that was seen.
    pub twice: u64,
    /// Blocks that lived when their process called exit.
    pub kept: u64,
    /// Blocks that could not be remembered, and are missing here.
    pub lost: u64,
    /// Blocks above 2 GiB.
    pub huge: u64,
    /// Nanoseconds of the recorder for each call, if calls were timed.
    pub cost: Option<f64>,
    /// errno of a process that could not record.
    pub refused: Option<i32>,
}

impl Histogram {
    /// Reads it out. Both times are nanoseconds of CLOCK_MONOTONIC: the program was started, and was seen to have ended.
    pub fn read(recording: &Recording, begun: u64, ended: u64) -> Histogram {
        let head = recording.head();
        let of = |number: &AtomicU64| number.load(Relaxed);
        let timed = of(&head.timed);
        let class = |class| {
            (0..SHARDS).fold(Class::default(), |sum, shard| {
                sum.and(Class::of(settled(recording.counter(shard, class)), ended))
            })
        };
        Histogram {
            seconds: ended.saturating_sub(begun) as f64 / 1e9,
            classes: (0..CLASSES).map(class).collect(),
            processes: of(&head.processes),
            unknown: of(&head.unknown),
            twice: of(&head.twice),
            kept: of(&head.kept),
            lost: of(&head.lost),
            huge: of(&head.huge),
            cost: (timed > 0).then(|| of(&head.cost) as f64 / timed as f64),
            refused: Some(of(&head.refused) as i32).filter(|errno| *errno != 0),
        }
    }

    /// Blocks allocated.
    pub fn allocated(&self) -> u64 {
        self.sum(|class| class.allocated)
    }

    /// Over all classes. The memory is the recorded program's too, and may hold any numbers.
    fn sum(&self, of: impl Fn(&Class) -> u64) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(of(class)))
    }

    /// Blocks that never ended: of daemons that go on, and of processes that were killed or executed another program.
    pub fn live(&self) -> u64 {
        self.sum(|class| class.allocated.saturating_sub(class.ended))
    }

    /// Mean bytes asked for at a time, by Little's law; and blocks.
    fn mean_live(&self) -> (f64, f64) {
        let sums = self.classes.iter().filter(|class| class.allocated > 0).map(|class| {
            let blocks = class.lived / self.seconds;
            (blocks * class.bytes as f64 / class.allocated as f64, blocks)
        });
        sums.fold((0.0, 0.0), |sum, class| (sum.0 + class.0, sum.1 + class.1))
    }

    /// What was recorded, and what it cost: sentences for people.
    pub fn told(&self) -> Vec<String> {
        let bytes = self.sum(|class| class.bytes);
        let resized = self.sum(|class| class.resized);
        let allocated = self.allocated();
        let (live, blocks) = self.mean_live();
        let mut told = vec![
            format!(
                "{allocated} allocations ({} by realloc) of {} in {} by {}: {} B on average",
                format::percent(resized as f64 / allocated.max(1) as f64),
                format::bytes(bytes as f64),
                format::seconds(self.seconds),
                if self.processes == 1 {
                    "1 process".to_owned()
                } else {
                    format!("{} processes", self.processes)
                },
                format::number(bytes as f64 / allocated.max(1) as f64),
            ),
            format!(
                "{} in {blocks:.0} blocks were live on average; {} were never freed, and count as living to the end of their \
                 process, {} of them to the end of the recording",
                format::bytes(live.round()),
                self.kept.saturating_add(self.live()),
                self.live(),
            ),
        ];
        if let Some(cost) = self.cost {
            let calls = allocated.saturating_add(self.sum(|class| class.ended));
            told.push(format!(
                "the recorder took about {cost:.0} ns of each call, in all {} of one CPU's time: without it rates are higher, \
                 and lifetimes shorter",
                format::percent(calls as f64 * cost / 1e9 / self.seconds)
            ));
        }
        let oddities = [
            (self.unknown, "freed, and older than the recording or than a fork (not counted)"),
            (self.twice, "given out again without a free that was seen (counted as freed then)"),
            (self.lost, "missing, as there was no memory to remember them"),
            (self.huge, "larger than 2 GiB (counted as of 2 GiB)"),
        ];
        let seen = oddities.into_iter().filter(|(blocks, _)| *blocks > 0);
        told.extend(seen.map(|(blocks, what)| format!("blocks {what}: {blocks}")));
        told
    }

    /// The file: comments, then a row for each class.
    pub fn csv(&self, command: &str) -> String {
        let mut text = format!("# Recorded by truebench alloc record: {}\n", format::plain(command));
        for sentence in self.told() {
            let _ = writeln!(text, "# {sentence}");
        }
        text += "# size in bytes; allocations a second, of all threads and processes; mean lifetime in seconds; and how many there were\n";
        text += "size,rate,lifetime,allocations\n";
        for class in self.classes.iter().filter(|class| class.allocated > 0) {
            // A block of no bytes is one of the smallest; beyond the largest there is no class.
            let largest = class.largest.clamp(1, LARGEST);
            let smallest = class.smallest.clamp(1, largest);
            let size =
                if smallest == largest { smallest.to_string() } else { format!("{smallest}-{largest}") };
            let allocated = class.allocated as f64;
            let (rate, lifetime) = (allocated / self.seconds, (class.lived / allocated).max(SHORTEST));
            let _ = writeln!(text, "{size},{rate:.6e},{lifetime:.6e},{}", class.allocated);
        }
        text
    }
}

impl Class {
    /// Of a counter: allocated, resized, ended, bytes, span, smallest turned over, largest.
    fn of([allocated, resized, ended, bytes, span, smallest, largest]: [u64; 7], now: u64) -> Class {
        let live = allocated.wrapping_sub(ended);
        // A process that was killed in the middle of a call can leave it a little below zero.
        let lived = (span.wrapping_add(live.wrapping_mul(now)) as i64).max(0) as f64 / 1e9;
        Class { allocated, resized, ended, bytes, lived, smallest: !smallest, largest }
    }

    fn and(self, other: Class) -> Class {
        if self.allocated == 0 || other.allocated == 0 {
            return if self.allocated == 0 { other } else { self };
        }
        Class {
            allocated: self.allocated.saturating_add(other.allocated),
            resized: self.resized.saturating_add(other.resized),
            ended: self.ended.saturating_add(other.ended),
            bytes: self.bytes.saturating_add(other.bytes),
            lived: self.lived + other.lived,
            smallest: self.smallest.min(other.smallest),
            largest: self.largest.max(other.largest),
        }
    }
}

/// The numbers of a counter, as they belong together.
fn settled(counter: &Counter) -> [u64; 7] {
    let Counter { allocated, resized, ended, bytes, span, smallest, largest } = counter;
    let read = || [allocated, resized, ended, bytes, span, smallest, largest].map(|word| word.load(Relaxed));
    let mut before = read();
    for _ in 0..READS {
        let again = read();
        if again == before {
            break;
        }
        before = again;
    }
    before
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::profile::Profile;

    fn histogram() -> Histogram {
        let mut classes = vec![Class::default(); CLASSES];
        classes[0] = Class {
            allocated: 1000,
            resized: 10,
            ended: 1000,
            bytes: 4000,
            lived: 0.0,
            smallest: 0,
            largest: 8,
        };
        classes[4] = Class {
            allocated: 500,
            resized: 0,
            ended: 400,
            bytes: 20_000,
            lived: 250.0,
            smallest: 40,
            largest: 40,
        };
        classes[115] = Class {
            allocated: 1,
            resized: 0,
            ended: 1,
            bytes: 3 << 30,
            lived: 5.0,
            smallest: 3 << 30,
            largest: 3 << 30,
        };
        Histogram {
            seconds: 10.0,
            classes,
            processes: 1,
            kept: 7,
            huge: 1,
            cost: Some(50.0),
            ..Histogram::default()
        }
    }

    #[test]
    fn a_profile_is_made_of_what_was_recorded() {
        let text = histogram().csv("server --name 'a\nb,c'");
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            rows,
            [
                "size,rate,lifetime,allocations",
                "1-8,1.000000e2,1.000000e-9,1000",
                "40,5.000000e1,5.000000e-1,500",
                "2147483648,1.000000e-1,5.000000e0,1"
            ]
        );
        let profile = Profile::of_histogram("server.csv", &text).unwrap();
        let slots: Vec<u32> = profile.classes.iter().map(|class| class.slots).collect();
        // 25 blocks of 40 bytes were live at a time.
        assert_eq!(slots, [1, 50, 1]);
    }

    #[test]
    fn a_row_for_each_class_is_not_too_many() {
        let class = |_| Class { allocated: 1, smallest: 1, largest: 1, ..Class::default() };
        let full =
            Histogram { seconds: 1.0, classes: (0..CLASSES).map(class).collect(), ..Histogram::default() };
        assert_eq!(Profile::of_histogram("full", &full.csv("x")).unwrap().classes.len(), CLASSES);
    }

    #[test]
    fn what_is_told_is_what_was_counted() {
        let told = histogram().told();
        assert!(
            told[0].starts_with("1501 allocations (0.67 % by realloc) of 3.0 GiB in 10.0 s by 1 process: "),
            "{told:?}"
        );
        // 25 blocks of 40 bytes, half a block of 3 GiB.
        assert!(
            told[1].starts_with("1.5 GiB in 26 blocks were live on average; 107 were never freed"),
            "{told:?}"
        );
        assert!(told[1].contains("100 of them to the end of the recording"), "{told:?}");
        assert!(told[2].contains("about 50 ns of each call, in all <0.01 % of one CPU's time"), "{told:?}");
        assert_eq!(told[3..], ["blocks larger than 2 GiB (counted as of 2 GiB): 1"]);
    }

    #[test]
    fn a_call_that_was_cut_off_makes_no_life_of_centuries() {
        // Counted as allocated and ended, and the time was not yet added.
        assert_eq!(Class::of([1, 0, 1, 8, 0u64.wrapping_sub(500), !8, 8], 1000).lived, 0.0);
        assert_eq!(Class::of([2, 0, 1, 16, 0u64.wrapping_sub(500), !8, 8], 1000).lived, 500e-9);
    }
}
