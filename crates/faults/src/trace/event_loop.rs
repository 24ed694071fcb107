//! The loop of a trace: reads the rings, collects what is in order, adjusts the period, and makes bursts.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lab::failure::Failure;
use rustix::time::{ClockId, clock_gettime};

use super::block_faults::BlockFaults;
use super::bursts::{self, Bursts};
use super::calls::Calls;
use super::collect::{Collector, SampleTotals};
use super::control::{AIM, Control, Interval, Maps, Sampling, YOUNG, chosen};
use super::error_codes::Moments;
use super::event_log::Writer;
use super::events::{Events, Scope};
use super::minor_faults::MinorFaults;
use super::procfs;
use super::readings::Readings;
use super::record::{Entry, EventKind, Set};
use super::result::Traced;
use super::ring::Ring;
use super::sorter::EventSorter;
use super::time::{NEVER, nanoseconds, now};
use super::totals::Totals;
use crate::rates::with_descendants;

/// Time between two adjustments of the period; the first comes sooner.
const CONTROL: Duration = Duration::from_millis(250);
const FIRST_CONTROL: Duration = Duration::from_millis(50);
/// After so many samples the period is adjusted sooner; and how soon at the soonest.
const STORM: f64 = AIM / 2.0;
const SOON: Duration = Duration::from_millis(20);
/// How long events are collected between two drains: unwinding stacks and reading files takes time, and the
/// rings must not run full meanwhile. If more than so many wait, all are collected.
const COLLECTING: Duration = Duration::from_millis(5);
const MOST_WAITING: usize = 100_000;
/// Time between two drains of the rings; and the time for small rings, where at least so many records come each second.
const DRAIN: Duration = Duration::from_millis(10);
const DRAIN_SOON: Duration = Duration::from_millis(2);
const MANY_RECORDS: f64 = 40_000.0;
/// The time where fewer than so many records came since the drain before: each time the watcher runs, it takes the program's caches.
const DRAIN_AT_REST: Duration = Duration::from_millis(40);
const FEW_RECORDS: usize = 100;
/// The longest moment of error codes.
const CODES_MOMENT: Duration = Duration::from_millis(250);
/// In a shorter trace the growth of shared memory is read too seldom.
const SHARED: Duration = Duration::from_millis(200);

/// What a trace records in addition to faults.
#[derive(Default)]
pub struct TraceOptions {
    /// The processes of a target that already runs.
    pub running: Vec<u32>,
    pub ring: Option<Ring>,
    pub all_calls: bool,
    pub event_log: Option<Writer>,
}

pub struct EventLoop {
    events: Events,
    ring: Option<Ring>,
    collector: Collector,
    sorter: EventSorter,
    begun: Instant,
    control: Control,
    minor: MinorFaults,
    /// Records since the last pause, and records a second.
    records: usize,
    record_rate: f64,
    /// The number of this process.
    own: u32,
    /// Samples (lost ones included) and tasks that began since the last adjustment; when that was; and new mappings.
    samples: f64,
    begun_tasks: f64,
    maps: Maps,
    /// Those of processes that are not known.
    other_maps: Maps,
    /// Whether no samples can have been lost since then.
    is_whole: bool,
    adapted: Instant,
    /// Faults a second, by the counters.
    rate: f64,
    bursts: Bursts,
    /// Bursts in which error codes are recorded, and when their present moment ends.
    codes: Bursts,
    codes_end: Instant,
    sees_all_maps: bool,
    /// Names of programs that this process may not trace.
    unseen: BTreeSet<String>,
    calls: Result<Calls, Failure>,
    readings: Readings,
    /// The process that was about to begin.
    first: Option<u32>,
    /// Whether events of the machine may be opened, as far as is known; whether they were; and samples of others in that time.
    may_widen: bool,
    was_machine: bool,
    dropped: f64,
    /// Samples of the program and of others, when they were compared last.
    compared: (f64, f64),
}

