//! Processes as they begin and end: their mappings and programs, and since when they share pages.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use suites::faults::Memory;

use super::address_space::{AddressSpace, Area};
use super::dax::DaxMounts;
use super::growth::{Brought, Growth, Resident};
use super::heap::Heap;
use super::memory_state::MemoryState;
use super::procfs::{ProcessSnapshot, SnapshotSource};
use super::program::{self, Program};
use super::record::Map;
use super::unwind::Stacks;

/// Nanoseconds between two readings of a process's mappings because an address is in none of them: at the least, and for
/// each mapping that it has. Reading one takes about a microsecond.
const AGAIN: u64 = 10_000_000;
const AGAIN_EACH: u64 = 20_000;
/// Nanoseconds between two readings of its VmPeak because a call is about more.
const AGAIN_MAPPED: u64 = 20_000_000;

#[derive(Clone, Default)]
pub struct Process {
    /// Its mappings; shared with the process that it was forked from until one of them maps something.
    pub space: Rc<AddressSpace>,
    pub stacks: Rc<RefCell<Stacks>>,
    /// The unique number of its address space.
    pub id: u32,
    pub program: u32,
    /// Since when it shares pages with the process that it was forked from; until an exec.
    pub child_since: Option<u64>,
    pub parent_since: Option<u64>,
    /// The end of its heap; shared by processes that share the address space.
    pub heap: Rc<Cell<Heap>>,
    /// The most bytes that it has had mapped at once, as far as is known, and when that was read last.
    most_mapped: (u64, u64),
    /// The process that it forked last, with what [`parent_since`](Self::parent_since) and the second of
    /// [`sharers`](Self::sharers) were before.
    forked: Option<(u32, Option<u64>, bool)>,
    /// Whether it has executed its program while it was watched, and is not a fork of one that has.
    is_executed: bool,
    /// Its mappings are not read again before this time.
    again: u64,
    growth: Growth,
    /// The process with which it shares pages since it was forked.
    shares_with: Option<u32>,
    /// How many such children it has; whether it had one since its memory was read last.
    sharers: (u64, bool),
    /// Bytes that a child left write-protected when it ended: each page faults once more as it is written.
    protected: f64,
}

#[derive(Default)]
pub struct Tasks {
    pub source: SnapshotSource,
    pub mounts: DaxMounts,
    processes: HashMap<u32, Process>,
    /// All programs; a process has the number of its own.
    pub programs: Vec<Program>,
    /// Names of tasks; untrusted.
    names: HashMap<u32, Rc<str>>,
    /// Threads of each process that ended and were not replaced.
    ended: HashMap<u32, u64>,
    spaces: u32,
}

impl Tasks {
    /// A process. An unknown one is read from the source.
    pub fn get(&mut self, process: u32, time: u64) -> &mut Process {
        let Tasks { processes, programs, spaces, source, mounts, .. } = self;
        processes.entry(process).or_insert_with(|| {
            let snapshot = source.take(process, time, mounts);
            let mut process = Process {
                id: next(spaces),
                program: program::of(programs, process, &snapshot.name),
                ..Process::default()
            };
            process.add_mappings(snapshot, &mut programs[process.program as usize], time);
            process
        })
    }

