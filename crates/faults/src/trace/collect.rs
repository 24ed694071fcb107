//! Collects faults by program and kind of memory, with evidence of their causes, from [`Entry`]s in order.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use suites::faults::Memory;

use super::block_faults::BlockFaults;
use super::call_counts::{CallCounts, Caller, kind};
use super::error_codes::Moments;
use super::event_log::Writer;
use super::frame::{Frames, Site};
use super::group::{Group, Key, effective_size};
use super::pages::{Pages, Touch};
use super::procfs::{ProcessSnapshot, SnapshotSource};
use super::record::{BlockRecord, Call, CallArguments, Entry, EventKind, Fault, Set};
use super::runs::Runs;
use super::tasks::{Process, Tasks};

const MOST_STACKS: usize = 50_000;
const MOST_READ: usize = 1 << 20;
/// Bytes of the header of a mapping of glibc's malloc (struct malloc_chunk: the size before, and the size).
const HEADER: u64 = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleTotals {
    pub samples: f64,
    /// Faults that they represent.
    pub faults: f64,
    /// Faults that lost samples represent.
    pub lost: f64,
}

#[derive(Default)]
pub struct Collector {
    pub tasks: Tasks,
    /// Keys of the groups, in their order.
    pub keys: Vec<Key>,
    pub groups: Vec<Group>,
    pub frames: Frames,
    /// Sites with their minor and major faults.
    pub sites: HashMap<Site, (f64, f64)>,
    pub pages: Pages,
    pub runs: Runs,
    pub blocks: Option<BlockFaults>,
    pub minor: SampleTotals,
    /// The sum of the squares of the weights of samples, those of a window taken together.
    squares: f64,
    /// The weights of samples in the open window.
    window: Option<f64>,
    /// Records of tasks and mappings: those that were read, and those that were lost.
    pub task_records: (f64, f64),
    /// Whether new mappings of data are not recorded.
    misses_mappings: bool,
    /// If records are of the whole machine: samples of minor faults of unknown processes, which are dropped with all other records
    /// of these.
    pub dropped: Option<f64>,
    /// Faults in bursts, and those whose error codes were recorded.
    pub burst: f64,
    pub codes: f64,
    pub call_counts: CallCounts,
    pub code_moments: Moments,
    /// Pages of files that were read from the disk.
    read_pages: HashSet<(Rc<str>, u64)>,
    pub event_log: Option<Writer>,
    by_key: HashMap<Key, u32>,
    pub page: u64,
}

impl Collector {
    pub fn new(page: u64) -> Collector {
        Collector { page, ..Collector::default() }
    }

    /// Writes all events from now on to a file.
    pub fn log_to(&mut self, writer: Writer) {
        self.event_log = Some(writer);
        self.tasks.source = SnapshotSource::Recording(Vec::new());
    }

    /// A collector for the events of an event log: the programs' files are not on this machine.
    pub fn for_replay(page: u64, snapshots: HashMap<u32, Vec<(u64, ProcessSnapshot)>>) -> Collector {
        let mut collector = Collector { frames: Frames::without_files(), ..Collector::new(page) };
        collector.tasks.source = SnapshotSource::Replay(snapshots);
        collector
    }

    /// The samples as so many independent ones of equal weight: a window is a cluster whose members are all the same.
    pub fn effective(&self) -> SampleTotals {
        let samples = effective_size(self.minor.faults, self.squares);
        SampleTotals { samples: self.minor.samples.min(samples), ..self.minor }
    }

    pub fn take(&mut self, entry: Entry) {
        if !self.is_known(&entry.kind) {
            let is_sample =
                matches!(&entry.kind, EventKind::Fault(fault) if !fault.is_burst && !fault.is_major);
            self.dropped = self.dropped.map(|dropped| dropped + f64::from(u8::from(is_sample)));
            return;
        }
        if let Some(writer) = &mut self.event_log {
            writer.entry(&entry);
        }
        self.add(entry);
        let recorded = (&mut self.event_log, &mut self.tasks.source);
        if let (Some(writer), SnapshotSource::Recording(snapshots)) = recorded {
            snapshots.drain(..).for_each(|(time, snapshot)| writer.snapshot(time, &snapshot));
        }
    }

    /// Whether it is of a process that is watched.
    pub fn is_known(&self, kind: &EventKind) -> bool {
        let process = match kind {
            _ if self.dropped.is_none() => return true,
            EventKind::Fault(fault) => fault.process,
            EventKind::Map(map) => map.process,
            EventKind::Fork { parent, .. } => *parent,
            EventKind::Name { process, .. } | EventKind::Exit { process, .. } => *process,
            _ => return true,
        };
        self.tasks.knows(process)
    }