impl EventLoop {
    pub fn new(
        events: Events,
        first: Option<u32>,
        calls: Result<Calls, Failure>,
        watched: Vec<u32>,
        options: TraceOptions,
    ) -> EventLoop {
        let TraceOptions { running, ring, event_log, .. } = options;
        let now = Instant::now();
        let page = rustix::param::page_size() as u64;
        let readings = Readings::new(first.or(running.first().copied()), page);
        let mut collector = Collector::new(page);
        collector.blocks = ring.as_ref().map(|_| BlockFaults::default());
        collector.call_counts.watched = watched;
        if calls.is_ok() {
            collector.call_counts.counting(true, self::now());
            collector.code_moments = Moments::since(self::now());
        }
        if let Some(writer) = event_log {
            collector.log_to(writer);
        }
        // They may cause no event for long, and must be known when another period is set.
        for process in running {
            collector.tasks.get(process, self::now());
        }
        EventLoop {
            events,
            ring,
            collector,
            calls,
            sorter: EventSorter::default(),
            begun: now,
            control: Control::new(),
            minor: MinorFaults::new(now),
            records: 0,
            record_rate: 0.0,
            own: std::process::id(),
            samples: 0.0,
            begun_tasks: 0.0,
            maps: Maps::default(),
            other_maps: Maps::default(),
            is_whole: true,
            adapted: now,
            rate: 0.0,
            bursts: Bursts::new(bursts::FAULTS, now, 2),
            codes: Bursts::new(bursts::CODES, now, 5),
            codes_end: now,
            sees_all_maps: true,
            unseen: BTreeSet::new(),
            readings,
            first,
            may_widen: true,
            was_machine: false,
            dropped: 0.0,
            compared: (0.0, 0.0),
        }
    }

    pub fn run(mut self, stop: &AtomicU64) -> Traced {
        let mut drain = Instant::now();
        while stop.load(Ordering::Acquire) == NEVER {
            let next = drain + self.pause();
            let until = match self.minor.next() {
                Some(window) if self.minor.is_in_window() || window < next => window,
                _ => next,
            };
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            self.is_whole &= !self.minor.pass(&mut self.events);
            // Records of an open window are not read: they would be missing between others.
            if Instant::now() < next || self.minor.is_in_window() {
                continue;
            }
            let since = drain.elapsed();
            self.records = 0;
            self.pass();
            self.record_rate = self.records as f64 / since.as_secs_f64().max(1e-3);
            self.burst();
            self.turn_codes();
            let pause = if self.control.is_first { FIRST_CONTROL } else { CONTROL };
            let elapsed = self.adapted.elapsed();
            if elapsed >= pause || self.samples > STORM && elapsed >= SOON {
                self.adapt();
            }
            drain = Instant::now();
        }
        self.is_whole &= !self.minor.close(&mut self.events);
        self.events.turn(Set::Burst, false);
        self.pass();
        self.events.conclude(&mut self.sorter.unsorted);
        if let Ok(calls) = &mut self.calls {
            calls.end_codes(self.codes_end, &mut self.sorter.unsorted);
            calls.close(&mut self.sorter.unsorted);
        }
        self.sorter.conclude();
        self.collect(Duration::MAX);
        self.collector.runs.end();
        self.end_blocks();
        self.collector.tasks.conclude();
        let used = clock_gettime(ClockId::ThreadCPUTime);
        let is_machine = self.events.scope == Scope::Machine;
        // Of the lost samples, as of those that were read, some are of other programs.
        let dropped = self.dropped + self.collector.dropped.unwrap_or(0.0);
        let SampleTotals { samples, .. } = self.collector.minor;
        self.collector.minor.lost *= if dropped > 0.0 { samples / (samples + dropped) } else { 1.0 };
        let SampleTotals { faults, lost, .. } = self.collector.minor;
        // Counters of CPUs count other programs, too.
        self.minor.count(&mut self.events);
        let counted = if self.was_machine { (faults + lost) as u64 } else { self.minor.all as u64 };
        let events = self.readings.kernel_events();
        let share = |events: u64| if counted > 0 { (events as f64 / counted as f64).min(1.0) } else { 0.0 };
        Traced {
            totals: Totals {
                counted,
                in_windows: Some(self.minor.counted_of(counted)),
                is_machine,
                hinting: share(events.numa_hints),
                events,
                shared_growth: Some(self.readings.shared_growth()).filter(|_| self.begun.elapsed() >= SHARED),
                sees_kernel: self.events.sees_kernel,
                period: self.events.period,
                cpu_seconds: nanoseconds(used) as f64 * 1e-9,
                seconds: self.begun.elapsed().as_secs_f64(),
            },
            unseen: self.unseen,
            calls: self.calls.map(drop),
            collector: self.collector,
        }
    }

