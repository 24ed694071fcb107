//! Calls for memory, by the kernel's tracepoints: mmap, munmap, mremap, brk, madvise. Every call is counted,
//! and one in so many is sampled with its stack. In bursts also the error codes of faults, which show what
//! page each met.
//!
//! While a system call is traced, all calls of all programs take a slower path through the kernel; and an
//! event of a task is opened again for each thread that the task starts. So these events belong to CPUs, not
//! to tasks, and are open for moments only, unless the options ask for all calls. They need CAP_PERFMON; the
//! [collector](super::collect) drops the calls of other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{io, mem};

use figure::CpuList;
use figure::stats::Random;
use lab::failure::Failure;
use perf_event::data::endian::Native;
use perf_event::data::parse::ParseConfig;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};
use rustix::process::{Resource, getrlimit, setrlimit};

use super::control::prime_from;
use super::event_ring::{drain, join, sample_registers, sample_stacks, set_period};
use super::record::{Entry, EventKind};
use super::time::{at, now, varied};
use super::tracefs::{Format, Tracefs};
use reader::{Reader, Set, TRACED};

pub mod reader;

/// The first moment, which covers a program of some tenths of a second; each later one, with many calls and with few.
const FIRST: Duration = Duration::from_millis(200);
const MOMENT: Duration = Duration::from_millis(50);
const LONG_MOMENT: Duration = Duration::from_millis(200);
/// The mean time from the first to the second; from each to the next it is twice as long, and then a second.
const SOON: Duration = Duration::from_millis(300);
const LATER: u32 = 2;
const EVERY: Duration = Duration::from_secs(1);
/// Recorded calls that are many for a moment.
const MANY: u64 = 100;
/// Stacks per second of counting that are aimed at, for each call: in moments, and all the time.
const AIM: (f64, f64) = (1000.0, 60.0);
/// Up to so many of each call in a second every one is recorded; beyond that one in so many. More for brk:
/// its bytes are a difference to the call before.
const ALL: [f64; TRACED.len()] = [5000.0, 5000.0, 5000.0, 50_000.0, 5000.0];
const FIRST_PERIOD: u64 = 7;
/// A CPU records at least so many stacks, and calls, of each moment, however long the period should be.
const LEAST: (f64, f64) = (4.0, 20.0);
/// Time between two adjustments of the periods.
const CONTROL: Duration = Duration::from_millis(20);
/// Pages of a CPU's rings, by set.
const PAGES: [usize; 4] = [64, 64, 64, 8];
/// Whether the bits of a fault's error code are known: those of x86.
const KNOWS_CODES: bool = cfg!(target_arch = "x86_64");

/// The calls of the whole machine.
pub struct Calls {
    cpus: CpuList,
    formats: Vec<Format>,
    /// The format of page_fault_user.
    codes: Result<Format, Failure>,
    is_always: bool,
    stop: Arc<AtomicU64>,
    random: Random,
    open: Option<Moment>,
    /// When the moment ends; between two moments, when the next begins.
    next: Instant,
    /// The mean time from this moment to the next.
    every: Duration,
    faults: Vec<Ring>,
    /// The format of task_newtask, and its rings. They are open all the time, as a process is forked before
    /// its calls are counted. `None` if this kernel has no such tracepoint.
    forks: (Option<Format>, Vec<Ring>),
    /// Periods of stacks and of counts, by call.
    periods: [[u64; TRACED.len()]; 2],
}

/// A time in which calls are counted.
struct Moment {
    stacks: Vec<Ring>,
    counts: Vec<Ring>,
    begun: Instant,
    /// Calls that were recorded.
    recorded: u64,
    /// Calls since the last adjustment, and when that was.
    calls: [f64; TRACED.len()],
    adapted: Instant,
}

struct Ring {
    ring: Sampler,
    bytes: usize,
    /// Other counters that write into it.
    others: Vec<Counter>,
}