    fn add(&mut self, entry: Entry) {
        let time = entry.time;
        if let Some(blocks) = &mut self.blocks {
            blocks.task_event(&entry);
        }
        if entry.kind.is_task_record() {
            self.task_records.0 += 1.0;
        }
        match entry.kind {
            EventKind::Block(block) => self.block(&block, time),
            EventKind::Fault(fault) => self.fault(&fault, time),
            EventKind::Map(map) => self.tasks.map(&map, time),
            EventKind::Fork { process, parent, .. } => self.tasks.fork(process, parent, time),
            EventKind::Name { process, thread, name, exec } => self.tasks.name(process, thread, &name, exec),
            EventKind::Exit { process, thread } => {
                self.runs.end_of(thread);
                self.tasks.exit(process, thread);
            }
            EventKind::Call(call) => self.call(&call, time),
            EventKind::Counting(on) => {
                if self.call_counts.counting(on, time) {
                    self.tasks.forget_heaps();
                }
            }
            EventKind::Uncounted(calls) => {
                self.call_counts.lost += calls as f64;
                self.tasks.forget_heaps();
            }
            EventKind::Shares(parent) => self.tasks.share(parent),
            EventKind::Code { process, address, sp, code } => self.code((process, address), sp, code),
            EventKind::Codes(true) => self.code_moments.begin(time),
            EventKind::Codes(false) => {
                let weight = self.code_moments.end(time);
                for group in &mut self.groups {
                    group.codes.end(weight, group.in_user);
                    group.forked_codes.end(weight, group.in_user);
                }
            }
            EventKind::LostCodes(codes) => {
                self.code_moments.count(0.0, codes as f64);
            }
            EventKind::Resident(process, memory) => self.tasks.resident(process, memory, self.page),
            EventKind::Mappings(on) => self.misses_mappings = !on,
            EventKind::Window(true) => self.window = Some(0.0),
            EventKind::Window(false) => self.squares += self.window.take().unwrap_or(0.0).powi(2),
            EventKind::Lost { set: Set::Minor, events, .. } => self.minor.lost += events as f64,
            EventKind::Lost { set: Set::Burst, .. } => self.runs.end(),
            EventKind::Lost { records, .. } => {
                self.task_records.1 += records as f64;
                // A fork or an exec may be among them.
                if records > 0 {
                    self.tasks.forget_heaps();
                }
            }
        }
    }

    fn fault(&mut self, fault: &Fault, time: u64) {
        let process = self.tasks.with_address(fault.process, fault.address, time).clone();
        let key = Key::of(&process, fault.address, fault.regs.map(|regs| regs.sp));
        let group = self.group(key);
        self.count(group, &process, fault, time);
        if !fault.is_burst && !fault.is_major && !key.is_inherited {
            self.tasks.touched(fault.process, key.memory, fault.weight as f64);
        }
        if fault.is_burst {
            return;
        }
        let frames = self.frames.of(fault, &process);
        let thread = self.tasks.name_of(fault.process, fault.thread);
        let site = Site { group, thread, frames };
        if let (Some(blocks), false) = (&mut self.blocks, fault.is_major) {
            blocks.fault(fault, time, &site);
        }
        let weight = fault.weight as f64;
        let (minor, major) = if fault.is_major { (0.0, weight) } else { (weight, 0.0) };
        if self.sites.len() < MOST_STACKS || self.sites.contains_key(&site) {
            let sum = self.sites.entry(site).or_default();
            *sum = (sum.0 + minor, sum.1 + major);
        }
    }

    fn block(&mut self, block: &BlockRecord, time: u64) {
        let stack = block.stack.as_ref().map(|(stack, chance)| {
            let process = self.tasks.with_address(stack.process, stack.ip, time).clone();
            (self.frames.of(stack, &process), *chance)
        });
        if let Some(blocks) = &mut self.blocks {
            blocks.record(&block.entry, stack);
        }
    }

