//! The kernel's events of a program and all that it starts, by CPU and ring (perf_event_open(2)).
//!
//! Each of the four sets has a ring of its own for each CPU, so that a flood of one set loses nothing of
//! another:
//!
//! - [`Set::Rare`]: every major fault with its stack; forks, names and ends of tasks; mappings of code;
//! - [`Set::Minor`]: one minor fault in so many, with its stack;
//! - [`Set::Burst`]: every minor fault without its stack, at times: exact runs of addresses;
//! - [`Set::Maps`]: every new mapping of data.
//!
//! Events of the program's tasks cost it something each time that it starts a task or leaves a CPU; those of the machine do
//! not, but their records are of all programs ([`Scope`]). An event that children inherit cannot be for all CPUs at once and have a ring
//! (perf_mmap refuses it), so there is one for each CPU. Counters belong to a task: faults of a short-lived task beyond its last
//! sample are not sampled, so the period must be small where tasks are short-lived.

use std::io;

use figure::CpuList;
use lab::failure::Failure;
use machine::Tree;
use machine::perf::{PARANOID_OWN_PROCESSES, refusal};
use perf_event::{Builder, Counter, ReadFormat, Sampler};
use rustix::thread::gettid;

use super::event_ring::join;
use super::event_set::{self, EventSet, PAGES, bytes, room};
use super::record::{Entry, Set};
use super::time::now;

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

    /// Whether rings are as large as they can be.
    pub fn has_most_room(&self) -> bool {
        self.room == event_set::PRIVILEGED[1]
    }

    /// Turns to events of another scope. Reads what the old ones recorded, and returns when they ended, in ns of CLOCK_MONOTONIC. If new ones
    /// cannot be opened, the old ones go on.
    pub fn turn_to(&mut self, scope: Scope, tasks: &[u32], entries: &mut Vec<Entry>) -> io::Result<u64> {
        let mut new = Events { scope, cpus: self.cpus.clone(), sets: Vec::new(), counted: 0, ..*self };
        let target = Target::Running(tasks.to_vec());
        for (set, _) in PAGES {
            let opened = new.open_set(set, &target)?;
            new.sets.push(opened);
        }
        for (set, _) in PAGES {
            self.turn(set, false);
        }
        let ended = now();
        let on = PAGES.iter().filter(|(set, _)| *set != Set::Burst).try_for_each(|(set, _)| new.enable(*set));
        self.drain(entries);
        self.conclude(entries);
        *self = new;
        on.map(|()| ended)
    }

    /// Samples minor faults of these tasks, and of all that they start, by another period from now on.
    /// After an error nothing is sampled any more.
    pub fn set_period(&mut self, period: u64, tasks: &[u32], entries: &mut Vec<Entry>) -> io::Result<()> {
        self.period = period;
        if self.scope == Scope::Machine && self.counts_lost && self.change_period(entries)? {
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

    /// Gives the open events the new period, where they are not inherited; returns whether that could be done.
    fn change_period(&mut self, entries: &mut Vec<Entry>) -> io::Result<bool> {
        self.turn(Set::Minor, false);
        let Some(minor) = self.sets.iter_mut().find(|opened| opened.set == Set::Minor) else {
            return Ok(false);
        };
        let is_done = minor.change_period(self.period, entries)?;
        if is_done {
            self.enable(Set::Minor)?;
        }
        Ok(is_done)
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
                    None => ring = Some(counter.sampled(bytes(set, self.room))?),
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
        let (period, bytes) = (self.period_of(set), bytes(set, self.room));
        let without = (self.scope == Scope::Machine).then(std::process::id);
        Ok(EventSet::new(set, period, bytes, without, rings, others))
    }

    fn builder(&self, set: Set, cpu: u32) -> Builder<'static> {
        let mut builder = event_set::builder(set, self.sees_kernel, self.period_of(set));
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

    use super::super::record::EventKind;
    use super::*;
    use crate::mapping::Mapping;

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
            events.turn_to(Scope::Machine, &[thread], &mut Vec::new()).map(|_| events)
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
        let bytes = 4 * bytes(Set::Minor, events.room);
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