    /// Time to the next drain.
    fn pause(&self) -> Duration {
        let counts_calls = self.calls.as_ref().is_ok_and(Calls::is_counting);
        let are_large = self.events.has_most_room();
        let is_at_rest = self.records < FEW_RECORDS && self.begun.elapsed().as_secs_f64() > YOUNG;
        if is_at_rest && are_large && self.ring.is_none() && !counts_calls {
            DRAIN_AT_REST
        } else if self.record_rate >= MANY_RECORDS && !are_large {
            DRAIN_SOON
        } else {
            DRAIN
        }
    }

    /// Reads the rings and collects, for a while, what no unread record can precede.
    fn pass(&mut self) {
        let begins = now();
        let before = self.sorter.unsorted.len();
        self.is_whole &= !self.events.drain(&mut self.sorter.unsorted);
        self.drain_others(begins);
        if let Ok(calls) = &mut self.calls
            && let Err(reason) = calls.pass(&mut self.sorter.unsorted)
        {
            self.calls = Err(reason);
        }
        let read = &self.sorter.unsorted[before..];
        self.records += read.len();
        let mut ended = Vec::new();
        for entry in read {
            self.samples += entry.kind.minor_samples();
            match &entry.kind {
                EventKind::Exit { process, thread } if process == thread => ended.push(*process),
                EventKind::Fork { .. } => self.begun_tasks += 1.0,
                EventKind::Fault(fault) if fault.is_burst => self.bursts.count(1.0),
                EventKind::Code { process, .. } if *process != self.own => self.codes.count(1.0),
                EventKind::LostCodes(codes) => self.codes.count(*codes as f64),
                EventKind::Lost { set: Set::Minor, .. } => self.is_whole = false,
                EventKind::Lost { set: Set::Burst, records, .. } => self.bursts.count(*records as f64),
                _ => {}
            }
        }
        if self.events.scope == Scope::Tasks {
            ended.into_iter().for_each(|process| self.follow(process));
        }
        self.sorter.settle(begins);
        self.collect(if self.sorter.settled.len() > MOST_WAITING { Duration::MAX } else { COLLECTING });
    }

    /// Reads all rings but those of the events.
    fn drain_others(&mut self, now: u64) {
        let read = &mut self.sorter.unsorted;
        self.minor.drain(read);
        if let Some(ring) = &mut self.ring {
            ring.drain(now, false, read);
        }
        if let Ok(calls) = &mut self.calls {
            calls.drain(read);
        }
    }