    pub fn knows(&self, process: u32) -> bool {
        self.processes.contains_key(&process)
    }

    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.processes.keys().copied()
    }

    /// Reads the files of all programs, at the end of a trace.
    pub fn conclude(&mut self) {
        for program in &mut self.programs {
            program.hints = program.hints.take().or_else(|| program.files.as_ref()?.hints(&program.code));
        }
    }

    /// A process; its mappings are read again if an address is in none of them.
    pub fn with_address(&mut self, number: u32, address: u64, time: u64) -> &mut Process {
        if self.get(number, time).space.find(address).is_none() {
            self.read_again(number, time);
        }
        self.get(number, time)
    }

    /// Reads the mappings of a process again; not too often.
    fn read_again(&mut self, number: u32, time: u64) {
        let Some(process) = self.processes.get_mut(&number) else { return };
        if time >= process.again
            && let Some(program) = self.programs.get_mut(process.program as usize)
        {
            process.add_mappings(self.source.take(number, time, &mut self.mounts), program, time);
        }
    }

    pub fn map(&mut self, map: &Map, time: u64) {
        let process = self.get(map.process, time);
        let number = process.program;
        let space = Rc::make_mut(&mut process.space);
        let (regrown, heap) = (space.regrown, space.heap);
        let added = space.add(map, time);
        let (regrown, heap) = (space.regrown - regrown, space.heap - heap);
        if added.is_code {
            process.stacks = Rc::default();
        }
        let Some(program) = self.programs.get_mut(number as usize) else { return };
        (program.regrown, program.heap) = (program.regrown + regrown, program.heap + heap);
        if added.is_code {
            program.add_code(&map.name);
        } else if map.name == "//anon" && map.protection != 0 {
            *program.mappings.entry(added.fresh).or_default() += 1;
        }
    }

    pub fn fork(&mut self, process: u32, parent: u32, time: u64) {
        if process == parent {
            let ended = self.ended.get_mut(&process).filter(|ended| **ended > 0);
            let is_new = ended.map(|ended| *ended -= 1).is_none();
            let number = self.processes.get(&process).map(|process| process.program as usize);
            if let Some(program) = number.and_then(|number| self.programs.get_mut(number)) {
                program.threads += 1;
                program.threads_replaced += u64::from(!is_new);
            }
            return;
        }
        let from = self.get(parent, time);
        from.forked = Some((process, from.parent_since, from.sharers.1));
        from.parent_since = Some(time);
        from.sharers = (from.sharers.0 + 1, true);
        let child = Process {
            child_since: Some(time),
            parent_since: None,
            heap: Rc::new(Cell::new(from.heap.get())),
            forked: None,
            is_executed: false,
            growth: Growth::default(),
            shares_with: Some(parent),
            sharers: (0, false),
            protected: 0.0,
            ..from.clone()
        };
        let child = Process { id: next(&mut self.spaces), ..child };
        if let Some(program) = self.programs.get_mut(child.program as usize) {
            program.forks += 1;
        }
        self.processes.insert(process, child);
    }

    /// The last process that this one forked shares its address space until it executes another program, as by vfork and
    /// posix_spawn: that was no fork, and no page is copied. These records need rights; without them it counts as a fork.
    pub fn share(&mut self, parent: u32) {
        let Some(from) = self.processes.get_mut(&parent) else { return };
        let Some((child, parent_since, had_sharer)) = from.forked.take() else { return };
        from.parent_since = parent_since;
        from.sharers = (from.sharers.0.saturating_sub(1), had_sharer);
        let Process { id, child_since, ref heap, .. } = *from;
        let heap = heap.clone();
        let Some(child) = self.processes.get_mut(&child) else { return };
        *child = Process { id, child_since, parent_since, heap, shares_with: None, ..std::mem::take(child) };
        if let Some(program) = self.programs.get_mut(child.program as usize) {
            program.forks = program.forks.saturating_sub(1);
        }
    }

    /// Calls of brk may have been missed, of any process.
    pub fn forget_heaps(&mut self) {
        for heap in self.processes.values().map(|process| &process.heap) {
            let mut end = heap.get();
            end.forget();
            heap.set(end);
        }
    }

    /// Whether a process has had so many bytes mapped at once: otherwise a call about so many failed, or was
    /// mostly about unmapped addresses.
    pub fn had_mapped(&mut self, number: u32, bytes: u64, time: u64) -> bool {
        let Some(process) = self.processes.get_mut(&number) else { return false };
        let (most, read) = process.most_mapped;
        if bytes > most {
            let is_due = read == 0 || time >= read.saturating_add(AGAIN_MAPPED);
            let now = if is_due { self.source.most_mapped(number) } else { None };
            let most = most.max(now.unwrap_or(0)).max(process.space.mapped());
            process.most_mapped = (most, if is_due { time } else { read });
        }
        bytes <= process.most_mapped.0
    }

    /// Names a task; with `exec` it also executes another program of this name.
    pub fn name(&mut self, process: u32, thread: u32, name: &str, exec: bool) {
        self.names.insert(thread, name.into());
        if exec {
            self.end_sharing(process);
            self.end_program(process);
            let (id, program) = (next(&mut self.spaces), program::of(&mut self.programs, process, name));
            self.programs[program as usize].executed += 1;
            self.processes.insert(
                process,
                Process {
                    id,
                    program,
                    is_executed: true,
                    growth: Growth::from_nothing(),
                    ..Process::default()
                },
            );
        }
    }

    pub fn exit(&mut self, process: u32, thread: u32) {
        self.names.remove(&thread);
        if thread == process {
            if let Some(parent) = self.end_sharing(process) {
                parent.protected = parent.growth.most() as f64;
            }
            self.end_program(process);
            self.processes.remove(&process);
            self.ended.remove(&process);
        } else {
            *self.ended.entry(process).or_default() += 1;
        }
    }

    /// What /proc has said about the memory of this process's program.
    pub fn memory_state(&mut self, process: u32) -> Option<&mut MemoryState> {
        let number = self.processes.get(&process)?.program as usize;
        Some(&mut self.programs.get_mut(number)?.memory_state)
    }

    /// Adds faults of a process at this kind of memory.
    pub fn touched(&mut self, process: u32, memory: Memory, faults: f64) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.growth.add(memory, faults);
        }
    }

    /// Notes that a process no longer shares pages with the one that it was forked from, and returns that one.
    fn end_sharing(&mut self, process: u32) -> Option<&mut Process> {
        let parent = self.processes.get(&process)?.shares_with?;
        let parent = self.processes.get_mut(&parent)?;
        parent.sharers.0 = parent.sharers.0.saturating_sub(1);
        Some(parent)
    }

    /// Counts the end of the program that a process executed.
    fn end_program(&mut self, process: u32) {
        let ended = self.processes.get(&process).filter(|process| process.is_executed);
        if let Some(program) = ended.and_then(|ended| self.programs.get_mut(ended.program as usize)) {
            program.ended += 1;
        }
    }

    /// Takes what a process has in memory.
    pub fn resident(&mut self, number: u32, memory: Resident, page: u64) {
        let Some(process) = self.processes.get_mut(&number) else { return };
        let Brought { faults, grown, stayed } = process.growth.take(memory, page as f64);
        let most_shared = if process.sharers.1 { f64::MAX } else { process.protected / page as f64 };
        let shared = (faults - grown).clamp(0.0, most_shared);
        process.sharers.1 = process.sharers.0 > 0;
        process.protected = (process.protected - shared * page as f64).max(0.0);
        if let Some(program) = self.programs.get_mut(process.program as usize) {
            program.touched += faults;
            program.grown += grown;
            program.stayed += stayed;
            program.shared += shared;
        }
    }

    /// The name of a task, or of its process if it has none.
    pub fn name_of(&self, process: u32, thread: u32) -> Rc<str> {
        let name = self.names.get(&thread).or_else(|| self.names.get(&process)).cloned();
        name.or_else(|| {
            let number = self.processes.get(&process)?.program;
            Some(self.programs.get(number as usize)?.name.as_str().into())
        })
        .unwrap_or_default()
    }
}

