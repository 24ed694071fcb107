//! Turn by turn, as long as a program is watched: drains the rings, puts together what is in order, holds the number of samples near its
//! aim, and lets every fault be seen for moments.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::blocks::Blocks;
use super::calls::Calls;
use super::collect::Collector;
use super::control::{AIM, Control, Maps};
use super::events::{Events, Set};
use super::order::Order;
use super::record::{Entry, What};
use super::ring::Ring;
use super::{Besides, NEVER, Totals, Traced, looked, nanoseconds, now, told};
use crate::rates::with_descendants;

/// Time between two looks at the number of samples; the first comes sooner.
const CONTROL: Duration = Duration::from_millis(250);
const FIRST_CONTROL: Duration = Duration::from_millis(50);
/// So many samples since the last look are a storm, which is looked at sooner; and how soon at the soonest.
const STORM: f64 = AIM / 2.0;
const SOON: Duration = Duration::from_millis(20);
/// What was read is put together for so long between two drains: with stacks to unwind and files to look into it takes its time, in which the rings
/// must not run full. Unless more than so many wait.
const TURN: Duration = Duration::from_millis(5);
const MOST_WAITING: usize = 100_000;
/// Between two drains of the rings, and the same in a burst.
const DRAIN: Duration = Duration::from_millis(10);
const DRAIN_IN_BURST: Duration = Duration::from_millis(2);
/// The longest burst, and the most faults that it should see: what a second of samples costs.
const BURST: Duration = Duration::from_millis(50);
const BURST_FAULTS: f64 = 2000.0;
/// The first burst begins so soon; each later one after three times the pause, and then every second.
const FIRST_BURST: Duration = Duration::from_millis(20);
const BURST_LATER: u32 = 3;
const BURST_EVERY: Duration = Duration::from_secs(1);
/// Processes whose memory is looked at in one turn.
const MOST_PEAKS: usize = 64;

/// What goes on from turn to turn.
pub struct Loop {
    events: Events,
    ring: Option<Ring>,
    collector: Collector,
    order: Order,
    begun: Instant,
    control: Control,
    /// Minor faults that were counted at the last look.
    counted: u64,
    /// Samples and lost ones, and new mappings, since the last look; when that was.
    samples: f64,
    maps: Maps,
    /// Whether no samples were lost since then, nor may have been.
    is_whole: bool,
    looked: Instant,
    /// Faults a second, by the counters.
    rate: f64,
    bursts: Bursts,
    sees_all_maps: bool,
    /// Names of programs that may not be watched.
    unseen: BTreeSet<String>,
    trouble: Option<String>,
    /// Calls for memory, or why there are none.
    calls: Result<Calls, String>,
    /// Events of the machine when it began.
    happened: [u64; 2],
    /// The process that was about to begin.
    first: Option<u32>,
}

/// When bursts begin and end.
struct Bursts {
    /// When the burst that is on ends.
    ends: Option<Instant>,
    next: Instant,
    pause: Duration,
    /// Faults that it saw, lost ones included.
    faults: f64,
}

impl Loop {
    /// Nothing was read yet.
    pub fn new(
        events: Events,
        first: Option<u32>,
        calls: Result<Calls, String>,
        watched: Vec<u32>,
        besides: Besides,
    ) -> Loop {
        let Besides { running, ring, keeps, .. } = besides;
        let now = Instant::now();
        let page = rustix::param::page_size() as u64;
        let mut collector = Collector::new(page);
        collector.blocks = ring.as_ref().map(|_| Blocks::default());
        collector.book.watched = watched;
        if calls.is_ok() {
            collector.book.counting(true, self::now());
        }
        if let Some(writer) = keeps {
            collector.keep(writer);
        }
        // They may not be heard of for long, and are to be known when another period is set.
        for process in running {
            collector.tasks.get(process, self::now());
        }
        Loop {
            events,
            ring,
            collector,
            calls,
            order: Order::default(),
            begun: now,
            control: Control::new(),
            counted: 0,
            samples: 0.0,
            maps: Maps::default(),
            is_whole: true,
            looked: now,
            rate: 0.0,
            bursts: Bursts { ends: None, next: now + FIRST_BURST, pause: FIRST_BURST, faults: 0.0 },
            sees_all_maps: true,
            unseen: BTreeSet::new(),
            trouble: None,
            happened: looked::machine_events(),
            first,
        }
    }