    fn count(&mut self, number: u32, process: &Process, fault: &Fault, time: u64) {
        let Some(group) = self.groups.get_mut(number as usize) else { return };
        let weight = fault.weight as f64;
        let area = process.space.find(fault.address);
        if let Some(name) = area.and_then(|(_, area)| area.file().map(|_| area.name.clone())) {
            let sum = group.files.entry(name).or_default();
            let (minor, major) = if fault.is_major { (0.0, weight) } else { (weight, 0.0) };
            *sum = if fault.is_burst { *sum } else { (sum.0 + minor, sum.1 + major) };
        }
        let page = fault.address / self.page;
        if fault.is_burst {
            self.burst += 1.0;
            self.runs.note(fault.thread, number, page);
        } else if fault.is_major {
            group.major += weight;
        } else {
            group.minor += weight;
            group.in_user += if fault.in_kernel { 0.0 } else { weight };
            group.samples += 1.0;
            self.minor.samples += 1.0;
            self.minor.faults += weight;
            match &mut self.window {
                Some(window) => *window += weight,
                None => self.squares += weight * weight,
            }
            self.call_counts.fault(process.program, weight);
        }
        // A page that was swapped out is not a first touch.
        if fault.is_major {
            let file = area.filter(|(_, area)| area.file().is_some());
            let page = file
                .map(|(start, area)| (area.name.clone(), (fault.address - start + area.offset) / self.page));
            if let Some(page) = page.filter(|_| self.read_pages.len() < MOST_READ)
                && !self.read_pages.insert(page)
            {
                group.major_again += weight;
            }
            return;
        }
        let Fault { thread, is_burst, .. } = *fault;
        let touch = Touch { group: number, thread, time, weight: fault.weight, is_burst };
        let before = self.pages.note(process.id, page, touch);
        let is_header = fault.address % self.page < HEADER;
        let is_heap = area.is_some_and(|(_, area)| area.is_heap());
        match area {
            Some((start, area))
                if !is_heap && area.since > 0 && area.joined == area.since && start / self.page == page =>
            {
                let code = process.space.find(fault.ip).map_or("", |(_, area)| &*area.name);
                let came_back = before.is_some_and(|before| area.since > before);
                let pages = (area.end - start) / self.page;
                group.headers.first(fault.ip, pages, is_header && is_c_library(code), came_back);
            }
            // It may be the header of a mapping that merged with others.
            Some((_, area)) if is_header && area.joined > area.since => {}
            _ => group.headers.other(fault.ip),
        }
        if let Some(before) = before {
            let refaults = &mut group.refaults;
            let event = if area.is_some_and(|(_, area)| area.since > before) {
                Some(if is_heap { &mut refaults.heap_cut } else { &mut refaults.mapped })
            } else if process.has_forked_since(before, area.map(|(_, area)| area)) {
                Some(&mut refaults.forked)
            } else if area.is_some_and(|(_, area)| area.joined > before) {
                Some(&mut refaults.maybe_mapped)
            } else {
                Some(&mut refaults.no_event).filter(|_| !self.misses_mappings)
            };
            if let Some(event) = event {
                // Of a burst each fault is recorded, and stands for itself.
                *event += weight;
                refaults.squares += weight * weight;
            }
        }
    }

    /// A call for memory of any process of the machine.
    fn call(&mut self, call: &Call, time: u64) {
        let number = call.by.process;
        if !self.tasks.knows(number) && !self.call_counts.watched.contains(&number) {
            return;
        }
        let process = self.tasks.get(number, time).clone();
        let step = match call.arguments {
            CallArguments::Break { end } => {
                let mut heap = process.heap.get();
                let step = match (call.has_stack, call.by.weight) {
                    (true, _) => heap.peek(end),
                    (false, 1) => heap.moved(end),
                    (false, _) => heap.sampled(end),
                };
                process.heap.set(heap);
                step
            }
            arguments => kind(arguments).map(|(kind, bytes)| {
                let known = Some(bytes).filter(|bytes| self.tasks.had_mapped(number, *bytes, time));
                (kind, known.map(|bytes| bytes - reserved(&process, arguments)))
            }),
        };
        let Some((kind, bytes)) = step else { return };
        let weight = call.by.weight as f64;
        let memory = match call.arguments {
            CallArguments::Break { .. } => Memory::Heap,
            CallArguments::Unmap { start, .. } | CallArguments::Advise { start, .. } => {
                process.space.memory(start, None)
            }
            CallArguments::Map { .. } | CallArguments::Remap { .. } => Memory::Mapping,
        };
        if !call.has_stack {
            return self.call_counts.count(process.program, (kind, memory), bytes, weight);
        }
        let frames = self.frames.of(&call.by, &process);
        let caller = Caller { program: process.program, call: kind, memory, frames };
        self.call_counts.caller(caller, bytes, weight);
    }

