//! Faults, put together by program and kind of memory, with what tells how they came about. Does what it is told by
//! [`Entry`]s, in the order of their times.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use figure::faults::Memory;

use super::blocks::Blocks;
use super::book::{Book, Caller, kind};
use super::events::Set;
use super::fronts::Fronts;
use super::kept::Writer;
use super::looked::{Looked, Source};
use super::pages::Pages;
use super::record::{Asked, Call, Entry, Fault, What};
use super::ring::Told;
use super::runs::Runs;
use super::tasks::{Process, Tasks};
use super::unwind::{Image, Images, Rules};

/// Different stacks that are kept at most.
const MOST_STACKS: usize = 50_000;
/// Bytes at the front of a mapping of glibc's malloc that are its own (struct malloc_chunk: the size before, and the size).
const HEADER: u64 = 16;

/// What faults are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The program.
    pub program: u32,
    /// The kind of memory.
    pub memory: Memory,
    /// Whether the memory was shared with the process that it was forked from.
    pub is_inherited: bool,
}

/// What had happened to pages that were faulted in again, since they had been before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Again {
    /// They lie in a new mapping.
    pub mapped: f64,
    /// They lie in one that another has become one with: in a new one perhaps.
    pub perhaps: f64,
    /// The heap had been cut and grown again.
    pub cut: f64,
    /// The process had forked.
    pub forked: f64,
    /// Nothing that was seen: given back by advice (madvise), or taken away by the kernel.
    pub silently: f64,
}

impl Again {
    /// All of them.
    pub fn sum(&self) -> f64 {
        self.mapped + self.perhaps + self.cut + self.forked + self.silently
    }

    /// With a decision about those that lie in a new mapping perhaps.
    pub fn decided(self, are_mapped: bool) -> Again {
        let (mapped, silently) = if are_mapped { (self.perhaps, 0.0) } else { (0.0, self.perhaps) };
        Again { mapped: self.mapped + mapped, silently: self.silently + silently, perhaps: 0.0, ..self }
    }
}

/// Faults of one program at one kind of memory.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Minor faults, by the weights of the samples.
    pub minor: f64,
    /// Samples of minor faults.
    pub samples: f64,
    /// Major faults.
    pub major: f64,
    /// Faults that the kernel took for the program, by weight.
    pub in_kernel: f64,
    /// What had happened to pages seen again.
    pub again: Again,
    /// First faults at fresh mappings.
    pub fronts: Fronts,
    /// Faults that told what page they met; those of them that wrote to a page that was there, and must be copied.
    pub codes: (f64, f64),
    /// Files, with minor and major faults.
    pub files: HashMap<Rc<str>, (f64, f64)>,
}

/// A place in code: the number of its image, or none, and the address as the file states it, or as it was.
pub type Frame = (Option<u32>, u64);

/// Where faults came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The group.
    pub group: u32,
    /// The task's name.
    pub thread: Rc<str>,
    /// Calls, the innermost first.
    pub frames: Box<[Frame]>,
}

/// Faults as they were sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Samples.
    pub samples: f64,
    /// Faults that they stand for.
    pub seen: f64,
    /// Faults that lost samples stood for.
    pub lost: f64,
}

/// All that was seen.
#[derive(Default)]
pub struct Collector {
    /// Processes and programs.
    pub tasks: Tasks,
    /// Keys of the groups, in their order.
    pub keys: Vec<Key>,
    /// Groups.
    pub groups: Vec<Group>,
    /// Images, by number.
    pub images: Vec<(Rc<str>, Arc<Image>)>,
    /// Sites with their minor and major faults.
    pub sites: HashMap<Site, (f64, f64)>,
    /// Faults at sites that found no room.
    pub other_sites: f64,
    /// Pages.
    pub pages: Pages,
    /// Runs, of bursts.
    pub runs: Runs,
    /// Large blocks with their faults, where a recorder tells of them.
    pub blocks: Option<Blocks>,
    /// Minor faults.
    pub minor: Sampled,
    /// Records that tell of processes and mappings: those that came, and those that found no room.
    pub news: (f64, f64),
    /// Whether new mappings of data are not told: since then nobody knows what was mapped.
    is_blind: bool,
    /// Faults that bursts saw.
    pub burst: f64,
    /// Calls for memory.
    pub book: Book,
    /// Keeps what is taken in a file, if so.
    pub keeps: Option<Writer>,
    files: Images,
    rules: Rules,
    by_key: HashMap<Key, u32>,
    by_name: HashMap<Rc<str>, Option<u32>>,
    page: u64,
}

impl Collector {
    /// Nothing yet, on a machine with pages of so many bytes.
    pub fn new(page: u64) -> Collector {
        Collector { page, ..Collector::default() }
    }

    /// Bytes of a page.
    pub fn page(&self) -> u64 {
        self.page
    }

    /// Keeps what it is told from now on.
    pub fn keep(&mut self, writer: Writer) {
        self.keeps = Some(writer);
        self.tasks.source = Source::Noted(Vec::new());
    }