impl Calls {
    /// Begins to count at once. `is_always`: all the time, and not in moments. `stop`: when counting ends, in
    /// ns of CLOCK_MONOTONIC; the largest number until that is known.
    pub fn open(cpus: &CpuList, is_always: bool, stop: Arc<AtomicU64>) -> Result<Calls, Failure> {
        let tracefs = Tracefs::open()?;
        let formats: Result<Vec<Format>, Failure> =
            TRACED.iter().map(|name| tracefs.format(&format!("syscalls/{name}"))).collect();
        let codes = if KNOWS_CODES {
            tracefs.format("exceptions/page_fault_user")
        } else {
            Err(Failure::new("the error codes of faults are known on x86 only"))
        };
        let mut calls = Calls {
            cpus: cpus.clone(),
            formats: formats?,
            codes,
            is_always,
            stop,
            random: Random::new(1),
            open: None,
            next: Instant::now() + FIRST,
            every: SOON,
            faults: Vec::new(),
            forks: (tracefs.format("task/task_newtask").ok(), Vec::new()),
            periods: [[FIRST_PERIOD; TRACED.len()], [1; TRACED.len()]],
        };
        // Two rings for each CPU, with an event for each call.
        let mut files = getrlimit(Resource::Nofile);
        files.current = files.maximum;
        let _ = setrlimit(Resource::Nofile, files);
        if let Some(format) = &calls.forks.0 {
            calls.forks.1 = calls.rings(Set::Forks, std::slice::from_ref(format))?;
        }
        calls.open = Some(calls.moment()?);
        Ok(calls)
    }

    /// Begins or ends a moment after the rings were read. After a failure nothing more is counted.
    pub fn pass(&mut self, entries: &mut Vec<Entry>) -> Result<(), Failure> {
        self.adapt();
        let at = Instant::now();
        if at < self.next {
            return Ok(());
        }
        if self.is_always {
            // Counting goes on: each second is a window of its own.
            let time = self.time();
            entries.extend([false, true].map(|on| Entry { time, kind: EventKind::Counting(on) }));
            self.next = at + EVERY;
        } else if let Some(moment) = &self.open {
            let length = moment.begun.elapsed();
            if moment.recorded >= MANY || length >= LONG_MOMENT {
                self.close(entries);
                self.next = at + varied(self.every, &mut self.random).saturating_sub(length);
                self.every = (self.every * LATER).min(EVERY);
            }
        } else {
            self.open = Some(self.moment()?);
            entries.push(Entry { time: self.time(), kind: EventKind::Counting(true) });
            self.next = at + MOMENT;
        }
        Ok(())
    }

    pub fn is_counting(&self) -> bool {
        self.open.is_some()
    }

    pub fn close(&mut self, entries: &mut Vec<Entry>) {
        self.drain(entries);
        if let Some(moment) = self.open.take() {
            entries.push(Entry { time: self.time(), kind: EventKind::Counting(false) });
            close(moment.stacks.into_iter().chain(moment.counts));
        }
    }

    /// Records the error codes of faults from now on, if that is possible.
    pub fn begin_codes(&mut self, entries: &mut Vec<Entry>) {
        let Ok(format) = self.codes.clone() else { return };
        match self.rings(Set::Codes, &[format]) {
            Ok(rings) => {
                self.faults = rings;
                entries.push(Entry { time: self.time(), kind: EventKind::Codes(true) });
            }
            Err(failure) => self.codes = Err(failure),
        }
    }

    /// Ends a moment in which error codes are recorded, and begins another.
    pub fn divide_codes(&mut self, entries: &mut Vec<Entry>) {
        if !self.faults.is_empty() {
            let time = self.time();
            entries.extend([false, true].map(|on| Entry { time, kind: EventKind::Codes(on) }));
        }
    }

    /// Records no more error codes. A moment that the program's end cuts short stands for what one until `end` does.
    pub fn end_codes(&mut self, end: Instant, entries: &mut Vec<Entry>) {
        if self.faults.is_empty() {
            return;
        }
        disable(&mut self.faults);
        let time = self.time().max(at(end));
        self.drain(entries);
        entries.push(Entry { time, kind: EventKind::Codes(false) });
        close(mem::take(&mut self.faults));
    }

    /// Nanoseconds of CLOCK_MONOTONIC, at most `stop`: a late reader goes on after the program has ended.
    fn time(&self) -> u64 {
        now().min(self.stop.load(Ordering::Acquire))
    }

