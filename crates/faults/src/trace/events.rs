//! The kernel's events of a program and all that it starts, by CPU and ring (perf_event_open(2)).
//!
//! Each of the four sets has a ring of its own for each CPU, so that a flood of one set loses nothing of
//! another:
//!
//! - [`Set::Rare`]: every major fault with its stack; forks, names and ends of tasks; mappings of code;
//! - [`Set::Minor`]: one minor fault in so many, with its stack;
//! - [`Set::Burst`]: every minor fault without its stack, for moments only: exact runs of addresses;
//! - [`Set::Maps`]: every new mapping of data.
//!
//! Events of the program's tasks cost it something each time that it starts a task or leaves a CPU; those of the machine do
//! not, but their records are of all programs ([`Scope`]). An event that children inherit cannot be for all CPUs at once and have a ring
//! (perf_mmap refuses it), so there is one for each CPU. Counters belong to a task: faults of a short-lived task beyond its last
//! sample are not sampled, so the period must be small where tasks are short-lived.

use std::io;
use std::os::fd::AsRawFd;

use figure::CpuList;
use lab::failure::Failure;
use machine::Tree;
use machine::perf::{PARANOID_OWN_PROCESSES, refusal};
use perf_event::data::Visitor;
use perf_event::data::endian::Native;
use perf_event::data::parse::{ParseConfig, Parser};
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, ReadFormat, SampleFlag, Sampler};
use perf_event_open_sys::bindings::perf_event_header;
use perf_event_open_sys::ioctls;
use rustix::thread::gettid;

use super::record::{Entry, EventKind, Reader, Set, registers};
use super::time::now;

/// Bytes of stack that are copied with a sample: perf's default.
const STACK: u32 = 8 << 10;
/// Bytes that no record exceeds: the copy of the stack, a call chain of 127 entries
/// (kernel.perf_event_max_stack) and the rest.
const LARGEST: usize = 16 << 10;
/// Pages of each ring, of which perf_event_mlock_kb allows 129 for each CPU where nothing is privileged.
const PAGES: [(Set, usize); 4] = [(Set::Rare, 16), (Set::Minor, 64), (Set::Burst, 32), (Set::Maps, 8)];
/// A privileged process gets so many times as many at least, and at most: at the first period a program of a
/// million faults a second fills the least in 6 ms and the most in 45 ms. A hypervisor may keep the reader
/// from its CPU for as long.
const PRIVILEGED: [usize; 2] = [8, 64];
/// Beyond that least, all rings together take at most so many bytes, and this part of the memory.
const MOST_BYTES: usize = 128 << 20;
const MEMORY_DIVISOR: usize = 128;
/// All tasks (perf_event_open(2): pid -1).
const ANY: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub enum Target {
    /// A process that is about to execute its program: counting begins then.
    Starting(u32),
    Running(Vec<u32>),
}

impl Target {
    pub fn tasks(&self) -> &[u32] {
        match self {
            Target::Starting(task) => std::slice::from_ref(task),
            Target::Running(tasks) => tasks,
        }
    }
}

/// Whose events are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of all tasks: who reads them drops what is of others. It needs CAP_PERFMON.
    Machine,
    /// Those of the target's tasks, and of all that these start.
    Tasks,
}

struct EventSet {
    set: Set,
    period: u64,
    rings: Vec<Sampler>,
    bytes: usize,
    /// The process whose records are left out.
    without: Option<u32>,
    /// Counters that write into the ring of another one.
    others: Vec<Counter>,
    /// Lost records that were reported: the kernel writes a record of them when there is room again.
    reported: u64,
}

impl EventSet {
    fn counters(&mut self) -> impl Iterator<Item = &mut Counter> {
        self.rings.iter_mut().map(Sampler::as_counter_mut).chain(&mut self.others)
    }

    /// Reads its rings, whose samples stand for so many events; returns whether one of them had no room left, so that records may
    /// be missing.
    fn drain(&mut self, weight: u64, entries: &mut Vec<Entry>) -> bool {
        let reader = Reader { set: self.set, weight, without: self.without };
        let (mut was_full, before) = (false, entries.len());
        for ring in &mut self.rings {
            let bytes = drain(ring, self.bytes, reader, entries);
            was_full |= bytes + LARGEST > self.bytes;
        }
        let lost = entries[before..].iter().map(|entry| match entry.kind {
            EventKind::Lost { records, .. } => records,
            _ => 0,
        });
        self.reported += lost.sum::<u64>();
        was_full
    }

