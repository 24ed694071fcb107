//! Processes as they come and go: what each has mapped, which program it runs, and since when it shares pages with another.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::heap::Heap;
use super::looked::{Looked, Source};
use super::record::Map;
use super::space::Space;
use super::unwind::Stacks;
use crate::allocator::AllocatorHints;

/// Nanoseconds between two readings of a process's map because of addresses that are not in it.
const AGAIN: u64 = 200_000_000;
/// The same for how much it has mapped, because of calls about more.
const AGAIN_MAPPED: u64 = 20_000_000;

/// A process.
#[derive(Clone)]
pub struct Process {
    /// What lies where; shared with the process that it was forked from until one of them maps something.
    pub space: Rc<Space>,
    /// Unwinds its stacks.
    pub stacks: Rc<RefCell<Stacks>>,
    /// A number that no other address space has or had.
    pub id: u32,
    /// Which of the programs it runs.
    pub program: u32,
    /// Since when it has pages in common with the process that it was forked from: until it executes a program.
    pub child_since: Option<u64>,
    /// When it last forked.
    pub parent_since: Option<u64>,
    /// Where its heap ends; shared by those that share the address space.
    pub heap: Rc<Cell<Heap>>,
    /// The most bytes that it is known to have had mapped at once, and when that was read last.
    most_mapped: (u64, u64),
    /// The process that it forked last.
    forked: Option<u32>,
    /// When its map was read last.
    read: u64,
    /// Faults by which it took memory of its own, by weight.
    touched: f64,
    /// The same when its memory was looked at last, and the most bytes that it had by then.
    noted: (f64, u64),
    /// The process with which it shares pages since it was forked.
    shares_with: Option<u32>,
    /// How many such children there are; whether there was one since its memory was looked at.
    sharers: (u64, bool),
}

/// A program, as many processes as may run it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its name; untrusted.
    pub name: String,
    /// Its file, by a path that leads to it while a process of it lives.
    pub file: Option<PathBuf>,
    /// What its file says about its allocator; read when the trace ends.
    pub hints: Option<AllocatorHints>,
    /// Names of the files that it has mapped as code.
    pub code: Vec<Rc<str>>,
    /// Processes that ran it.
    pub processes: u64,
    /// Threads that it started.
    pub threads: u64,
    /// Threads that began after others of the same process had ended: so many stacks came and went.
    pub threads_replaced: u64,
    /// Times that it forked.
    pub forks: u64,
    /// Mappings of no file that it made, by their bytes.
    pub mappings: HashMap<u64, u64>,
    /// Times that a heap grew to where it had been before.
    pub regrown: u64,
    /// Faults by which its processes took memory of their own, from look to look at what they have.
    pub touched: f64,
    /// Of these at most as many as their memory then grew by, beyond what they had ever had.
    pub grown: f64,
    /// Of the others those between two looks at a process that shared pages with a child of its.
    pub shared: f64,
}

/// All processes.
#[derive(Default)]
pub struct Tasks {
    /// Where is read what the records do not tell.
    pub source: Source,
    processes: HashMap<u32, Process>,
    /// All programs; a process has the number of its own.
    pub programs: Vec<Program>,
    /// Names of tasks; untrusted.
    names: HashMap<u32, Rc<str>>,
    /// Threads that ended in a process, and are not replaced.
    ended: HashMap<u32, u64>,
    spaces: u32,
}

impl Tasks {
    /// A process. One that is not known yet is looked up.
    pub fn get(&mut self, process: u32, time: u64) -> &mut Process {
        let Tasks { processes, programs, spaces, source, .. } = self;
        processes.entry(process).or_insert_with(|| {
            let looked = source.look(process, time);
            let mut found = Process::new(next(spaces), program(programs, process, &looked.name));
            found.has(looked, &mut programs[found.program as usize], time);
            found
        })
    }

    /// Whether a process is known.
    pub fn knows(&self, process: u32) -> bool {
        self.processes.contains_key(&process)
    }