    fn moment(&self) -> Result<Moment, Failure> {
        let (stacks, counts) =
            (self.rings(Set::Stacks, &self.formats)?, self.rings(Set::Counts, &self.formats)?);
        let now = Instant::now();
        Ok(Moment { stacks, counts, begun: now, recorded: 0, calls: [0.0; TRACED.len()], adapted: now })
    }

    /// Opens a ring for each CPU, into which all of these tracepoints write.
    fn rings(&self, set: Set, formats: &[Format]) -> Result<Vec<Ring>, Failure> {
        let bytes = PAGES[set as usize] * rustix::param::page_size();
        let open = |cpu: u32| -> io::Result<Ring> {
            let mut counters = Vec::new();
            for (call, format) in formats.iter().enumerate() {
                let period = self.periods.get(set as usize).map_or(1, |periods| periods[call]);
                counters.push(builder(set, format.id, period, cpu).build()?);
            }
            let mut counters = counters.into_iter();
            let first = counters.next().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
            let ring = Ring { ring: first.sampled(bytes)?, bytes, others: counters.collect() };
            for other in &ring.others {
                join(other, &ring.ring)?;
            }
            Ok(ring)
        };
        let opened = || {
            let mut rings = self.cpus.iter().map(open).collect::<io::Result<Vec<Ring>>>()?;
            rings.iter_mut().flat_map(Ring::counters).try_for_each(Counter::enable)?;
            Ok(rings)
        };
        opened().map_err(|error| explain(&error))
    }

    /// Reads the rings.
    pub fn drain(&mut self, entries: &mut Vec<Entry>) {
        let Calls { formats, codes, open, faults, forks, periods, .. } = self;
        if let Some(moment) = open {
            for (set, rings) in [(Set::Stacks, &mut moment.stacks), (Set::Counts, &mut moment.counts)] {
                let before = entries.len();
                let reader = Reader { set, formats, periods: &periods[set as usize] };
                rings.iter_mut().for_each(|ring| ring.drain(reader, entries));
                for entry in entries[before..].iter().filter(|_| set == Set::Counts) {
                    if let EventKind::Call(call) = &entry.kind {
                        moment.calls[call.arguments.place()] += call.by.weight as f64;
                        moment.recorded += 1;
                    }
                }
            }
        }
        if let Ok(format) = codes {
            let reader = Reader { set: Set::Codes, formats: std::slice::from_ref(format), periods: &[1] };
            faults.iter_mut().for_each(|ring| ring.drain(reader, entries));
        }
        if let (Some(format), rings) = forks {
            let reader = Reader { set: Set::Forks, formats: std::slice::from_ref(format), periods: &[1] };
            rings.iter_mut().for_each(|ring| ring.drain(reader, entries));
        }
    }

    /// Adjusts the periods, so that the numbers of stacks and of recorded calls stay near their aims.
    fn adapt(&mut self) {
        let Some(moment) = &mut self.open else { return };
        let seconds = moment.adapted.elapsed();
        if seconds < CONTROL {
            return;
        }
        let counted = mem::take(&mut moment.calls);
        moment.adapted = Instant::now();
        let aim = if self.is_always { AIM.1 } else { AIM.0 };
        let length = if self.is_always { EVERY } else { MOMENT }.as_secs_f64();
        let cpus = self.cpus.len().max(1) as f64;
        for (call, calls) in counted.iter().enumerate() {
            let rate = calls / seconds.as_secs_f64();
            let on_one = rate / cpus * length;
            let wanted = [(rate / aim).min(on_one / LEAST.0), (rate / ALL[call]).min(on_one / LEAST.1)];
            for (set, (rings, wanted)) in
                [&mut moment.stacks, &mut moment.counts].into_iter().zip(wanted).enumerate()
            {
                let (period, new) = (self.periods[set][call], prime_from(wanted.max(1.0) as u64));
                if new as f64 > period as f64 * 1.5 || (new as f64) < period as f64 / 1.5 {
                    let events = rings.iter_mut().filter_map(|ring| ring.counters().nth(call));
                    if events.filter(|event| set_period(event, new).is_ok()).count() == self.cpus.len() {
                        self.periods[set][call] = new;
                    }
                }
            }
        }
    }
}

impl Ring {
    fn counters(&mut self) -> impl Iterator<Item = &mut Counter> {
        std::iter::once(self.ring.as_counter_mut()).chain(&mut self.others)
    }