    /// Goes on until `stop` is a time; what was seen.
    pub fn run(mut self, stop: &AtomicU64) -> Traced {
        while stop.load(Ordering::Acquire) == NEVER {
            let rest = |ends: Instant| ends.saturating_duration_since(Instant::now()).min(DRAIN_IN_BURST);
            std::thread::sleep(self.bursts.ends.map_or(DRAIN, rest));
            self.pass();
            self.burst();
            let pause = if self.control.is_first { FIRST_CONTROL } else { CONTROL };
            let elapsed = self.looked.elapsed();
            if elapsed >= pause || self.samples > STORM && elapsed >= SOON {
                self.adapt();
            }
        }
        self.events.turn(Set::Burst, false);
        self.pass();
        self.events.conclude(self.order.read());
        if let Ok(calls) = &mut self.calls {
            calls.close(self.order.read());
        }
        self.order.conclude();
        self.put_together(Duration::MAX);
        self.collector.runs.end();
        self.end_blocks();
        self.collector.tasks.conclude();
        let used = clock_gettime(ClockId::ThreadCPUTime);
        let counted = self.events.minor_faults();
        let happened = looked::machine_events();
        let share = |event: usize| {
            let events = happened[event].saturating_sub(self.happened[event]) as f64;
            if counted > 0 { (events / counted as f64).min(1.0) } else { 0.0 }
        };
        Traced {
            totals: Totals {
                counted,
                hinting: share(0),
                huge: share(1),
                sees_kernel: self.events.sees_kernel(),
                period: self.events.period(),
                cpu_seconds: nanoseconds(used) as f64 * 1e-9,
                seconds: self.begun.elapsed().as_secs_f64(),
            },
            unseen: self.unseen,
            trouble: self.trouble,
            codes: self.calls.as_ref().map_err(Clone::clone).and_then(Calls::codes),
            calls: self.calls.map(drop),
            collector: self.collector,
        }
    }

    /// Drains the rings and puts together what cannot be preceded by anything unread, for a turn.
    fn pass(&mut self) {
        let begins = now();
        let read = self.order.read();
        let before = read.len();
        self.is_whole &= !self.events.drain(read);
        if let Some(ring) = &mut self.ring {
            ring.drain(begins, false, read);
        }
        if let Ok(calls) = &mut self.calls
            && let Err(reason) = calls.pass(read)
        {
            self.calls = Err(reason);
        }
        let mut left = Vec::new();
        for entry in &read[before..] {
            match &entry.what {
                What::Exit { process, thread } if process == thread => left.push(*process),
                What::Fault(fault) if !fault.is_burst && !fault.is_major => self.samples += 1.0,
                What::Fault(fault) if fault.is_burst => self.bursts.faults += 1.0,
                What::Lost { set: Set::Minor, records, .. } => {
                    self.samples += *records as f64;
                    self.is_whole = false;
                }
                What::Lost { set: Set::Burst, records, .. } => self.bursts.faults += *records as f64,
                _ => {}
            }
            self.maps.count(&entry.what);
        }
        left.into_iter().for_each(|process| self.follow(process));
        self.order.settle(begins);
        self.put_together(if self.order.waiting() > MOST_WAITING { Duration::MAX } else { TURN });
    }