    /// Processes that are known.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        self.processes.keys().copied()
    }

    /// Reads of each program's file what it says, as all is seen.
    pub fn conclude(&mut self) {
        for program in &mut self.programs {
            program.hints =
                program.hints.take().or_else(|| AllocatorHints::read(program.file.as_deref()?));
        }
    }

    /// The program of a process that is known.
    pub fn program(&mut self, process: u32) -> Option<&mut Program> {
        let number = self.processes.get(&process)?.program;
        self.programs.get_mut(number as usize)
    }

    /// Reads the map of a process again, should an address not be in it; seldom.
    pub fn look_again(&mut self, process: u32, time: u64) {
        let Some(found) = self.processes.get_mut(&process) else { return };
        if time >= found.read.saturating_add(AGAIN)
            && let Some(program) = self.programs.get_mut(found.program as usize)
        {
            found.has(self.source.look(process, time), program, time);
        }
    }

    /// A new mapping.
    pub fn map(&mut self, map: &Map, time: u64) {
        let process = self.get(map.process, time);
        let number = process.program;
        let space = Rc::make_mut(&mut process.space);
        let regrown = space.regrown;
        let added = space.add(map, time);
        let regrown = space.regrown - regrown;
        if added.is_code {
            process.stacks = Rc::default();
        }
        let Some(program) = self.programs.get_mut(number as usize) else { return };
        program.regrown += regrown;
        if added.is_code {
            program.has(&map.name);
        } else if map.name == "//anon" {
            *program.mappings.entry(added.fresh).or_default() += 1;
        }
    }

    /// A new task.
    pub fn fork(&mut self, process: u32, parent: u32, time: u64) {
        if process == parent {
            let ended = self.ended.get_mut(&process).filter(|ended| **ended > 0);
            let is_new = ended.map(|ended| *ended -= 1).is_none();
            if let Some(program) = self.program(process) {
                program.threads += 1;
                program.threads_replaced += u64::from(!is_new);
            }
            return;
        }
        let from = self.get(parent, time);
        from.parent_since = Some(time);
        from.forked = Some(process);
        from.sharers = (from.sharers.0 + 1, true);
        let child = Process {
            child_since: Some(time),
            parent_since: None,
            heap: Rc::new(Cell::new(from.heap.get())),
            forked: None,
            touched: 0.0,
            noted: Default::default(),
            shares_with: Some(parent),
            sharers: (0, false),
            ..from.clone()
        };
        let child = Process { id: next(&mut self.spaces), ..child };
        if let Some(program) = self.programs.get_mut(child.program as usize) {
            program.forks += 1;
        }
        self.processes.insert(process, child);
    }

    /// The last process that this one forked shares its address space, until it executes another program. Of these only the end of the heap is
    /// shared: not everybody can see who shares what, and nothing else is to depend on it.
    pub fn share(&mut self, parent: u32) {
        let Some(from) = self.processes.get(&parent) else { return };
        let (child, heap) = (from.forked, from.heap.clone());
        if let Some(child) = child.and_then(|child| self.processes.get_mut(&child)) {
            child.heap = heap;
        }
    }

    /// Calls of brk may have been missed, of whichever process.
    pub fn forget_heaps(&mut self) {
        for heap in self.processes.values().map(|process| &process.heap) {
            let mut known = heap.get();
            known.forget();
            heap.set(known);
        }
    }

    /// Whether a process had so many bytes mapped at once at any time so far: else a call about so many has failed, or was mostly about what
    /// is not mapped.
    pub fn had_mapped(&mut self, process: u32, bytes: u64, time: u64) -> bool {
        let Some(found) = self.processes.get_mut(&process) else { return false };
        let (most, read) = found.most_mapped;
        if bytes > most {
            let is_due = read == 0 || time >= read.saturating_add(AGAIN_MAPPED);
            let now = if is_due { self.source.most_mapped(process) } else { None };
            let most = most.max(now.unwrap_or(0)).max(found.space.mapped());
            found.most_mapped = (most, if is_due { time } else { read });
        }
        bytes <= found.most_mapped.0
    }

    /// A task has a name, or executes another program by this name.
    pub fn name(&mut self, process: u32, thread: u32, name: &str, exec: bool) {
        self.names.insert(thread, name.into());
        if exec {
            self.part(process);
            let number = program(&mut self.programs, process, name);
            self.processes.insert(process, Process::new(next(&mut self.spaces), number));
        }
    }

    /// A task has ended.
    pub fn exit(&mut self, process: u32, thread: u32) {
        self.names.remove(&thread);
        if thread == process {
            self.part(process);
            self.processes.remove(&process);
            self.ended.remove(&process);
        } else {
            *self.ended.entry(process).or_default() += 1;
        }
    }

    /// So many faults took memory that is a process's own.
    pub fn touched(&mut self, process: u32, faults: f64) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.touched += faults;
        }
    }

    /// A process shares no pages any more with the one that it was forked from.
    fn part(&mut self, process: u32) {
        let parent = self.processes.get(&process).and_then(|child| child.shares_with);
        if let Some(parent) = parent.and_then(|parent| self.processes.get_mut(&parent)) {
            parent.sharers.0 = parent.sharers.0.saturating_sub(1);
        }
    }

    /// The most bytes that a process had so far, in pages of so many. What it faulted in since it was looked at last is at most in
    /// part new memory: as far as it has more than it ever had.
    pub fn peak(&mut self, process: u32, bytes: u64, page: u64) {
        let Some(found) = self.processes.get_mut(&process) else { return };
        let (touched, most) = std::mem::replace(&mut found.noted, (found.touched, bytes));
        let faults = found.touched - touched;
        let grown = faults.min(bytes.saturating_sub(most) as f64 / page as f64);
        let is_shared = found.sharers.1;
        found.sharers.1 = found.sharers.0 > 0;
        if let Some(program) = self.programs.get_mut(found.program as usize) {
            program.touched += faults;
            program.grown += grown;
            program.shared += if is_shared { faults - grown } else { 0.0 };
        }
    }

    /// What a task is called: as its process, if it has no name of its own.
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
    fn new(id: u32, program: u32) -> Process {
        Process {
            space: Rc::default(),
            stacks: Rc::default(),
            id,
            program,
            child_since: None,
            parent_since: None,
            heap: Rc::default(),
            most_mapped: (0, 0),
            forked: None,
            read: 0,
            touched: 0.0,
            noted: Default::default(),
            shares_with: None,
            sharers: (0, false),
        }
    }

    /// Notes what it has mapped.
    fn has(&mut self, looked: Looked, program: &mut Program, time: u64) {
        self.read = time;
        let space = Rc::make_mut(&mut self.space);
        let mut has_code = false;
        for map in &looked.maps {
            let found = space.find(map.start).map(|(from, area)| (from, area.end));
            if found.is_some_and(|(from, to)| from == map.start && to == map.end) {
                continue;
            }
            if space.add(map, 0).is_code {
                has_code = true;
                program.has(&map.name);
            }
        }
        if has_code {
            self.stacks = Rc::default();
        }
    }
}