    fn drain(&mut self, reader: Reader, entries: &mut Vec<Entry>) {
        drain(&mut self.ring, self.bytes, reader, entries);
    }
}

fn disable(rings: &mut [Ring]) {
    for counter in rings.iter_mut().flat_map(Ring::counters) {
        let _ = counter.disable();
    }
}

/// Closes rings on another thread: the kernel may take tens of milliseconds to be sure that no CPU is within
/// a tracepoint, and the other rings must be drained meanwhile.
fn close(rings: impl IntoIterator<Item = Ring>) {
    let mut rings: Vec<Ring> = rings.into_iter().collect();
    disable(&mut rings);
    let mut all: Vec<Counter> = Vec::new();
    for Ring { ring, others, .. } in rings {
        all.push(ring.into_counter());
        all.extend(others);
    }
    if !all.is_empty() {
        // If no thread can be started, they are dropped here.
        let _ = std::thread::Builder::new().name("close".to_owned()).spawn(move || drop(all));
    }
}

fn builder(set: Set, id: u64, period: u64, cpu: u32) -> Builder<'static> {
    let mut builder = Builder::new(Tracepoint::with_id(id));
    builder.enabled(false).any_pid().one_cpu(cpu as usize).include_kernel();
    builder.sample_id_all(true).clockid(Clock::MONOTONIC).sample_period(period);
    builder.sample(SampleFlag::TID | SampleFlag::TIME | SampleFlag::IP | SampleFlag::RAW);
    match set {
        Set::Stacks => sample_stacks(&mut builder),
        Set::Codes => sample_registers(&mut builder),
        Set::Counts | Set::Forks => {}
    }
    builder
}

pub fn config(set: Set) -> ParseConfig<Native> {
    ParseConfig::from(*builder(set, 0, 1, 0).attrs())
}

fn explain(error: &io::Error) -> Failure {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            Failure::new("the kernel lets only privileged processes trace calls (CAP_PERFMON)")
                .advice("run truebench as root")
        }
        Some(libc::EMFILE | libc::ENFILE) => {
            Failure::new("cannot open so many files").advice("raise ulimit -n")
        }
        _ => Failure::new("perf_event_open").answer(error),
    }
}

#[cfg(test)]
mod unit {
    use super::super::record::{Call, CallArguments};
    use super::super::time::NEVER;
    use super::*;

    /// The calls of this thread are counted with their sizes and stacks, or there is a reason why not.
    #[test]
    fn calls_of_this_process_are_counted() {
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
        let cpus: CpuList = online.trim().parse().unwrap();
        let mut calls = match Calls::open(&cpus, true, Arc::new(AtomicU64::new(NEVER))) {
            Ok(calls) => calls,
            Err(failure) => {
                let reason = failure.to_string();
                assert!(reason.contains("root") || reason.contains("kernel"), "{reason}");
                return;
            }
        };
        const ODD: usize = 13 * 4096 * 257;
        for _ in 0..200 {
            // SAFETY: a fresh mapping that no other code knows of.
            unsafe {
                let at = libc::mmap(
                    std::ptr::null_mut(),
                    ODD,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                );
                assert_ne!(at, libc::MAP_FAILED);
                libc::munmap(at, ODD);
            }
        }
        let mut entries = Vec::new();
        calls.close(&mut entries);
        let count = |is_it: fn(CallArguments) -> bool, has_stack: bool| {
            let is_it = |call: &Call| is_it(call.arguments) && call.has_stack == has_stack;
            entries.iter().filter(|entry| matches!(&entry.kind, EventKind::Call(call) if is_it(call))).count()
        };
        const BYTES: u64 = ODD as u64;
        let is_unmap = |arguments| matches!(arguments, CallArguments::Unmap { start: 1.., bytes: BYTES });
        let is_map = |arguments| arguments == CallArguments::Map { bytes: BYTES, is_file: false };
        assert_eq!(count(is_unmap, false), 200, "every one");
        assert_eq!(count(is_map, false), 200);
        let stacks = count(is_unmap, true);
        assert!((1..=200).contains(&stacks), "{stacks}");
        assert!(matches!(entries.last().unwrap().kind, EventKind::Counting(false)));
    }
}