    /// Reads what is left in its rings.
    fn close(mut self, entries: &mut Vec<Entry>) {
        self.drain(self.period, entries);
        entries.extend(self.unreported());
    }

    /// Lost records that no record reported, as none came after them; from the counters (Linux 6.0).
    fn unreported(&mut self) -> Option<Entry> {
        let lost = self.counters().filter_map(|counter| counter.read_full().ok()?.lost()).sum::<u64>();
        let records = lost.checked_sub(self.reported).filter(|records| *records > 0)?;
        self.reported = lost;
        Some(Entry { time: now(), kind: EventKind::lost(self.set, records, self.period) })
    }
}

pub struct Events {
    pub scope: Scope,
    cpus: CpuList,
    /// Whether faults that the kernel takes for the program, in a system call, are counted.
    pub sees_kernel: bool,
    /// Rings have so many times the pages that an unprivileged process may have.
    room: usize,
    /// Whether counters report how many of their records were lost.
    counts_lost: bool,
    /// Whether opening has succeeded once: a task that is refused later has other rights than this process.
    is_open: bool,
    sets: Vec<EventSet>,
    /// One minor fault in so many is sampled.
    pub period: u64,
    /// Minor faults counted by events that have been closed.
    counted: u64,
}

impl Events {
    /// Opens them; `period` is that of minor faults. Bursts are off.
    pub fn open(target: &Target, cpus: &CpuList, period: u64) -> io::Result<Events> {
        let (cpus, sets) = (cpus.clone(), Vec::new());
        let room = room(cpus.len());
        let (sees_kernel, counts_lost, is_open, counted) = (true, true, false, 0);
        let scope = Scope::Tasks;
        let mut events =
            Events { scope, cpus, sees_kernel, room, counts_lost, is_open, sets, period, counted };
        for (set, _) in PAGES {
            let opened = loop {
                match events.open_set(set, target) {
                    // Larger rings and faults in the kernel need privileges (perf_event_paranoid).
                    Err(error) if events.room > 1 && is_forbidden(&error) => events.room = 1,
                    Err(error) if events.sees_kernel && is_forbidden(&error) => events.sees_kernel = false,
                    Err(error) if events.counts_lost && error.raw_os_error() == Some(libc::EINVAL) => {
                        events.counts_lost = false;
                    }
                    opened => break opened?,
                }
            };
            events.sets.push(opened);
            if !matches!(target, Target::Starting(_)) && set != Set::Burst {
                events.enable(set)?;
            }
        }
        events.is_open = true;
        Ok(events)
    }

    /// Turns to events of another scope. Reads what was recorded up to now; the old events go on after an error.
    pub fn turn_to(&mut self, scope: Scope, tasks: &[u32], entries: &mut Vec<Entry>) -> io::Result<()> {
        let mut new = Events { scope, cpus: self.cpus.clone(), sets: Vec::new(), counted: 0, ..*self };
        let target = Target::Running(tasks.to_vec());
        for (set, _) in PAGES {
            let opened = new.open_set(set, &target)?;
            new.sets.push(opened);
        }
        for (set, _) in PAGES {
            self.turn(set, false);
        }
        let on = PAGES.iter().filter(|(set, _)| *set != Set::Burst).try_for_each(|(set, _)| new.enable(*set));
        self.drain(entries);
        self.conclude(entries);
        *self = new;
        on
    }

    /// Samples minor faults of these tasks, and of all that they start, by another period from now on.
    /// After an error nothing is sampled any more.
    pub fn set_period(&mut self, period: u64, tasks: &[u32], entries: &mut Vec<Entry>) -> io::Result<()> {
        let old = std::mem::replace(&mut self.period, period);
        if self.scope == Scope::Machine && self.counts_lost && self.change_period(old, entries)? {
            return Ok(());
        }
        let target = Target::Running(tasks.to_vec());
        // Opening takes milliseconds: the old events sample meanwhile, if there may be so many files and so much memory.
        let opened = self.open_set(Set::Minor, &target);
        let old = self.sets.iter().position(|opened| opened.set == Set::Minor);
        let mut old = old.map(|place| self.sets.remove(place));
        for counter in old.iter_mut().flat_map(EventSet::counters) {
            let _ = counter.disable();
            self.counted += counter.read().unwrap_or(0);
        }
        let mut close = |old: Option<EventSet>| old.into_iter().for_each(|old| old.close(entries));
        let opened = match opened {
            Ok(opened) => opened,
            Err(_) => {
                close(old.take());
                self.open_set(Set::Minor, &target)?
            }
        };
        self.sets.push(opened);
        let enabled = self.enable(Set::Minor);
        close(old);
        enabled
    }