    /// Opens the events of a process again if the kernel closed them, or notes that this process may not.
    fn follow(&mut self, process: u32) {
        let Some(name) = procfs::name_if_alive(process) else { return };
        let tasks: Vec<u32> = with_descendants([process]).into_iter().flat_map(procfs::tasks_of).collect();
        match self.events.follow(&tasks) {
            Ok(()) => self.turn_opened(),
            // It has ended by now.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(_) => {
                self.unseen.insert(name);
            }
        }
    }

    /// Turns events that have just been opened on or off, as the others of their set are.
    fn turn_opened(&mut self) {
        if !self.sees_all_maps && !self.bursts.is_on() {
            self.events.turn(Set::Maps, false);
        }
        if self.minor.every() > 1 {
            self.events.turn(Set::Minor, false);
        }
        self.events.turn(Set::Burst, self.bursts.is_on());
    }

    fn collect(&mut self, most: Duration) {
        let begun = Instant::now();
        while let Some(mut entry) = self.sorter.settled.pop_front() {
            let is_known = self.collector.is_known(&entry.kind);
            if let EventKind::Map(map) = &mut entry.kind
                && is_known
            {
                map.is_dax = self.collector.tasks.mounts.have(map.process, map.device);
            }
            let maps = if is_known { &mut self.maps } else { &mut self.other_maps };
            maps.count(&entry.kind);
            self.collector.take(entry);
            if begun.elapsed() >= most {
                break;
            }
        }
    }

    fn end_blocks(&mut self) {
        let Some(mut ring) = self.ring.take() else { return };
        let mut rest = Vec::new();
        ring.drain(now(), true, &mut rest);
        rest.into_iter().for_each(|entry| self.collector.take(entry));
        if let Some(blocks) = &mut self.collector.blocks {
            (blocks.programs, blocks.lost) = (ring.programs(), (ring.lost(), ring.unrecorded()));
            blocks.end();
        }
    }

    /// Begins or ends a burst, in which every fault is recorded.
    fn burst(&mut self) {
        let now = Instant::now();
        if self.bursts.is_over(now, !self.sees_all_maps) {
            self.end_burst(now);
        } else if self.bursts.is_due(now) {
            if !self.sees_all_maps {
                self.watch_maps(true);
            }
            self.maps.begin_burst();
            self.events.turn(Set::Burst, true);
            self.bursts.begin(now);
        }
    }

    fn end_burst(&mut self, now: Instant) {
        let seconds = self.bursts.end(now, !self.sees_all_maps);
        self.events.turn(Set::Burst, false);
        self.pass();
        let end = Entry { time: self::now(), kind: EventKind::lost(Set::Burst, 0, 1) };
        self.sorter.unsorted.push(end);
        if !self.sees_all_maps {
            let are_all_counted = self.sorter.settled.is_empty();
            self.sees_all_maps = are_all_counted && self.maps.are_few(seconds);
            if !self.sees_all_maps {
                self.watch_maps(false);
            }
        }
    }

    /// Begins or ends to record the error codes of faults, or a moment of them.
    fn turn_codes(&mut self) {
        let Ok(calls) = &mut self.calls else { return };
        let (now, entries) = (Instant::now(), &mut self.sorter.unsorted);
        if self.codes.is_over(now, false) {
            calls.end_codes(now, entries);
            self.codes.end(now, false);
            return;
        }
        if self.codes.is_due(now) {
            calls.begin_codes(entries);
            self.codes.begin(now);
        } else if self.codes.is_on() && now >= self.codes_end {
            calls.divide_codes(entries);
        } else {
            return;
        }
        self.codes_end = now + CODES_MOMENT.min(self.codes.lasts(self.rate));
    }

    fn watch_maps(&mut self, on: bool) {
        self.events.turn(Set::Maps, on);
        self.sorter.unsorted.push(Entry { time: now(), kind: EventKind::Mappings(on) });
    }

    /// Adjusts the period, so that the number of samples stays near its aim.
    fn adapt(&mut self) {
        let seconds = self.adapted.elapsed().as_secs_f64();
        self.adapted = Instant::now();
        // First the count, then the samples: what is missing among these is not just later.
        let faults = self.minor.count(&mut self.events);
        self.pass();
        let machine_faults = self.readings.memory(&mut self.collector.tasks, &mut self.sorter.unsorted);
        let samples = std::mem::take(&mut self.samples) / seconds;
        self.rate = faults / seconds;
        if self.maps.are_many(seconds) && self.sees_all_maps {
            self.sees_all_maps = false;
            // A burst needs them: it goes on as a short one.
            match self.bursts.is_on() {
                true => {
                    self.maps.begin_burst();
                    self.bursts.begin(self.adapted);
                }
                false => self.watch_maps(false),
            }
        }
        let is_whole = std::mem::replace(&mut self.is_whole, true);
        let others = self.other_maps.are_many(seconds);
        self.choose_scope(machine_faults, others, seconds);
        let tasks = std::mem::take(&mut self.begun_tasks) / seconds;
        let tasks = Some(tasks).filter(|_| self.events.scope == Scope::Tasks);
        let age = self.begun.elapsed().as_secs_f64();
        let cpus = self.readings.cpus(&self.collector.tasks, self.adapted);
        // Those of very many processes are not known: the last known number stays.
        for bursts in [&mut self.bursts, &mut self.codes] {
            bursts.cpus = cpus.or(bursts.cpus);
        }
        let interval = Interval { samples, faults: self.rate, tasks, cpus, seconds, age };
        let old = Sampling { period: self.events.period, every: self.minor.every() };
        let Some(new) = self.control.adapted(old, interval, is_whole) else { return };
        if new.period != old.period {
            let tasks = self.tasks();
            // It fails when all tasks have just ended, or no more files may be opened: then nothing more is sampled, and
            // `faults.coverage`, which compares with the kernel's count, falls.
            let _ = self.events.set_period(new.period, &tasks, &mut self.sorter.unsorted);
        }
        self.minor.set_every(new.every, &mut self.events);
        // Samples of the time that this took are not among those of the next interval.
        self.minor.count(&mut self.events);
        self.adapted = Instant::now();
    }

    /// Turns to events of another scope if that is better. `faults`: those of the machine in these seconds; `are_many`: others map so
    /// much that the program's mappings find no room.
    fn choose_scope(&mut self, faults: f64, are_many: bool, seconds: f64) {
        let wanted = match self.collector.dropped {
            None => {
                let own = self.rate * seconds;
                chosen(Scope::Tasks, own, faults - own, seconds)
            }
            Some(dropped) => {
                let all = (self.collector.minor.samples, dropped);
                let before = std::mem::replace(&mut self.compared, all);
                let wanted = chosen(Scope::Machine, all.0 - before.0, all.1 - before.1, seconds);
                if are_many { Scope::Tasks } else { wanted }
            }
        };
        if wanted != self.events.scope && (self.may_widen || wanted == Scope::Tasks) {
            self.turn_to(wanted);
        }
    }

    fn turn_to(&mut self, scope: Scope) {
        let is_machine = scope == Scope::Machine;
        if self.bursts.is_on() {
            self.end_burst(Instant::now());
        }
        let tasks = self.tasks();
        let turned = self.events.turn_to(scope, &tasks, &mut self.sorter.unsorted);
        // Once others were too many, they may be again.
        self.may_widen = false;
        let Ok(ended) = turned else { return };
        self.drain_others(now());
        self.sorter.settle_before(ended);
        self.collect(Duration::MAX);
        self.dropped += self.collector.dropped.take().unwrap_or(0.0);
        if is_machine {
            // Those that began meanwhile must be known, too.
            for process in with_descendants(self.collector.tasks.processes().collect::<Vec<_>>()) {
                self.collector.tasks.get(process, now());
            }
            (self.was_machine, self.collector.dropped) = (true, Some(0.0));
            self.compared = (self.collector.minor.samples, 0.0);
        }
        self.control = Control::new();
        self.minor.leave_out(&mut self.events);
        self.adapted = Instant::now();
        self.turn_opened();
    }

    /// All tasks, also of processes of which no record has been read yet.
    fn tasks(&self) -> Vec<u32> {
        let processes = self.collector.tasks.processes().chain(self.first.iter().copied());
        let tasks = with_descendants(processes).into_iter().flat_map(procfs::tasks_of);
        let all: BTreeSet<u32> = tasks.chain(self.first.iter().copied()).collect();
        all.into_iter().collect()
    }
}