    /// The error code of a fault of any process of the machine.
    fn code(&mut self, (number, address): (u32, u64), sp: Option<u64>, code: u64) {
        const WRITES: u64 = 2;
        const WRITES_PRESENT_PAGE: u64 = 3;
        if !self.code_moments.count(1.0, 0.0) || !self.tasks.knows(number) {
            return;
        }
        self.codes += 1.0;
        let process = self.tasks.get(number, 0);
        let key = Key::of(process, address, sp);
        let before = self.pages.last(process.id, address / self.page);
        let area = process.space.find(address).map(|(_, area)| area);
        let was_there = before.is_some_and(|before| process.has_forked_since(before, area));
        let group = self.by_key.get(&key).and_then(|group| self.groups.get_mut(*group as usize));
        if let Some(group) = group {
            let (writes, copies) = (code & WRITES != 0, code & WRITES_PRESENT_PAGE == WRITES_PRESENT_PAGE);
            group.codes.add(writes, copies);
            if was_there {
                group.forked_codes.add(writes, copies);
            }
        }
    }

    fn group(&mut self, key: Key) -> u32 {
        *self.by_key.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.groups.push(Group::default());
            (self.keys.len() - 1) as u32
        })
    }
}

/// Whether a file is a C library, by its name.
pub fn is_c_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    ["libc.so", "libc-2.", "ld-musl", "libc.musl"].iter().any(|begin| name.starts_with(begin))
}

/// Bytes of an unmapping that were only reserved: no page of them was there.
fn reserved(process: &Process, arguments: CallArguments) -> u64 {
    match arguments {
        CallArguments::Unmap { start, bytes } => process.space.reserved(start, bytes),
        _ => 0,
    }
}

#[cfg(test)]
mod unit {
    use super::super::record::Map;
    use super::*;

    #[test]
    fn a_page_of_a_file_that_is_read_twice() {
        let mut collector = Collector::new(4096);
        let name = EventKind::Name { process: 7, thread: 7, name: "p".to_owned(), exec: true };
        let map = |start| {
            let name = "/data/file".to_owned();
            EventKind::Map(Map {
                process: 7,
                start,
                end: start + 0x10_0000,
                offset: 0x1000,
                name,
                ..Map::default()
            })
        };
        let read = |address| {
            EventKind::Fault(Box::new(Fault {
                process: 7,
                address,
                weight: 1,
                is_major: true,
                ..Fault::default()
            }))
        };
        // The second mapping has the same pages.
        let events =
            [name, map(0x10_0000), read(0x10_3000), read(0x10_5000), map(0x90_0000), read(0x90_3000)];
        for (kind, time) in events.into_iter().zip(1..) {
            collector.take(Entry { time: time * 1_000_000, kind });
        }
        assert_eq!((collector.groups[0].major, collector.groups[0].major_again), (3.0, 1.0));
    }

    #[test]
    fn error_codes_after_a_fork_are_those_of_pages_that_were_there() {
        // No process has this number (PID_MAX_LIMIT is 2^22).
        const PARENT: u32 = 1 << 30;
        let mut collector = Collector::new(4096);
        let map = |start: u64| {
            let map = Map {
                process: PARENT,
                start,
                end: start + 0x10_0000,
                protection: 2,
                is_private: true,
                ..Map::default()
            };
            EventKind::Map(Map { name: "//anon".to_owned(), ..map })
        };
        let name = EventKind::Name { process: PARENT, thread: PARENT, name: "p".to_owned(), exec: true };
        let fault = |address| {
            EventKind::Fault(Box::new(Fault { process: PARENT, address, weight: 1, ..Fault::default() }))
        };
        let code = |address, code| EventKind::Code { process: PARENT, address, sp: None, code };
        let fork = EventKind::Fork { process: PARENT + 1, parent: PARENT, thread: PARENT + 1 };
        let events = [
            vec![name, map(0x10_0000), map(0x80_0000), fault(0x10_0000), fault(0x10_1000), fault(0x80_0000)],
            // Outside moments it does not count.
            vec![code(0x10_0000, 7), EventKind::Codes(true), code(0x10_0000, 7), fork],
            // Copied; given back meanwhile; mapped anew; never seen before.
            (0..40).map(|turn| code(0x10_0000 + turn % 2 * 0x1000, 7 - turn % 2)).collect(),
            vec![map(0x80_0000), code(0x80_0000, 6), code(0x10_2000, 4)],
            vec![EventKind::LostCodes(9), EventKind::Codes(false)],
        ];
        for (kind, time) in events.into_iter().flatten().zip(1..) {
            collector.take(Entry { time: time * 1_000_000, kind });
        }
        let group = &collector.groups[0];
        assert_eq!(group.forked_codes.shares(), Some((1.0, 0.5)));
        let shares = group.codes.shares().map(|(writes, copies)| (writes * 43.0, copies * 43.0));
        assert_eq!(shares.map(|(writes, copies)| (writes.round(), copies.round())), Some((42.0, 21.0)));
    }