    /// Gives the open events the new period, as no task inherits them. Not if samples were lost: the kernel reports them with later
    /// ones, which stand for another number. Returns whether it was done.
    fn change_period(&mut self, old: u64, entries: &mut Vec<Entry>) -> io::Result<bool> {
        self.turn(Set::Minor, false);
        let new = self.period;
        for opened in self.sets.iter_mut().filter(|opened| opened.set == Set::Minor) {
            opened.drain(old, entries);
            if let Some(lost) = opened.unreported() {
                entries.push(lost);
                return Ok(false);
            }
            opened.period = new;
            opened.counters().try_for_each(|counter| set_period(counter, new))?;
        }
        self.enable(Set::Minor)?;
        Ok(true)
    }

    fn enable(&mut self, set: Set) -> io::Result<()> {
        let mut counters =
            self.sets.iter_mut().filter(|opened| opened.set == set).flat_map(EventSet::counters);
        counters.try_for_each(Counter::enable)
    }

    /// Watches these tasks and all that they start, into the same rings. Bursts are off for them.
    pub fn follow(&mut self, tasks: &[u32]) -> io::Result<()> {
        let mut followed = Vec::new();
        for (place, opened) in self.sets.iter().enumerate() {
            for (cpu, ring) in self.cpus.iter().zip(&opened.rings) {
                let mut builder = self.builder(opened.set, cpu);
                for task in tasks {
                    let mut counter = builder.observe_pid(*task as i32).build()?;
                    join(&counter, ring)?;
                    if opened.set != Set::Burst {
                        counter.enable()?;
                    }
                    followed.push((place, counter));
                }
            }
        }
        for (place, counter) in followed {
            self.sets[place].others.push(counter);
        }
        Ok(())
    }

    /// Turns a set on or off.
    pub fn turn(&mut self, set: Set, on: bool) {
        for counter in self.sets.iter_mut().filter(|opened| opened.set == set).flat_map(EventSet::counters) {
            let _ = if on { counter.enable() } else { counter.disable() };
        }
    }

    /// Reads the rings; returns whether samples of minor faults may be missing that no record has reported
    /// yet: one of their rings was full.
    pub fn drain(&mut self, entries: &mut Vec<Entry>) -> bool {
        for opened in self.sets.iter_mut().filter(|opened| opened.set != Set::Minor) {
            opened.drain(opened.period, entries);
        }
        self.drain_minor(1.0, entries)
    }

    /// The same of samples of minor faults, of a window that stands for so many times its length.
    pub fn drain_minor(&mut self, stands_for: f64, entries: &mut Vec<Entry>) -> bool {
        let weight = (self.period as f64 * stands_for).round() as u64;
        let mut was_full = false;
        for opened in self.sets.iter_mut().filter(|opened| opened.set == Set::Minor) {
            was_full |= opened.drain(weight, entries);
        }
        was_full
    }

    /// The last records: the lost ones that were not reported yet.
    pub fn conclude(&mut self, entries: &mut Vec<Entry>) {
        entries.extend(self.sets.iter_mut().filter_map(EventSet::unreported));
    }

    /// Minor faults that were counted, sampled or not.
    pub fn minor_faults(&mut self) -> u64 {
        let minor = self.sets.iter_mut().filter(|opened| opened.set == Set::Minor);
        let counts = minor.flat_map(EventSet::counters).map(|counter| counter.read().unwrap_or(0));
        self.counted + counts.sum::<u64>()
    }

    /// Opens a set, not enabled: a ring for each CPU, into which the events of all tasks go there.
    fn open_set(&self, set: Set, target: &Target) -> io::Result<EventSet> {
        let (mut rings, mut others): (Vec<Sampler>, Vec<Counter>) = (Vec::new(), Vec::new());
        for cpu in self.cpus.iter() {
            let mut builder = self.builder(set, cpu);
            builder.enable_on_exec(matches!(target, Target::Starting(_)) && set != Set::Burst);
            let mut ring: Option<Sampler> = None;
            let tasks = if self.scope == Scope::Machine { &[ANY][..] } else { target.tasks() };
            for &task in tasks {
                let counter = match builder.observe_pid(task as i32).build() {
                    Ok(counter) => counter,
                    // It has ended since.
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                    Err(error) if self.is_open && is_forbidden(&error) => continue,
                    Err(error) => return Err(error),
                };
                match &ring {
                    None => ring = Some(counter.sampled(self.bytes(set))?),
                    Some(ring) => {
                        join(&counter, ring)?;
                        others.push(counter);
                    }
                }
            }
            rings.extend(ring);
        }
        if rings.is_empty() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let (period, bytes) = (self.period_of(set), self.bytes(set));
        let without = (self.scope == Scope::Machine).then(std::process::id);
        Ok(EventSet { set, period, rings, bytes, without, others, reported: 0 })
    }

