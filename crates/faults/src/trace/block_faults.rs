//! Joins each fault to the large block that it is in, by process, address and time. Pure.
//!
//! Two things come late. calloc and realloc touch a block before the recorder knows where it is: a block
//! counts from the time of the request. And records are in order within the ring of one CPU only. So all
//! steps are sorted over a second, and then joined.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use shm::blocks::Kind;

use super::frame::{Frame, Site};
use super::record::{Entry, EventKind, Fault};

/// Nanoseconds over which steps are sorted.
const LAG: u64 = 1_000_000_000;
/// Steps that wait to be sorted, at most.
const MOST_WAITING: usize = 200_000;
/// Different stacks of allocations that are stored at most.
const MOST_ORIGINS: usize = 50_000;
/// Ages that are stored for a row, and different places that touch its blocks.
const MOST_AGES: usize = 2000;
const MOST_TOUCHES: usize = 1000;

/// A step in the life of a process and its blocks. After a fork it has the blocks of its parent.
#[derive(Clone, Debug)]
enum Step {
    RecorderLoaded,
    Born(u64, LiveBlock),
    Ended(u64),
    Fork(u32),
    Exec,
    Exit,
    Fault { address: u64, weight: f64, touch: Box<Site> },
}

#[derive(Clone, Copy, Debug)]
struct LiveBlock {
    end: u64,
    /// When it was requested, and when it was allocated.
    begun: u64,
    since: u64,
    /// The stack of its allocation, if it was taken, and the probability of that.
    origin: Option<(u32, f64)>,
}

#[derive(Clone, Debug, Default)]
struct Process {
    has_recorder: bool,
    blocks: Rc<BTreeMap<u64, LiveBlock>>,
    /// Faults before the recorder was loaded.
    before: f64,
}

impl Process {
    /// Notes that the recorder is loaded, and returns the faults before that.
    fn recorder_loaded(&mut self) -> f64 {
        self.has_recorder = true;
        std::mem::take(&mut self.before)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The group of the place that touched the block: its program and kind of memory.
    pub group: u32,
    /// The size of the block, rounded down to a power of two: its exponent.
    pub class: u32,
    /// The stack of the allocation, if it is known.
    pub origin: Option<u32>,
}

/// Faults in blocks of one kind.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub faults: f64,
    /// Faults, divided by the probability with which the stack of their block was taken.
    pub scaled: f64,
    pub samples: f64,
    /// Sizes of the smallest and the largest, in bytes.
    pub sizes: Option<(u64, u64)>,
    /// Ages of the blocks at their faults, in seconds; bounded.
    pub ages: Vec<f64>,
    /// Where they were touched, with faults.
    pub touches: HashMap<Site, f64>,
}

#[derive(Debug, Default)]
pub struct BlockFaults {
    waiting: BTreeMap<(u64, u64), (u32, Step)>,
    number: u64,
    latest: u64,
    processes: HashMap<u32, Process>,
    by_frames: HashMap<Box<[Frame]>, u32>,
    /// Stacks of allocations, by number.
    pub origins: Vec<Box<[Frame]>>,
    pub rows: HashMap<Key, Row>,
    /// Blocks with a stack, by that stack and by the exponent of their size: how many there were,
    /// and how many of them were freed.
    pub lives: HashMap<(u32, u32), (u64, u64)>,
    /// Faults outside of blocks, of processes with the recorder.
    pub outside: f64,
    /// Faults of processes without the recorder.
    pub without_recorder: f64,
    pub programs: u64,
    /// Blocks that were recorded, and those of them with a stack.
    pub born: (u64, u64),
    /// Entries that were not read in time; blocks that were not recorded.
    pub lost: (u64, u64),
}

impl BlockFaults {
    /// Adds an event of a process; others are ignored.
    pub fn task_event(&mut self, entry: &Entry) {
        match &entry.kind {
            EventKind::Fork { process, parent, .. } if process != parent => {
                self.put(entry.time, *process, Step::Fork(*parent));
            }
            EventKind::Name { process, exec: true, .. } => self.put(entry.time, *process, Step::Exec),
            EventKind::Exit { process, thread } if process == thread => {
                self.put(entry.time, *process, Step::Exit);
            }
            _ => {}
        }
    }