impl Process {
    /// Whether it has forked since a page of this mapping was there, at that time.
    pub fn has_forked_since(&self, time: u64, area: Option<&Area>) -> bool {
        let is_new = area.is_some_and(|area| area.since > time);
        !is_new && self.parent_since.is_some_and(|forked| forked > time)
    }

    fn add_mappings(&mut self, snapshot: ProcessSnapshot, program: &mut Program, time: u64) {
        self.again = time.saturating_add(AGAIN.max(AGAIN_EACH * snapshot.maps.len() as u64));
        let space = Rc::make_mut(&mut self.space);
        let heap = space.heap;
        let mut has_code = false;
        for map in &snapshot.maps {
            let area = space.find(map.start).map(|(from, area)| (from, area.end));
            if area.is_some_and(|(from, to)| from == map.start && to == map.end) {
                continue;
            }
            if space.add(map, 0).is_code {
                has_code = true;
                program.add_code(&map.name);
            }
        }
        program.heap += space.heap - heap;
        if has_code {
            self.stacks = Rc::default();
        }
    }
}

fn next(spaces: &mut u32) -> u32 {
    *spaces += 1;
    *spaces
}

#[cfg(test)]
mod unit {
    use super::*;

    fn map(process: u32, start: u64, name: &str, protection: u32) -> Map {
        let end = start + 0x200_000;
        Map { process, start, end, protection, is_private: true, name: name.to_owned(), ..Map::default() }
    }

