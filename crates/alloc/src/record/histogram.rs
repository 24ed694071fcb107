//! The histogram of a recording, as text for people and as the file that `--profile` reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use figure::format;
use shm::recording::{CLASSES, Counter, LARGEST, Recording, SHARDS};

/// Most reads of a counter. Two in a row must agree, because programs may still run.
const READS: usize = 100;
/// The shortest mean lifetime that is written, in seconds: the resolution of the clock.
const SHORTEST: f64 = 1e-9;

// A histogram with a row for each class is a profile that the load accepts.
const _: () = assert!(CLASSES < workload::alloc_load::parameters::CLASSES);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Class {
    pub allocated: u64,
    pub resized: u64,
    pub ended: u64,
    /// Sum of the requested bytes.
    pub bytes: u64,
    /// Sum of the lifetimes up to the end of the recording, in seconds.
    pub lifetimes: f64,
    /// In bytes, as the largest.
    pub smallest: u64,
    pub largest: u64,
}

/// The allocations of a program and of all processes that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    pub seconds: f64,
    /// All classes by size, including empty ones.
    pub classes: Vec<Class>,
    pub processes: u64,
    /// Blocks that were freed without a recorded allocation.
    pub unknown: u64,
    /// Addresses that were allocated twice without a recorded free.
    pub twice: u64,
    /// Blocks that were live when their process called exit.
    pub live_at_exit: u64,
    /// Blocks that are missing here, because the recorder had no memory for them.
    pub lost: u64,
    /// Blocks above 2 GiB.
    pub huge: u64,
    /// Nanoseconds that the recorder took per call, if calls were timed.
    pub cost: Option<f64>,
    /// errno of a process that could not record.
    pub refused: Option<i32>,
}

impl Histogram {
    /// Reads a recording. Start and end of the program are in nanoseconds of CLOCK_MONOTONIC.
    pub fn read(recording: &Recording, start: u64, end: u64) -> Histogram {
        let head = recording.head();
        let load = |number: &AtomicU64| number.load(Relaxed);
        let timed = load(&head.timed);
        let class = |class| {
            (0..SHARDS).fold(Class::default(), |sum, shard| {
                sum.and(Class::from_counter(read_counter(recording.counter(shard, class)), end))
            })
        };
        Histogram {
            seconds: end.saturating_sub(start) as f64 / 1e9,
            classes: (0..CLASSES).map(class).collect(),
            processes: load(&head.processes),
            unknown: load(&head.unknown),
            twice: load(&head.twice),
            live_at_exit: load(&head.live_at_exit),
            lost: load(&head.lost),
            huge: load(&head.huge),
            cost: (timed > 0).then(|| load(&head.cost) as f64 / timed as f64),
            refused: Some(load(&head.refused) as i32).filter(|errno| *errno != 0),
        }
    }

    pub fn allocated(&self) -> u64 {
        self.sum(|class| class.allocated)
    }

    /// Sum over all classes. It saturates: the recorded program can write any number to the shared memory.
    fn sum(&self, value: impl Fn(&Class) -> u64) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(value(class)))
    }

    /// Blocks that never ended: of processes that still run, were killed, or executed another program.
    pub fn live(&self) -> u64 {
        self.sum(|class| class.allocated.saturating_sub(class.ended))
    }

    /// Mean live bytes and live blocks, by Little's law.
    fn mean_live(&self) -> (f64, f64) {
        let sums = self.classes.iter().filter(|class| class.allocated > 0).map(|class| {
            let blocks = class.lifetimes / self.seconds;
            (blocks * class.bytes as f64 / class.allocated as f64, blocks)
        });
        sums.fold((0.0, 0.0), |sum, class| (sum.0 + class.0, sum.1 + class.1))
    }

    /// The recording and its cost: sentences for people.
    pub fn sentences(&self) -> Vec<String> {
        let bytes = self.sum(|class| class.bytes);
        let resized = self.sum(|class| class.resized);
        let allocated = self.allocated();
        let (live, blocks) = self.mean_live();
        let mut sentences = vec![
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
                self.live_at_exit.saturating_add(self.live()),
                self.live(),
            ),
        ];
        if let Some(cost) = self.cost {
            let calls = allocated.saturating_add(self.sum(|class| class.ended));
            sentences.push(format!(
                "the recorder took about {cost:.0} ns of each call, in all {} of one CPU's time: without it rates are higher, \
                 and lifetimes shorter",
                format::percent(calls as f64 * cost / 1e9 / self.seconds)
            ));
        }
        let oddities = [
            (self.unknown, "freed, and older than the recording or than a fork (not counted)"),
            (self.twice, "returned again without a recorded free (counted as freed then)"),
            (self.lost, "missing, as there was no memory to remember them"),
            (self.huge, "larger than 2 GiB (counted as of 2 GiB)"),
        ];
        let oddities = oddities.into_iter().filter(|(blocks, _)| *blocks > 0);
        sentences.extend(oddities.map(|(blocks, what)| format!("blocks {what}: {blocks}")));
        sentences
    }

    /// The file: comments, then a row for each class that is not empty.
    pub fn csv(&self, command: &str) -> String {
        let mut text = format!("# Recorded by truebench alloc record: {}\n", format::plain(command));
        for sentence in self.sentences() {
            let _ = writeln!(text, "# {sentence}");
        }
        text += "# size in bytes; allocations a second, of all threads and processes; mean lifetime in seconds; and how many there were\n";
        text += "size,rate,lifetime,allocations\n";
        for class in self.classes.iter().filter(|class| class.allocated > 0) {
            // A profile has sizes from 1 to LARGEST.
            let largest = class.largest.clamp(1, LARGEST);
            let smallest = class.smallest.clamp(1, largest);
            let size =
                if smallest == largest { smallest.to_string() } else { format!("{smallest}-{largest}") };
            let allocated = class.allocated as f64;
            let (rate, lifetime) = (allocated / self.seconds, (class.lifetimes / allocated).max(SHORTEST));
            let _ = writeln!(text, "{size},{rate:.6e},{lifetime:.6e},{}", class.allocated);
        }
        text
    }
}