    /// Adds a record of a block. `stack`: the calls that led to the allocation, the innermost first, and the
    /// probability with which stacks are taken.
    pub fn record(&mut self, entry: &shm::blocks::Entry, stack: Option<(Box<[Frame]>, f64)>) {
        let step = match entry.kind {
            Kind::Hello => Step::RecorderLoaded,
            Kind::Ended => Step::Ended(entry.address),
            Kind::Born => {
                self.born = (self.born.0 + 1, self.born.1 + u64::from(stack.is_some()));
                let origin = stack.and_then(|(frames, chance)| Some((self.origin(frames)?, chance)));
                let end = entry.address.saturating_add(entry.size);
                Step::Born(entry.address, LiveBlock { end, begun: entry.begun, since: entry.time, origin })
            }
        };
        self.put(entry.begun, entry.process, step);
    }

    pub fn fault(&mut self, fault: &Fault, time: u64, touch: &Site) {
        let (address, weight) = (fault.address, fault.weight as f64);
        self.put(time, fault.process, Step::Fault { address, weight, touch: Box::new(touch.clone()) });
    }

    /// Joins all that waits: no more events come.
    pub fn end(&mut self) {
        while let Some(((time, _), (process, step))) = self.waiting.pop_first() {
            self.join(time, process, step);
        }
        self.without_recorder += self.processes.drain().map(|(_, process)| process.before).sum::<f64>();
    }

    /// All faults that were joined, in blocks or not.
    pub fn faults(&self) -> f64 {
        self.outside + self.without_recorder + self.sum(|row| row.faults)
    }

    pub fn sum(&self, field: fn(&Row) -> f64) -> f64 {
        self.rows.values().map(field).fold(0.0, |sum, one| sum + one)
    }

    fn origin(&mut self, frames: Box<[Frame]>) -> Option<u32> {
        if let Some(number) = self.by_frames.get(&frames) {
            return Some(*number);
        }
        if self.origins.len() >= MOST_ORIGINS {
            return None;
        }
        let number = self.origins.len() as u32;
        self.origins.push(frames.clone());
        self.by_frames.insert(frames, number);
        Some(number)
    }

    fn put(&mut self, time: u64, process: u32, step: Step) {
        self.number += 1;
        self.waiting.insert((time, self.number), (process, step));
        self.latest = self.latest.max(time);
        while let Some(first) = self.waiting.first_entry() {
            let time = first.key().0;
            if time.saturating_add(LAG) > self.latest && self.waiting.len() <= MOST_WAITING {
                return;
            }
            if let Some((_, (process, step))) = self.waiting.pop_first() {
                self.join(time, process, step);
            }
        }
    }

    fn join(&mut self, time: u64, number: u32, step: Step) {
        let process = self.processes.entry(number).or_default();
        match step {
            Step::RecorderLoaded => self.outside += process.recorder_loaded(),
            Step::Born(address, live) => {
                // The record of the loading may have been lost.
                self.outside += process.recorder_loaded();
                insert(Rc::make_mut(&mut process.blocks), address, live);
                if let Some((origin, _)) = live.origin {
                    self.lives.entry((origin, class(live.end - address))).or_default().0 += 1;
                }
            }
            Step::Ended(address) => {
                // A later block may have its address by now.
                let Some(live) = process.blocks.get(&address).filter(|live| live.since <= time) else {
                    return;
                };
                if let Some((origin, _)) = live.origin {
                    self.lives.entry((origin, class(live.end - address))).or_default().1 += 1;
                }
                Rc::make_mut(&mut process.blocks).remove(&address);
            }
            Step::Fork(parent) => {
                let from = self.processes.get(&parent).cloned().unwrap_or_default();
                self.processes.insert(number, Process { before: 0.0, ..from });
            }
            Step::Exec => {
                self.without_recorder += process.before;
                *process = Process::default();
            }
            Step::Exit => {
                self.without_recorder += process.before;
                self.processes.remove(&number);
            }
            Step::Fault { address, weight, touch } => self.touched(time, number, address, weight, *touch),
        }
    }