    /// No process has these numbers (PID_MAX_LIMIT is 2^22).
    const ONE: u32 = 1 << 30;
    const TWO: u32 = ONE + 1;

    #[test]
    fn a_child_has_what_its_parent_has_until_it_executes_another_program() {
        let mut tasks = Tasks::default();
        tasks.name(ONE, ONE, "server", true);
        tasks.map(&map(ONE, 0x40_0000, "/bin/server", 4), 1);
        tasks.map(&map(ONE, 0x80_0000, "//anon", 2), 2);
        tasks.fork(TWO, ONE, 3);
        let (parent, child) = (tasks.get(ONE, 4).clone(), tasks.get(TWO, 4).clone());
        assert!(Rc::ptr_eq(&parent.space, &child.space) && parent.id != child.id);
        assert_eq!((parent.parent_since, child.child_since, parent.child_since), (Some(3), Some(3), None));
        tasks.map(&map(TWO, 0xc0_0000, "//anon", 2), 5);
        assert_eq!(tasks.get(ONE, 5).space.areas().count() + 1, tasks.get(TWO, 5).space.areas().count());
        tasks.name(TWO, TWO, "other", true);
        assert_eq!(tasks.get(TWO, 6).space.areas().count(), 0);
        assert_eq!(tasks.get(TWO, 6).child_since, None);
        let names: Vec<&str> = tasks.programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["server", "other"]);
        assert_eq!(tasks.programs[0].mappings, HashMap::from([(0x200_000, 2)]));
        assert_eq!((tasks.programs[0].forks, tasks.programs[0].code.len()), (1, 1));
    }

    #[test]
    fn a_child_that_shares_the_address_space_is_no_fork() {
        let mut tasks = Tasks::default();
        tasks.name(ONE, ONE, "server", true);
        tasks.share(ONE);
        for (time, shares) in [(3, true), (4, false), (5, true)] {
            tasks.fork(TWO, ONE, time);
            if shares {
                tasks.share(ONE);
                let parent = tasks.get(ONE, time).id;
                let child = tasks.get(TWO, time);
                assert_eq!((child.id, child.child_since), (parent, None));
            }
            tasks.name(TWO, TWO, "other", true);
            tasks.exit(TWO, TWO);
        }
        let parent = tasks.get(ONE, 6);
        assert_eq!((parent.parent_since, parent.sharers), (Some(4), (0, true)), "the fork between the two");
        assert_eq!(tasks.programs[0].forks, 1);
    }

    #[test]
    fn memory_that_stays_is_growth() {
        const PAGE: u64 = 4096;
        let mut tasks = Tasks::default();
        tasks.name(ONE, ONE, "server", true);
        tasks.fork(TWO, ONE, 1);
        let mut with_huge = |process, faults, pages: u64, huge: u64| {
            tasks.touched(process, Memory::Heap, faults);
            let bytes = pages * PAGE;
            let resident = Resident { most: bytes, anonymous: bytes, others: 0, huge: huge * PAGE };
            tasks.resident(process, resident, PAGE);
            tasks.programs[0].stayed
        };
        let mut stayed = |process, faults, pages| with_huge(process, faults, pages, 0);
        let of_one = [(1000.0, 800), (500.0, 300), (500.0, 900), (20.0, 1000)];
        assert_eq!(of_one.map(|(faults, pages)| stayed(ONE, faults, pages)), [800.0, 800.0, 900.0, 1000.0]);
        // A child has its parent's memory: only what it has more than at its first reading is new.
        assert_eq!(
            [(50.0, 1000), (50.0, 1010)].map(|(faults, pages)| stayed(TWO, faults, pages)),
            [1000.0, 1010.0]
        );
        assert_eq!(with_huge(ONE, 500.0, 1540, 512), 1038.0, "a huge page and 28 small ones");
    }

    #[test]
    fn pages_that_a_child_shared_are_copied_once_each() {
        const PAGE: u64 = 4096;
        let shared = |executes: bool| {
            let mut tasks = Tasks::default();
            tasks.name(ONE, ONE, "server", true);
            let read = |tasks: &mut Tasks, faults| {
                tasks.touched(ONE, Memory::Heap, faults);
                let bytes = 1000 * PAGE;
                tasks.resident(ONE, Resident { most: bytes, anonymous: bytes, ..Resident::default() }, PAGE);
                tasks.programs[0].shared
            };
            let before = read(&mut tasks, 1000.0);
            tasks.fork(TWO, ONE, 1);
            let during = read(&mut tasks, 400.0);
            if executes {
                tasks.name(TWO, TWO, "other", true);
            } else {
                tasks.exit(TWO, TWO);
            }
            let after = [100.0, 700.0, 900.0].map(|faults| read(&mut tasks, faults));
            (before, during, after)
        };
        assert_eq!(shared(true), (0.0, 400.0, [500.0; 3]));
        assert_eq!(shared(false), (0.0, 400.0, [500.0, 1200.0, 1400.0]), "1000 after it ended");
    }

    #[test]
    fn this_process_is_read() {
        let mut tasks = Tasks::default();
        let code = this_process_is_read as *const () as u64;
        let process = tasks.get(std::process::id(), 1).clone();
        let (_, area) = process.space.find(code).unwrap();
        assert!(area.is_code && area.file().is_some());
        assert!(process.space.areas().any(|(_, area)| &*area.name == "[stack]"));
        assert!(tasks.programs[0].code.iter().any(|name| name.contains("faults")));
    }

    #[test]
    fn threads_are_counted_and_named() {
        let mut tasks = Tasks::default();
        tasks.name(ONE, ONE, "server", true);
        for thread in 1..=5 {
            tasks.fork(ONE, ONE, 2);
            tasks.name(ONE, ONE + thread, "worker", false);
            tasks.exit(ONE, ONE + thread);
        }
        tasks.name(ONE, ONE + 9, "logger", false);
        assert_eq!((tasks.programs[0].threads, tasks.programs[0].threads_replaced), (5, 4));
        assert_eq!((tasks.programs[0].executed, tasks.programs[0].ended), (1, 0));
        // All threads end with their process: none was short-lived.
        for thread in 10..20 {
            tasks.fork(TWO, TWO, 3);
            tasks.name(TWO, TWO, "pool", true);
            tasks.exit(TWO, TWO + thread);
        }
        tasks.exit(TWO, TWO);
        assert_eq!((tasks.programs[1].executed, tasks.programs[1].ended), (10, 10));
        // A fork that executes nothing is no start of the program.
        tasks.fork(TWO, ONE, 4);
        tasks.exit(TWO, TWO);
        assert_eq!((tasks.programs[0].executed, tasks.programs[0].ended), (1, 0));
        assert_eq!(&*tasks.name_of(ONE, ONE + 9), "logger");
        assert_eq!(&*tasks.name_of(ONE, ONE + 3), "server");
        assert_eq!(&*tasks.name_of(TWO, TWO), "");
    }
}
