//! Calls for memory of processes that fork, share address spaces, execute programs and reuse numbers, against
//! a model of address spaces.

use std::collections::HashMap;

use faults::trace::call_counts::Sum;
use faults::trace::collect::Collector;
use faults::trace::record::{Call, CallArguments, Entry, EventKind, Fault, Map};
use proptest::prelude::*;
use suites::faults::Call as Kind;

/// No process has this number (PID_MAX_LIMIT is 2^22).
const FIRST: u32 = 1 << 30;
/// More than 47 bits of addresses.
const IMPOSSIBLE: u64 = 1 << 46;
/// Between two events, in nanoseconds: what a process has mapped is read again after less.
const STEP: u64 = 30_000_000;

#[derive(Clone, Debug)]
enum Event {
    Fork,
    /// Without a copy of the address space (vfork, CLONE_VM).
    Share,
    Exec,
    Exit,
    /// Moves the end of the heap to so many pages.
    Break(u64),
    /// Asks where it ends, or fails.
    Ask,
    /// Maps so many pages, and unmaps them if so.
    Map(u64, bool),
    /// Tries to map, unmap or advise more than there is.
    TooMuch(u8),
    /// Calls are not counted for a while, in which the heap's end moves to so many pages.
    Gap(u64),
    /// Records are lost, and with them such a move.
    Lost(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => Just(Event::Fork),
        2 => Just(Event::Share),
        2 => Just(Event::Exec),
        1 => Just(Event::Exit),
        8 => (0..1_000_000u64).prop_map(Event::Break),
        2 => Just(Event::Ask),
        3 => (1..100_000u64, any::<bool>()).prop_map(|(pages, unmaps)| Event::Map(pages, unmaps)),
        1 => (0..4u8).prop_map(Event::TooMuch),
        1 => (0..1_000_000u64).prop_map(Event::Gap),
        1 => (0..1_000_000u64).prop_map(Event::Lost),
    ]
}

/// An address space.
#[derive(Clone, Copy)]
struct Space {
    heap: u64,
    /// Whether a call of brk was recorded, and whether all were since.
    recorded: Option<bool>,
    /// Where the next mapping goes.
    next: u64,
}

struct Model {
    collector: Collector,
    time: u64,
    spaces: Vec<Space>,
    /// Processes with their address spaces.
    processes: Vec<(u32, usize)>,
    numbers: Vec<u32>,
    expected: HashMap<Kind, Sum>,
}

impl Model {
    fn new() -> Model {
        let mut model = Model {
            collector: Collector::new(4096),
            time: 0,
            spaces: Vec::new(),
            processes: Vec::new(),
            numbers: (FIRST..FIRST + 6).rev().collect(),
            expected: HashMap::new(),
        };
        model.take(EventKind::Counting(true));
        let process = model.numbers.pop().unwrap();
        model.processes.push((process, 0));
        model.execute(0);
        model
    }

    fn take(&mut self, kind: EventKind) {
        self.time += STEP;
        self.collector.take(Entry { time: self.time, kind });
    }

    /// The program begins at another place of its own.
    fn execute(&mut self, index: usize) {
        let number = self.spaces.len() as u64;
        self.spaces.push(Space { heap: (number + 1) << 40, recorded: None, next: 0x7000_0000_0000 });
        let process = self.processes[index].0;
        self.processes[index].1 = self.spaces.len() - 1;
        self.take(EventKind::Name { process, thread: process, name: "program".to_owned(), exec: true });
    }

    fn call(&mut self, index: usize, arguments: CallArguments) {
        let process = self.processes[index].0;
        let by = Fault { process, thread: process, weight: 1, ..Fault::default() };
        self.take(EventKind::Call(Box::new(Call { by, arguments, has_stack: false })));
    }

    fn expect(&mut self, kind: Kind, bytes: Option<u64>) {
        let sum = self.expected.entry(kind).or_default();
        sum.calls += 1.0;
        match bytes {
            Some(bytes) => sum.bytes += bytes as f64,
            None => sum.unknown_size += 1.0,
        }
    }