    fn builder(&self, set: Set, cpu: u32) -> Builder<'static> {
        let mut builder = builder(set, self.sees_kernel, self.period_of(set));
        if self.counts_lost {
            let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
            builder.read_format(times | ReadFormat::LOST);
        }
        builder.inherit(self.scope == Scope::Tasks).one_cpu(cpu as usize);
        builder
    }

    fn period_of(&self, set: Set) -> u64 {
        if set == Set::Minor { self.period } else { 1 }
    }

    /// Bytes of a ring. perf_event2 adds the page of the head.
    fn bytes(&self, set: Set) -> usize {
        let pages = PAGES.iter().find(|(other, _)| *other == set).map_or(8, |(_, pages)| *pages);
        pages * rustix::param::page_size() * self.room
    }
}

/// Sets the period of an event that no task inherits.
pub fn set_period(counter: &Counter, period: u64) -> io::Result<()> {
    // SAFETY: an open event; the kernel reads the number at this address (it is passed on as it is).
    let done = unsafe { ioctls::PERIOD(counter.as_raw_fd(), (&raw const period).addr() as u64) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets an event write into the ring of another one.
pub fn join(counter: &Counter, ring: &Sampler) -> io::Result<()> {
    // SAFETY: two open events; no memory is passed.
    let done = unsafe { ioctls::SET_OUTPUT(counter.as_raw_fd(), ring.as_raw_fd()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// How many times the unprivileged pages rings may have on so many CPUs: a power of two.
fn room(cpus: usize) -> usize {
    let memory = rustix::system::sysinfo();
    let bytes = (memory.totalram as usize).saturating_mul(memory.mem_unit as usize);
    within(MOST_BYTES.min(bytes / MEMORY_DIVISOR), cpus)
}

fn within(bytes: usize, cpus: usize) -> usize {
    let pages = PAGES.iter().map(|(_, pages)| pages).sum::<usize>();
    let fits = bytes / (pages * rustix::param::page_size() * cpus.max(1));
    let [least, most] = PRIVILEGED;
    (fits + 1).next_power_of_two().div_euclid(2).clamp(least, most)
}

/// An event of a set, of no task and no CPU as yet.
fn builder(set: Set, sees_kernel: bool, period: u64) -> Builder<'static> {
    let event = match set {
        Set::Rare => Software::PAGE_FAULTS_MAJ,
        Set::Minor | Set::Burst => Software::PAGE_FAULTS_MIN,
        Set::Maps => Software::DUMMY,
    };
    let mut builder = Builder::new(event);
    builder.enabled(false).inherit(true).sample_id_all(true).clockid(Clock::MONOTONIC);
    builder.sample(SampleFlag::TID | SampleFlag::TIME);
    if sees_kernel {
        builder.include_kernel();
    }
    builder.sample_period(period);
    if set != Set::Maps {
        // Not PERIOD: with it the kernel writes a sample for every single event (perf_swevent_event).
        builder.sample(SampleFlag::IP | SampleFlag::ADDR);
    }
    if matches!(set, Set::Rare | Set::Minor) {
        sample_stacks(&mut builder);
    }
    match set {
        Set::Rare => {
            builder.mmap(true).mmap2(true).comm(true).comm_exec(true).task(true);
        }
        Set::Maps => {
            builder.mmap_data(true).mmap2(true);
        }
        Set::Minor | Set::Burst => {}
    }
    builder
}

/// Adds to each sample what unwinding needs.
pub fn sample_stacks(builder: &mut Builder) {
    builder.sample(SampleFlag::CALLCHAIN | SampleFlag::REGS_USER | SampleFlag::STACK_USER);
    builder.exclude_callchain_kernel(true).sample_regs_user(registers::MASK).sample_stack_user(STACK);
}

pub fn config(set: Set) -> ParseConfig<Native> {
    ParseConfig::from(*builder(set, true, 1).attrs())
}

/// The entry of a record without its header; `None` if the reader ignores it, or it is damaged.
pub fn entry<R>(kind: u32, misc: u16, bytes: &[u8], config: ParseConfig<Native>, reader: R) -> Option<Entry>
where
    R: for<'r> Visitor<'r, Output = Option<Entry>>,
{
    let size = bytes.len() + size_of::<perf_event_header>();
    let header = perf_event_header { type_: kind, misc, size: size as u16 };
    Parser::new(bytes, config).parse_record_with_header(reader, header).ok().flatten()
}

/// Reads a ring: each record that the reader makes an entry of. Returns the bytes read, which are no more than `most` and a record:
/// others may write as fast as they are read.
pub fn drain<R>(ring: &mut Sampler, most: usize, reader: R, entries: &mut Vec<Entry>) -> usize
where
    R: for<'r> Visitor<'r, Output = Option<Entry>> + Copy,
{
    let config = ring.as_counter().config().clone();
    let mut all = 0;
    while all < most
        && let Some(record) = ring.next_record()
    {
        let bytes = record.to_contiguous();
        all += bytes.len() + size_of::<perf_event_header>();
        entries.extend(entry(record.ty(), record.misc(), bytes.as_ref(), config.clone(), reader));
    }
    all
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// Opens the events of the calling thread, which is pinned to its CPU.
pub fn open_this_thread(period: u64) -> io::Result<Events> {
    let cpu = u32::try_from(rustix::thread::sched_getcpu()).unwrap_or_default();
    Events::open(&Target::Running(vec![this_thread()]), &CpuList::from_iter([cpu]), period)
}

pub fn this_thread() -> u32 {
    gettid().as_raw_nonzero().get().unsigned_abs()
}

pub fn available() -> Result<(), Failure> {
    open_this_thread(1_000_003).map(drop).map_err(|error| explain(&error, 1, 1))
}

pub fn explain(error: &io::Error, tasks: usize, cpus: usize) -> Failure {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Failure::new("the kernel forbids it (perf_event_open)")
            .answer(refusal(&Tree::live(), PARANOID_OWN_PROCESSES)),
        Some(libc::EMFILE | libc::ENFILE) => {
            let files = tasks * cpus * PAGES.len();
            Failure::new(format!("cannot open {files} files, for {tasks} threads on {cpus} CPUs"))
                .advice("raise ulimit -n")
        }
        Some(libc::ESRCH) => Failure::new("it has ended"),
        Some(libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP) => {
            Failure::new("this kernel has no such events (perf_event_open)")
        }
        _ => Failure::new("perf_event_open").answer(error),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::mapping::Mapping;

    #[test]
    fn rings_are_larger_where_there_is_room() {
        let one = 120 * rustix::param::page_size();
        assert_eq!([1, 2, 8, 256].map(|cpus| within(64 * 4 * one, cpus)), [64, 64, 32, 8]);
        assert_eq!([0, 8, 15, 16, 31, 1000].map(|times| within(times * one, 1)), [8, 8, 8, 16, 16, 64]);
    }

    fn run_program() {
        let program = Command::new("/proc/self/exe").arg("--list").stdout(Stdio::null()).status();
        assert!(program.unwrap().success());
    }

    /// The processes of faults in what was recorded while this thread faulted, and a program was run.
    fn sampled(events: &mut Events) -> Vec<u32> {
        let mut entries = Vec::new();
        let region = Mapping::anonymous(64 * rustix::param::page_size()).unwrap();
        events.drain(&mut entries);
        entries.clear();
        (0..region.pages()).for_each(|page| region.write(page));
        run_program();
        events.drain(&mut entries);
        let processes = entries.iter().filter_map(|entry| match &entry.kind {
            EventKind::Fault(fault) => Some(fault.process),
            _ => None,
        });
        processes.collect()
    }

    #[test]
    fn events_turn_to_those_of_the_machine_without_the_watcher_and_back() {
        let (thread, own, cpus) = (this_thread(), std::process::id(), lab::affinity::get().unwrap());
        // It is older than the events, so that it does not inherit them.
        let (fault, faulted) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let waits = (fault.clone(), faulted.clone());
        std::thread::spawn(move || {
            waits.0.wait();
            let region = Mapping::anonymous(1 << 20).unwrap();
            (0..region.pages()).for_each(|page| region.write(page));
            waits.1.wait();
        });
        let mut events = match Events::open(&Target::Running(vec![thread]), &cpus, 3) {
            Ok(events) => events,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let sees_own =
            |events: &mut Events| sampled(events).iter().filter(|process| **process == own).count();
        assert!(sees_own(&mut events) > 10);
        if let Err(error) = events.turn_to(Scope::Machine, &[thread], &mut Vec::new()) {
            assert!(sees_own(&mut events) > 10, "the old ones go on");
            return eprintln!("skipped: {error}");
        }
        for _ in 0..20 {
            let seen = sampled(&mut events);
            assert!(!seen.is_empty() && !seen.contains(&own), "{seen:?}");
        }
        for period in [7, 3] {
            let counted = events.minor_faults();
            events.set_period(period, &[thread], &mut Vec::new()).unwrap();
            assert!(events.minor_faults() >= counted);
            let mut entries = Vec::new();
            run_program();
            events.drain(&mut entries);
            let weights = entries.iter().filter_map(|entry| match &entry.kind {
                EventKind::Fault(fault) if !fault.is_major => Some(fault.weight),
                _ => None,
            });
            assert_eq!(weights.collect::<BTreeSet<_>>(), BTreeSet::from([period]));
        }
        events.turn_to(Scope::Tasks, &[thread], &mut Vec::new()).unwrap();
        assert!(events.scope == Scope::Tasks && sees_own(&mut events) > 10);
        let mut entries = Vec::new();
        fault.wait();
        faulted.wait();
        events.drain(&mut entries);
        let is_other = |entry: &Entry| matches!(&entry.kind, EventKind::Fault(fault) if fault.process == own && fault.thread != thread);
        assert!(!entries.iter().any(is_other), "{entries:?}");
    }

    /// The watcher of a program that rests: every fault of the machine is sampled, while another thread of its own faults all the time.
    #[test]
    fn reading_ends_while_the_reader_itself_faults() {
        let (thread, cpus) = (this_thread(), lab::affinity::get().unwrap());
        let opened = Events::open(&Target::Running(vec![thread]), &cpus, 1).and_then(|mut events| {
            events.turn_to(Scope::Machine, &[thread], &mut Vec::new()).map(|()| events)
        });
        let mut events = match opened {
            Ok(events) => events,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let ends = AtomicBool::new(false);
        let fault = || {
            while !ends.load(Ordering::Relaxed) {
                let region = Mapping::anonymous(1 << 20).unwrap();
                (0..region.pages()).for_each(|page| region.write(page));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(fault);
            for _ in 0..50 {
                let mut entries = Vec::new();
                events.drain(&mut entries);
                let own = std::process::id();
                let is_own =
                    |entry: &&Entry| matches!(&entry.kind, EventKind::Fault(fault) if fault.process == own);
                assert_eq!(entries.iter().filter(is_own).count(), 0);
            }
            ends.store(true, Ordering::Relaxed);
        });
    }

    /// The ring is not read while it runs full, and no later record can report what was lost.
    #[test]
    fn lost_records_are_counted() {
        let thread = this_thread();
        let cpus: CpuList = lab::affinity::get().unwrap();
        let mut events = match Events::open(&Target::Running(vec![thread]), &cpus, 1) {
            Ok(events) if events.counts_lost => events,
            refused => return eprintln!("skipped: {:?}", refused.err()),
        };
        let bytes = 4 * events.bytes(Set::Minor);
        let region = Mapping::anonymous(bytes).unwrap();
        (0..region.pages()).for_each(|page| region.write(page));
        events.turn(Set::Minor, false);
        let mut entries = Vec::new();
        assert!(events.drain(&mut entries), "{} records are no flood", entries.len());
        let samples = entries.iter().filter(|entry| matches!(entry.kind, EventKind::Fault(_))).count() as u64;
        entries.clear();
        events.conclude(&mut entries);
        let lost: Vec<_> = entries.drain(..).map(|entry| entry.kind).collect();
        let [EventKind::Lost { set: Set::Minor, records, events: missed }] = lost[..] else {
            panic!("{lost:?}")
        };
        assert_eq!(records, missed);
        let (sampled, counted) = (records + samples, events.minor_faults());
        assert!(
            sampled.abs_diff(counted) <= cpus.len() as u64,
            "{samples} samples, {records} lost of {counted}"
        );
        events.conclude(&mut entries);
        assert!(entries.is_empty(), "reported once: {entries:?}");
    }
}