    /// What somebody else saw: no file of it is here.
    pub fn of_others(page: u64, looked: HashMap<u32, Vec<(u64, Looked)>>) -> Collector {
        let mut collector = Collector { files: Images::none(), ..Collector::new(page) };
        collector.tasks.source = Source::Kept(looked);
        collector
    }

    /// One more.
    pub fn take(&mut self, entry: Entry) {
        if let Some(writer) = &mut self.keeps {
            writer.entry(&entry);
        }
        self.add(entry);
        if let (Some(writer), Source::Noted(looked)) = (&mut self.keeps, &mut self.tasks.source) {
            looked.drain(..).for_each(|(time, looked)| writer.looked(time, &looked));
        }
    }

    fn add(&mut self, entry: Entry) {
        let time = entry.time;
        if let Some(blocks) = &mut self.blocks {
            blocks.news(&entry);
        }
        if matches!(entry.what, What::Map(_) | What::Fork { .. } | What::Name { .. } | What::Exit { .. }) {
            self.news.0 += 1.0;
        }
        match entry.what {
            What::Block(told) => self.block(&told, time),
            What::Fault(fault) => self.fault(&fault, time),
            What::Map(map) => self.tasks.map(&map, time),
            What::Fork { process, parent, .. } => self.tasks.fork(process, parent, time),
            What::Name { process, thread, name, exec } => self.tasks.name(process, thread, &name, exec),
            What::Exit { process, thread } => self.tasks.exit(process, thread),
            What::Call(call) => self.call(&call, time),
            What::Counting(on) => {
                if self.book.counting(on, time) {
                    self.tasks.forget_heaps();
                }
            }
            What::Uncounted(calls) => {
                self.book.lost += calls as f64;
                self.tasks.forget_heaps();
            }
            What::Shares(parent) => self.tasks.share(parent),
            What::Code { process, address, code } => self.code(process, address, code),
            What::Peak { process, bytes } => self.tasks.peak(process, bytes, self.page),
            What::Mappings(on) => self.is_blind = !on,
            What::Lost { set: Set::Minor, events, .. } => self.minor.lost += events as f64,
            What::Lost { set: Set::Burst, .. } => self.runs.end(),
            What::Lost { records, .. } => {
                self.news.1 += records as f64;
                // A fork or an exec may be among them.
                if records > 0 {
                    self.tasks.forget_heaps();
                }
            }
        }
    }