    fn step(&mut self, chosen: usize, event: Event) {
        let index = chosen % self.processes.len();
        let (process, number) = self.processes[index];
        match event {
            Event::Fork | Event::Share => {
                let Some(child) = self.numbers.pop() else { return };
                self.take(EventKind::Fork { process: child, parent: process, thread: child });
                let mut space = number;
                if matches!(event, Event::Share) {
                    self.take(EventKind::Shares(process));
                } else {
                    self.spaces.push(self.spaces[number]);
                    space = self.spaces.len() - 1;
                }
                self.processes.push((child, space));
            }
            Event::Exec => self.execute(index),
            Event::Exit if self.processes.len() > 1 => {
                self.take(EventKind::Exit { process, thread: process });
                self.processes.remove(index);
                self.numbers.push(process);
            }
            Event::Exit => {}
            Event::Break(pages) => self.set_break(index, pages),
            Event::Ask => {
                let end = self.spaces[number].heap;
                self.call(index, CallArguments::Break { end });
                self.spaces[number].recorded = Some(true);
            }
            Event::Map(pages, unmaps) => {
                let (start, bytes) = (self.spaces[number].next, pages * 4096);
                self.spaces[number].next += bytes + 4096;
                let name = "//anon".to_owned();
                let map = Map { process, start, end: start + bytes, name, protection: 3, ..Map::default() };
                self.take(EventKind::Map(map));
                self.call(index, CallArguments::Map { bytes, is_file: false });
                self.expect(Kind::Mmap, Some(bytes));
                if unmaps {
                    self.call(index, CallArguments::Unmap { start: 0, bytes });
                    self.expect(Kind::Munmap, Some(bytes));
                }
            }
            Event::TooMuch(which) => {
                let (bytes, advice) = (IMPOSSIBLE, libc::MADV_DONTNEED);
                let (arguments, kind) = match which {
                    0 => (CallArguments::Map { bytes, is_file: false }, Kind::Mmap),
                    1 => (CallArguments::Unmap { start: 0, bytes }, Kind::Munmap),
                    2 => (CallArguments::Remap { bytes }, Kind::Mremap),
                    _ => (CallArguments::Advise { start: 0, bytes, advice }, Kind::Dontneed),
                };
                self.call(index, arguments);
                self.expect(kind, None);
            }
            Event::Gap(pages) => {
                self.take(EventKind::Counting(false));
                self.spaces[number].heap = (self.spaces[number].heap >> 40 << 40) + pages * 4096;
                self.take(EventKind::Counting(true));
                self.forget();
            }
            Event::Lost(pages) => {
                self.spaces[number].heap = (self.spaces[number].heap >> 40 << 40) + pages * 4096;
                self.take(EventKind::Uncounted(1));
                self.forget();
            }
        }
    }

    fn set_break(&mut self, index: usize, pages: u64) {
        let number = self.processes[index].1;
        let Space { heap: before, recorded, .. } = self.spaces[number];
        let end = (before >> 40 << 40) + pages * 4096;
        self.call(index, CallArguments::Break { end });
        (self.spaces[number].heap, self.spaces[number].recorded) = (end, Some(true));
        match recorded {
            Some(true) if end > before => self.expect(Kind::BrkUp, Some(end - before)),
            Some(true) if end < before => self.expect(Kind::BrkDown, Some(before - end)),
            // The direction follows from the last recorded end, which only the collector has.
            _ => {}
        }
    }

    fn forget(&mut self) {
        self.spaces.iter_mut().for_each(|space| space.recorded = space.recorded.map(|_| false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_are_those_of_their_address_space(
        events in prop::collection::vec((any::<usize>(), event()), 1..80)
    ) {
        let mut model = Model::new();
        for (chosen, event) in events {
            model.step(chosen, event);
        }
        model.take(EventKind::Counting(false));
        let counts = &model.collector.call_counts;
        for &kind in Kind::ALL {
            let (sum, expected) = (counts.sum(kind), model.expected.get(&kind).copied().unwrap_or_default());
            prop_assert_eq!(sum.bytes, expected.bytes, "{:?}: {:?}, not {:?}", kind, sum, expected);
            let sized = |sum: Sum| sum.calls - sum.unknown_size;
            prop_assert_eq!(sized(sum), sized(expected), "{:?}", kind);
            if !matches!(kind, Kind::BrkUp | Kind::BrkDown) {
                prop_assert_eq!(sum, expected, "{:?}", kind);
            }
        }
    }
}