    fn touched(&mut self, time: u64, number: u32, address: u64, weight: f64, touch: Site) {
        let Some(process) = self.processes.get_mut(&number) else { return };
        let block = process.blocks.range(..=address).next_back().filter(|(_, live)| address < live.end);
        let Some((start, live)) = block else {
            *(if process.has_recorder { &mut self.outside } else { &mut process.before }) += weight;
            return;
        };
        let size = live.end - start;
        let origin = live.origin.map(|(origin, _)| origin);
        let row = self.rows.entry(Key { group: touch.group, class: class(size), origin }).or_default();
        row.faults += weight;
        row.scaled += live.origin.map_or(0.0, |(_, chance)| weight / chance);
        row.samples += 1.0;
        let (least, most) = row.sizes.unwrap_or((size, size));
        row.sizes = Some((least.min(size), most.max(size)));
        if row.ages.len() < MOST_AGES {
            row.ages.push(time.saturating_sub(live.begun) as f64 * 1e-9);
        }
        if row.touches.len() < MOST_TOUCHES || row.touches.contains_key(&touch) {
            *row.touches.entry(touch).or_default() += weight;
        }
    }
}

/// The exponent of the largest power of two up to a size.
fn class(size: u64) -> u32 {
    size.max(1).ilog2()
}

/// Inserts a block. Blocks that it overlaps have been freed, and the record of that was lost.
fn insert(blocks: &mut BTreeMap<u64, LiveBlock>, address: u64, live: LiveBlock) {
    let below = blocks.range(..live.end).rev();
    let gone: Vec<u64> = below.take_while(|(_, old)| old.end > address).map(|(start, _)| *start).collect();
    for start in gone {
        blocks.remove(&start);
    }
    blocks.insert(address, live);
}

#[cfg(test)]
mod unit {
    use shm::blocks::Entry as Record;

    use super::*;

    const MIB: u64 = 1 << 20;
    const ONE: u32 = 1;

    fn record(kind: Kind, process: u32, address: u64, size: u64, begun: u64, time: u64) -> Record {
        Record { kind, process, address, size, begun, time, stack: 0 }
    }

    fn by(place: u64) -> Option<(Box<[Frame]>, f64)> {
        Some(([(None, place)].into(), 1.0))
    }

    fn touch(blocks: &mut BlockFaults, process: u32, address: u64, time: u64) {
        let fault = Fault { process, address, weight: 10, ..Fault::default() };
        blocks.fault(&fault, time, &Site { group: 0, thread: "x".into(), frames: [(None, 77)].into() });
    }

    /// Faults by who allocated the block, and outside of blocks.
    fn result(mut blocks: BlockFaults) -> (BTreeMap<Option<u64>, f64>, f64, f64) {
        blocks.end();
        let mut all = BTreeMap::new();
        for (key, row) in &blocks.rows {
            let place = key.origin.map(|origin| blocks.origins[origin as usize][0].1);
            *all.entry(place).or_default() += row.faults;
        }
        (all, blocks.outside, blocks.without_recorder)
    }

    fn with_recorder() -> BlockFaults {
        let mut blocks = BlockFaults::default();
        blocks.record(&record(Kind::Hello, ONE, 0, 0, 1, 1), None);
        blocks
    }