    fn fault(&mut self, fault: &Fault, time: u64) {
        let mut process = self.tasks.get(fault.process, time).clone();
        if process.space.find(fault.address).is_none() {
            self.tasks.look_again(fault.process, time);
            process = self.tasks.get(fault.process, time).clone();
        }
        let key = key(&process, fault);
        let group = self.group(key);
        self.count(group, &process, fault, time);
        if !fault.is_burst && !fault.is_major && key.memory != Memory::File && !key.is_inherited {
            self.tasks.touched(fault.process, fault.weight as f64);
        }
        if fault.is_burst {
            return;
        }
        let frames = self.frames(fault, &process);
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
        } else {
            self.other_sites += minor + major;
        }
    }

    /// What the recorder tells of a large block.
    fn block(&mut self, told: &Told, time: u64) {
        let stack = told.stack.as_ref().map(|(stack, chance)| {
            let process = self.tasks.get(stack.process, time).clone();
            (self.frames(stack, &process), *chance)
        });
        if let Some(blocks) = &mut self.blocks {
            blocks.told(&told.entry, stack);
        }
    }

    /// The calls that led to a fault, the innermost first.
    fn frames(&mut self, fault: &Fault, process: &Process) -> Box<[Frame]> {
        let frames =
            process.stacks.borrow_mut().unwind(fault, &process.space, &mut self.files, &mut self.rules);
        frames.into_iter().map(|address| self.frame(fault.process, process, address)).collect()
    }

    /// Adds a fault to its group.
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
            group.samples += 1.0;
            self.minor.samples += 1.0;
            self.minor.seen += weight;
            group.in_kernel += if fault.in_kernel { weight } else { 0.0 };
        }
        // What was swapped out was there already.
        if fault.is_major {
            return;
        }
        let before = self.pages.note(process.id, page, number, time, fault.is_burst);
        let is_front = fault.address % self.page < HEADER;
        match area {
            Some((start, area))
                if area.since > 0 && area.joined == area.since && start / self.page == page =>
            {
                let code = process.space.find(fault.ip).map_or("", |(_, area)| &*area.name);
                let came_back = before.is_some_and(|before| area.since > before);
                let pages = (area.end - start) / self.page;
                group.fronts.first(fault.ip, pages, is_front && is_c_library(code), came_back);
            }
            // Perhaps the front of a mapping that has become one with others.
            Some((_, area)) if is_front && area.joined > area.since => {}
            _ => group.fronts.other(fault.ip),
        }
        if let Some(before) = before {
            let again = &mut group.again;
            let mapped = area.is_some_and(|(_, area)| area.since > before);
            if mapped {
                again.mapped += 1.0;
            } else if process.space.regrown_at > before
                && area.is_some_and(|(_, area)| &*area.name == "[heap]")
            {
                again.cut += 1.0;
            } else if process.parent_since.is_some_and(|forked| forked > before) {
                again.forked += 1.0;
            } else if area.is_some_and(|(_, area)| area.joined > before) {
                again.perhaps += 1.0;
            } else if !self.is_blind {
                again.silently += 1.0;
            }
        }
    }

    /// A call for memory, of whichever process: calls are told of all.
    fn call(&mut self, call: &Call, time: u64) {
        let number = call.by.process;
        if !self.tasks.knows(number) && !self.book.watched.contains(&number) {
            return;
        }
        let process = self.tasks.get(number, time).clone();
        let step = match call.asked {
            Asked::Break { end } => {
                let mut heap = process.heap.get();
                let step = match (call.has_stack, call.by.weight) {
                    (true, _) => heap.seen_twice(end),
                    (false, 1) => heap.moved(end),
                    (false, _) => heap.sampled(end),
                };
                process.heap.set(heap);
                step
            }
            asked => kind(asked).map(|(kind, bytes)| {
                (kind, Some(bytes).filter(|bytes| self.tasks.had_mapped(number, *bytes, time)))
            }),
        };
        let Some((kind, bytes)) = step else { return };
        let weight = call.by.weight as f64;
        if !call.has_stack {
            return self.book.count(kind, bytes, weight);
        }
        let frames =
            process.stacks.borrow_mut().unwind(&call.by, &process.space, &mut self.files, &mut self.rules);
        let frames = frames.into_iter().map(|address| self.frame(number, &process, address)).collect();
        self.book.caller(Caller { program: process.program, call: kind, frames }, bytes, weight);
    }

    /// What a fault tells of the page that it met, whose ever it is.
    fn code(&mut self, number: u32, address: u64, code: u64) {
        const WRITES_TO_ONE_THAT_IS_THERE: u64 = 3;
        if !self.tasks.knows(number) {
            return;
        }
        let process = self.tasks.get(number, 0);
        let key = key(process, &Fault { process: number, address, ..Fault::default() });
        let known = self.by_key.get(&key).and_then(|group| self.groups.get_mut(*group as usize));
        if let Some(group) = known {
            let copies = code & WRITES_TO_ONE_THAT_IS_THERE == WRITES_TO_ONE_THAT_IS_THERE;
            group.codes = (group.codes.0 + 1.0, group.codes.1 + f64::from(u8::from(copies)));
        }
    }

    fn group(&mut self, key: Key) -> u32 {
        *self.by_key.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.groups.push(Group::default());
            (self.keys.len() - 1) as u32
        })
    }

    fn frame(&mut self, number: u32, process: &Process, address: u64) -> Frame {
        let found = process.space.find(address).and_then(|(start, area)| {
            let image = self.image(number, &area.name.clone())?;
            let stated =
                self.images.get(image as usize)?.1.stated((address - start).wrapping_add(area.offset))?;
            Some((Some(image), stated))
        });
        found.unwrap_or((None, address))
    }

    fn image(&mut self, process: u32, name: &Rc<str>) -> Option<u32> {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let image = if name.starts_with('/') { self.files.get(process, name) } else { None };
        let number = image.map(|image| {
            self.images.push((name.clone(), image));
            (self.images.len() - 1) as u32
        });
        self.by_name.insert(name.clone(), number);
        number
    }
}

/// Whether a file is a C library, by its name.
pub fn is_c_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    ["libc.so", "libc-2.", "ld-musl", "libc.musl"].iter().any(|begin| name.starts_with(begin))
}

fn key(process: &Process, fault: &Fault) -> Key {
    let memory = process.space.memory(fault.address, fault.regs.map(|regs| regs.sp));
    let is_older = |since: u64| process.child_since.is_some_and(|forked| since <= forked);
    let area = process.space.find(fault.address);
    let is_inherited = area.is_some_and(|(_, area)| area.is_private && is_older(area.since));
    Key { program: process.program, memory, is_inherited }
}

#[cfg(test)]
mod unit {
    use super::super::record::Map;
    use super::*;

    #[test]
    fn where_mappings_are_not_told_nothing_is_given_back_in_silence() {
        let mut collector = Collector::new(4096);
        let name = "//anon".to_owned();
        let map = Map { process: 7, start: 0x10_0000, end: 0x20_0000, name, ..Map::default() };
        let fault = |is_burst| {
            let fault = Fault { process: 7, address: 0x18_0000, weight: 1, is_burst, ..Fault::default() };
            What::Fault(Box::new(fault))
        };
        let name = What::Name { process: 7, thread: 7, name: "p".to_owned(), exec: true };
        let seen = [
            name,
            What::Map(map.clone()),
            fault(false),
            fault(false),
            What::Mappings(false),
            fault(false),
            What::Mappings(true),
            fault(true),
            What::Map(map),
            fault(true),
        ];
        for (what, time) in seen.into_iter().zip(1..) {
            collector.take(Entry { time: time * 1_000_000, what });
        }
        let again = collector.groups[0].again;
        assert_eq!((again.silently, again.mapped + again.perhaps), (2.0, 1.0), "{again:?}");
        assert_eq!(collector.news, (3.0, 0.0));
    }
}