impl Program {
    fn has(&mut self, name: &str) {
        if name.starts_with('/') && !self.code.iter().any(|known| &**known == name) {
            self.code.push(name.into());
        }
    }
}

/// The number of the program that a process runs.
fn program(programs: &mut Vec<Program>, process: u32, name: &str) -> u32 {
    let known = programs.iter().position(|program| program.name == name);
    let number = known.unwrap_or_else(|| {
        let file = std::fs::read_link(format!("/proc/{process}/exe")).ok();
        programs.push(Program { name: name.to_owned(), file, ..Program::default() });
        programs.len() - 1
    });
    programs[number].processes += 1;
    number as u32
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
        Map { process, start, end, offset: 0, protection, is_private: true, name: name.to_owned() }
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
    fn this_process_is_looked_up() {
        let mut tasks = Tasks::default();
        let own = std::process::id();
        let here = this_process_is_looked_up as *const () as u64;
        let found = tasks.get(own, 1).clone();
        let (_, area) = found.space.find(here).unwrap();
        assert!(area.is_code && area.file().is_some());
        assert!(found.space.areas().any(|(_, area)| &*area.name == "[stack]"));
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
        // All end with their process: none was short-lived.
        for thread in 10..20 {
            tasks.fork(TWO, TWO, 3);
            tasks.name(TWO, TWO, "pool", true);
            tasks.exit(TWO, TWO + thread);
        }
        tasks.exit(TWO, TWO);
        assert_eq!(&*tasks.name_of(ONE, ONE + 9), "logger");
        assert_eq!(&*tasks.name_of(ONE, ONE + 3), "server");
        assert_eq!(&*tasks.name_of(TWO, TWO), "");
    }
}