    #[test]
    fn a_fault_belongs_to_the_block_that_lives_there() {
        let mut blocks = with_recorder();
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, 2 * MIB, 10, 11), by(1));
        touch(&mut blocks, ONE, 4 * MIB, 20);
        touch(&mut blocks, ONE, 6 * MIB - 1, 21);
        touch(&mut blocks, ONE, 6 * MIB, 22);
        blocks.record(&record(Kind::Ended, ONE, 4 * MIB, 0, 30, 30), None);
        touch(&mut blocks, ONE, 4 * MIB, 31);
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, MIB, 40, 41), by(2));
        touch(&mut blocks, ONE, 4 * MIB, 50);
        touch(&mut blocks, ONE, 5 * MIB, 51);
        // In a process without the recorder.
        touch(&mut blocks, 9, 4 * MIB, 52);
        assert_eq!(blocks.rows.len(), 0, "nothing is joined before its time");
        blocks.end();
        assert_eq!(blocks.lives, HashMap::from([((0, 21), (1, 1)), ((1, 20), (1, 0))]));
        let (all, outside, without_recorder) = result(blocks);
        assert_eq!(all, BTreeMap::from([(Some(1), 20.0), (Some(2), 10.0)]));
        assert_eq!((outside, without_recorder), (30.0, 10.0));
    }

    #[test]
    fn order_is_that_of_the_times() {
        let mut blocks = with_recorder();
        // calloc: touched before it is recorded; and another block had its address until then.
        touch(&mut blocks, ONE, 4 * MIB, 25);
        touch(&mut blocks, ONE, 4 * MIB, 15);
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, MIB, 20, 30), by(2));
        blocks.record(&record(Kind::Ended, ONE, 4 * MIB, 0, 22, 22), None);
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, MIB, 10, 10), by(1));
        touch(&mut blocks, ONE, 4 * MIB, 40);
        let (all, outside, _) = result(blocks);
        assert_eq!((all, outside), (BTreeMap::from([(Some(1), 10.0), (Some(2), 20.0)]), 0.0));
    }

    #[test]
    fn old_steps_are_joined_and_so_are_too_many() {
        let mut blocks = with_recorder();
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, MIB, 10, 10), by(1));
        touch(&mut blocks, ONE, 4 * MIB, 20);
        touch(&mut blocks, ONE, 4 * MIB, 20 + LAG);
        assert_eq!(blocks.rows.len(), 1);
        for time in 0..MOST_WAITING as u64 * 2 {
            touch(&mut blocks, ONE, 0, LAG + time);
        }
        assert!(blocks.waiting.len() <= MOST_WAITING);
        assert_eq!(blocks.faults() + 10.0 * blocks.waiting.len() as f64, 20.0 + 20.0 * MOST_WAITING as f64);
    }

    #[test]
    fn blocks_with_a_lost_end_make_way() {
        let mut blocks = with_recorder();
        for place in 1..=3 {
            blocks.record(&record(Kind::Born, ONE, place * MIB, MIB, place, place), by(place));
        }
        blocks.record(&record(Kind::Born, ONE, 3 * MIB / 2, MIB, 10, 10), by(9));
        for address in [MIB, 3 * MIB / 2, 2 * MIB, 5 * MIB / 2, 3 * MIB] {
            touch(&mut blocks, ONE, address, 20);
        }
        let (all, outside, _) = result(blocks);
        assert_eq!((all, outside), (BTreeMap::from([(Some(3), 10.0), (Some(9), 20.0)]), 20.0));
    }

    #[test]
    fn a_child_has_its_parents_blocks_until_it_executes_another_program() {
        let mut blocks = with_recorder();
        let entry = |time, kind| Entry { time, kind };
        touch(&mut blocks, ONE, 0, 0);
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, MIB, 10, 10), by(1));
        blocks.task_event(&entry(20, EventKind::Fork { process: 2, parent: ONE, thread: 2 }));
        blocks.record(&record(Kind::Ended, ONE, 4 * MIB, 0, 25, 25), None);
        touch(&mut blocks, 2, 4 * MIB, 30);
        touch(&mut blocks, ONE, 4 * MIB, 30);
        let exec = EventKind::Name { process: 2, thread: 2, name: "other".to_owned(), exec: true };
        blocks.task_event(&entry(40, exec.clone()));
        // Before the recorder is loaded, and after; then a program without it.
        touch(&mut blocks, 2, 4 * MIB, 41);
        blocks.record(&record(Kind::Hello, 2, 0, 0, 45, 45), None);
        blocks.task_event(&entry(50, exec));
        touch(&mut blocks, 2, 4 * MIB, 51);
        blocks.task_event(&entry(60, EventKind::Exit { process: 2, thread: 2 }));
        let (all, outside, without_recorder) = result(blocks);
        assert_eq!(all, BTreeMap::from([(Some(1), 10.0)]));
        assert_eq!((outside, without_recorder), (30.0, 10.0));
    }

    #[test]
    fn blocks_without_a_stack_have_rows_of_their_own() {
        let mut blocks = with_recorder();
        blocks.record(&record(Kind::Born, ONE, 4 * MIB, 3 * MIB, 10, 10), None);
        blocks.record(&record(Kind::Born, ONE, 8 * MIB, 2 * MIB, 10, 10), Some(([(None, 5)].into(), 0.25)));
        touch(&mut blocks, ONE, 4 * MIB, 2_000_000_010);
        touch(&mut blocks, ONE, 8 * MIB, 2_000_000_010);
        blocks.end();
        let row = |origin| &blocks.rows[&Key { group: 0, class: 21, origin }];
        assert_eq!(
            (row(None).faults, row(None).scaled, row(None).sizes),
            (10.0, 0.0, Some((3 * MIB, 3 * MIB)))
        );
        assert_eq!((row(Some(0)).faults, row(Some(0)).scaled, row(Some(0)).ages[0]), (10.0, 40.0, 2.0));
        assert_eq!((blocks.born, row(Some(0)).touches.len()), ((2, 1), 1));
    }
}