    #[test]
    fn of_the_machine_s_records_those_of_the_program_count() {
        // No process has these numbers (PID_MAX_LIMIT is 2^22).
        const FIRST: u32 = 1 << 30;
        let (child, other) = (FIRST + 1, FIRST + 2);
        let mut collector = Collector { dropped: Some(0.0), ..Collector::new(4096) };
        collector.tasks.get(FIRST, 0);
        let executes =
            |process| EventKind::Name { process, thread: process, name: "p".to_owned(), exec: true };
        let forks = |process, parent| EventKind::Fork { process, parent, thread: process };
        let fault = |process| {
            EventKind::Fault(Box::new(Fault { process, address: 4096, weight: 5, ..Fault::default() }))
        };
        let mut time = 0;
        let mut take = |kinds: Vec<EventKind>| {
            for kind in kinds {
                time += 1_000_000;
                collector.take(Entry { time, kind });
            }
            (collector.minor.samples, collector.dropped.unwrap())
        };
        assert_eq!(take(vec![executes(other), fault(other)]), (0.0, 1.0));
        assert_eq!(take(vec![executes(FIRST), fault(FIRST), forks(child, FIRST), fault(child)]), (2.0, 1.0));
        assert_eq!(take(vec![forks(other + 1, other), fault(other + 1)]), (2.0, 2.0), "another's child");
        let reused =
            vec![EventKind::Exit { process: child, thread: child }, forks(child, other), fault(child)];
        assert_eq!(take(reused), (2.0, 3.0), "another has the number");
        assert_eq!(collector.minor.faults, 10.0);
    }

    #[test]
    fn samples_of_a_window_count_as_one() {
        let mut collector = Collector::new(4096);
        let fault = |weight| {
            EventKind::Fault(Box::new(Fault { process: 7, address: 4096, weight, ..Fault::default() }))
        };
        let mut take = |kinds: Vec<EventKind>| {
            kinds.into_iter().for_each(|kind| collector.take(Entry { time: 1, kind }));
            (collector.minor.samples, collector.effective().samples)
        };
        assert_eq!(take(vec![]), (0.0, 0.0));
        assert_eq!(take((0..10).map(|_| fault(30)).collect()), (10.0, 10.0));
        let window = |weight| {
            let mut all = vec![EventKind::Window(true)];
            all.extend((0..5).map(|_| fault(weight)));
            all.push(EventKind::Window(false));
            all
        };
        // As ten of 30 each and two of 150.
        assert_eq!(
            take([window(30), window(30)].concat()),
            (20.0, 600.0 * 600.0 / (10.0 * 900.0 + 2.0 * 22_500.0))
        );
    }

    #[test]
    fn without_records_of_mappings_no_cause_is_claimed() {
        let mut collector = Collector::new(4096);
        let name = "//anon".to_owned();
        let map = Map { process: 7, start: 0x10_0000, end: 0x20_0000, name, ..Map::default() };
        let fault = |is_burst| {
            let thread = u32::from(is_burst);
            let fault =
                Fault { process: 7, thread, address: 0x18_0000, weight: 1, is_burst, ..Fault::default() };
            EventKind::Fault(Box::new(fault))
        };
        let name = EventKind::Name { process: 7, thread: 7, name: "p".to_owned(), exec: true };
        let events = [
            name,
            EventKind::Map(map.clone()),
            fault(false),
            fault(false),
            EventKind::Mappings(false),
            fault(false),
            EventKind::Mappings(true),
            fault(true),
            EventKind::Map(map),
            fault(true),
        ];
        for (kind, time) in events.into_iter().zip(1..) {
            collector.take(Entry { time: time * 1_000_000, kind });
        }
        let refaults = collector.groups[0].refaults;
        let mapped = refaults.mapped + refaults.maybe_mapped;
        assert_eq!((refaults.no_event, mapped), (2.0, 1.0), "{refaults:?}");
        assert_eq!(collector.task_records, (3.0, 0.0));
    }
}