    /// Watches a process on of which the kernel has closed the events, or notes that we may not.
    fn follow(&mut self, process: u32) {
        let Some(name) = looked::goes_on(process) else { return };
        let tasks: Vec<u32> = with_descendants([process]).into_iter().flat_map(looked::tasks_of).collect();
        match self.events.follow(&tasks) {
            Ok(()) if !self.sees_all_maps && self.bursts.ends.is_none() => self.events.turn(Set::Maps, false),
            Ok(()) => {}
            // It has ended by now.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(_) => {
                self.unseen.insert(name);
            }
        }
    }

    /// Puts together what is in order, for so long.
    fn put_together(&mut self, most: Duration) {
        let begun = Instant::now();
        for entry in self.order.by_ref() {
            self.collector.take(entry);
            if begun.elapsed() >= most {
                break;
            }
        }
    }

    /// Takes the last that the recorder told, and joins what waits.
    fn end_blocks(&mut self) {
        let Some(mut ring) = self.ring.take() else { return };
        let mut rest = Vec::new();
        ring.drain(now(), true, &mut rest);
        rest.into_iter().for_each(|entry| self.collector.take(entry));
        if let Some(blocks) = &mut self.collector.blocks {
            (blocks.greeted, blocks.lost) = (ring.programs(), (ring.lost(), ring.untold()));
            blocks.end();
        }
    }

    /// Lets every fault be seen for a moment, now and then.
    fn burst(&mut self) {
        let now = Instant::now();
        match self.bursts.ends {
            Some(end) if now >= end || self.bursts.faults >= BURST_FAULTS => {
                self.events.turn(Set::Burst, false);
                self.watch_codes(false);
                self.pass();
                self.order.read().push(Entry { time: self::now(), what: What::lost(Set::Burst, 0, 1) });
                if !self.sees_all_maps {
                    self.watch_maps(false);
                }
                self.bursts.pause = (self.bursts.pause * BURST_LATER).min(BURST_EVERY);
                (self.bursts.ends, self.bursts.next) = (None, now + self.bursts.pause);
            }
            None if now >= self.bursts.next => {
                if !self.sees_all_maps {
                    self.watch_maps(true);
                }
                self.watch_codes(true);
                self.events.turn(Set::Burst, true);
                let fits = Duration::try_from_secs_f64(BURST_FAULTS / self.rate.max(1.0)).unwrap_or(BURST);
                (self.bursts.ends, self.bursts.faults) = (Some(now + fits.min(BURST)), 0.0);
            }
            _ => {}
        }
    }

    /// Lets new mappings of data be told, or not any more.
    fn watch_maps(&mut self, on: bool) {
        self.events.turn(Set::Maps, on);
        self.order.read().push(Entry { time: now(), what: What::Mappings(on) });
    }

    /// Lets faults say what page they met, or not any more.
    fn watch_codes(&mut self, on: bool) {
        if let Ok(calls) = &mut self.calls {
            calls.watch_codes(on, self.order.read());
        }
    }

    /// Holds the number of samples near its aim.
    fn adapt(&mut self) {
        let seconds = self.looked.elapsed().as_secs_f64();
        self.looked = Instant::now();
        self.peaks();
        let samples = std::mem::take(&mut self.samples) / seconds;
        let maps = std::mem::take(&mut self.maps);
        let counted = self.events.minor_faults();
        self.rate = counted.saturating_sub(self.counted) as f64 / seconds;
        self.counted = counted;
        if self.sees_all_maps && maps.are_many(seconds) {
            self.sees_all_maps = false;
            // A burst that is on needs them to its end.
            if self.bursts.ends.is_none() {
                self.watch_maps(false);
            }
        }
        let is_whole = std::mem::replace(&mut self.is_whole, true);
        let period = self.control.adapted(self.events.period(), samples, self.rate, is_whole);
        let Some(period) = period else { return };
        let tasks = self.tasks();
        if let Err(error) = self.events.set_period(period, &tasks, self.order.read()) {
            // All of its tasks may just have ended.
            if error.raw_os_error() != Some(libc::ESRCH) {
                self.trouble = Some(told(&error, tasks.len(), 1));
            }
        }
    }

    /// All tasks that are there, also of processes of which no record has been read yet.
    fn tasks(&self) -> Vec<u32> {
        let known = self.collector.tasks.processes().chain(self.first.iter().copied());
        let below = with_descendants(known).into_iter().flat_map(looked::tasks_of);
        let all: BTreeSet<u32> = below.chain(self.first.iter().copied()).collect();
        all.into_iter().collect()
    }

    /// Notes how much memory the processes had at most so far, in its turn: behind the faults that took it.
    fn peaks(&mut self) {
        let processes: Vec<u32> = self.collector.tasks.processes().take(MOST_PEAKS).collect();
        for process in processes {
            if let Some(bytes) = looked::peak_of(process) {
                self.order.read().push(Entry { time: now(), what: What::Peak { process, bytes } });
            }
        }
    }
}