impl Class {
    /// From the fields of a counter, in their order.
    fn from_counter(words: [u64; 7], now: u64) -> Class {
        let [allocated, resized, ended, bytes, span, smallest, largest] = words;
        let live = allocated.wrapping_sub(ended);
        // Slightly negative if a process was killed in the middle of a call.
        let lifetimes = (span.wrapping_add(live.wrapping_mul(now)) as i64).max(0) as f64 / 1e9;
        Class { allocated, resized, ended, bytes, lifetimes, smallest: !smallest, largest }
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
            lifetimes: self.lifetimes + other.lifetimes,
            smallest: self.smallest.min(other.smallest),
            largest: self.largest.max(other.largest),
        }
    }
}

/// Reads a consistent state of a counter.
fn read_counter(counter: &Counter) -> [u64; 7] {
    let Counter { allocated, resized, ended, bytes, span, smallest, largest } = counter;
    let read = || [allocated, resized, ended, bytes, span, smallest, largest].map(|word| word.load(Relaxed));
    let mut previous = read();
    for _ in 0..READS {
        let next = read();
        if next == previous {
            break;
        }
        previous = next;
    }
    previous
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
            lifetimes: 0.0,
            smallest: 0,
            largest: 8,
        };
        classes[4] = Class {
            allocated: 500,
            resized: 0,
            ended: 400,
            bytes: 20_000,
            lifetimes: 250.0,
            smallest: 40,
            largest: 40,
        };
        classes[115] = Class {
            allocated: 1,
            resized: 0,
            ended: 1,
            bytes: 3 << 30,
            lifetimes: 5.0,
            smallest: 3 << 30,
            largest: 3 << 30,
        };
        Histogram {
            seconds: 10.0,
            classes,
            processes: 1,
            live_at_exit: 7,
            huge: 1,
            cost: Some(50.0),
            ..Histogram::default()
        }
    }

    #[test]
    fn a_recording_becomes_a_profile() {
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
    fn the_sentences_hold_the_counts() {
        let lines = histogram().sentences();
        assert!(
            lines[0].starts_with("1501 allocations (0.67 % by realloc) of 3.0 GiB in 10.0 s by 1 process: "),
            "{lines:?}"
        );
        // 25 blocks of 40 bytes, half a block of 3 GiB.
        assert!(
            lines[1].starts_with("1.5 GiB in 26 blocks were live on average; 107 were never freed"),
            "{lines:?}"
        );
        assert!(lines[1].contains("100 of them to the end of the recording"), "{lines:?}");
        assert!(lines[2].contains("about 50 ns of each call, in all <0.01 % of one CPU's time"), "{lines:?}");
        assert_eq!(lines[3..], ["blocks larger than 2 GiB (counted as of 2 GiB): 1"]);
    }

    #[test]
    fn an_interrupted_call_makes_no_lifetime_of_centuries() {
        // Allocated and ended are counted; the time is not added yet.
        assert_eq!(Class::from_counter([1, 0, 1, 8, 0u64.wrapping_sub(500), !8, 8], 1000).lifetimes, 0.0);
        assert_eq!(Class::from_counter([2, 0, 1, 16, 0u64.wrapping_sub(500), !8, 8], 1000).lifetimes, 500e-9);
    }
}
