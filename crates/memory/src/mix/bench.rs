//! Mixes of reads and writes: blocks, code, verification.

use std::rc::Rc;
use std::sync::Arc;

use figure::Evidence;
use figure::evidence::*;
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::contents::{Contents, FACTOR, value};
use super::plan::{Setup, Task};
use crate::bandwidth::expected::{TOLERANCE, relative_error};
use crate::calibration::Calibration;
use crate::kernels::{ELEMENT, Mix, Operation, Stores};
use crate::page_evidence;
use crate::simd::Loop;
use crate::simd::mix::{GROUP, PAGE_ELEMENTS, Walk};
use crate::sizes::{self, ARRAYS};
use crate::team::Team;
use crate::thread_blocks::ThreadBlocks;
use crate::worker::{Amount, Kernel, Sample, Tasks, UNKNOWN_CONTENTS};

/// Groups between two calls of [`WorkerThread::sample_cpu`]: 8 MiB, a millisecond or so.
const CPU_SAMPLE_GROUPS: usize = 170;
const SPOT_CHECKS: usize = 256;

#[derive(Clone, Copy)]
enum Code {
    Walk(Walk),
    Triad(Loop),
}

pub(crate) struct Mixes {
    setup: Setup,
    team: Rc<Team>,
    blocks: Arc<ThreadBlocks>,
    /// What every block holds; `None` when that is not known.
    contents: Option<Contents>,
    /// The contents of the blocks before the current work, and the value that it writes.
    pending: Option<(Contents, f64)>,
    /// Rounds and untimed passes so far: decides the value that is written.
    turns: u64,
}

pub(crate) struct Passes {
    code: Code,
    blocks: Arc<ThreadBlocks>,
    third: usize,
    expected: f64,
    value: f64,
    passes: u64,
}

impl Mixes {
    /// Fills the blocks if their contents are not known, each thread its own: at the start the first touch.
    fn fill_unknown(&mut self) -> Result<(), Failure> {
        if self.contents.is_none() {
            let start = self.next_value();
            let blocks = self.blocks.clone();
            self.team.each(move |thread| {
                // SAFETY: the thread's own block, which no other thread touches.
                unsafe { std::slice::from_raw_parts_mut(blocks.start(thread.index), blocks.elements()) }
                    .fill(start);
            })?;
            self.contents = Some(Contents::filled(start));
        }
        Ok(())
    }

    fn contents(&self) -> Result<Contents, Failure> {
        self.contents.ok_or_else(|| Failure::new(UNKNOWN_CONTENTS))
    }

    fn next_value(&mut self) -> f64 {
        self.turns += 1;
        value(self.turns)
    }

    fn code(&self, task: &Task) -> Result<Code, Failure> {
        let simd = self.setup.simd;
        match task.mix {
            Mix::TriadLike => simd.required(Operation::Triad, Stores::Nt).map(Code::Triad),
            Mix::Ratio(..) => simd.required_walk(task.mix, false).map(Code::Walk),
        }
    }

    /// Largest relative error at an element of some pages of each block, other ones for each `turn`.
    fn spot_checks(&self, turn: u64) -> Result<f64, Failure> {
        let (blocks, third, contents) = (self.blocks.clone(), self.setup.groups, self.contents()?);
        self.team.worst(move |thread| {
            let start = blocks.start(thread.index);
            // An odd step meets every page of a group; the element moves along the page.
            let step = (blocks.elements() / SPOT_CHECKS).max(PAGE_ELEMENTS) | 1;
            (turn as usize * 7919 % step..blocks.elements())
                .step_by(step)
                .map(|element| {
                    // SAFETY: inside the thread's own block, which no thread writes at the same time.
                    let value = unsafe { start.wrapping_add(element).read_volatile() };
                    relative_error(value, contents.at(element, third))
                })
                .fold(0.0, f64::max)
        })
    }
}

impl Kernel for Mixes {
    type Setup = Setup;
    type Task = Task;
    type Sample = Passes;

    const IS_SHARED: bool = true;

    fn set_up(setup: Setup) -> Result<(Mixes, Tasks<Mixes>), Failure> {
        let team = Team::new(&setup.machine, &setup.threads, Clock::for_machine(&setup.machine))?;
        let blocks = ThreadBlocks::map(team.threads(), ARRAYS as usize * setup.groups, setup.pages)?;
        let tasks = setup.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        let (team, blocks) = (Rc::new(team), Arc::new(blocks));
        let mut kernel = Mixes { setup, team, blocks, contents: None, pending: None, turns: 0 };
        kernel.fill_unknown()?;
        Ok((kernel, tasks))
    }

    fn team(&self, _task: &Task) -> Result<Rc<Team>, Failure> {
        Ok(self.team.clone())
    }

    fn amount(&self, _task: &Task) -> Amount {
        Amount::Bytes((self.team.threads() * self.blocks.elements()) as f64 * ELEMENT as f64)
    }

    fn prepare(&mut self, _team: &Team, _task: &Task, _round: usize) -> Result<(), Failure> {
        self.fill_unknown()
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Passes, Failure> {
        let (code, contents) = (self.code(task)?, self.contents()?);
        let value = self.next_value();
        // Until all threads are done it is not known what the blocks hold.
        self.contents = None;
        self.pending = Some((contents, value));
        let third = self.setup.groups;
        Ok(Passes {
            code,
            blocks: self.blocks.clone(),
            third,
            expected: contents.sum(task.mix, third),
            value,
            passes: calibration.passes,
        })
    }

    fn follow(&mut self, task: &mut Task, _passes: u64) {
        self.contents = self.pending.take().map(|(contents, value)| contents.after(task.mix, value));
    }

    fn verify(&mut self, _team: &Team, _task: &Task, _round: usize) -> Result<f64, Failure> {
        self.spot_checks(self.turns)
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        let (blocks, contents) = (self.blocks.clone(), self.contents()?);
        let worst = self.team.worst(move |thread| {
            // SAFETY: the thread's own block, which no thread writes at the same time.
            let block = unsafe { std::slice::from_raw_parts(blocks.start(thread.index), blocks.elements()) };
            contents.worst(block)
        })?;
        Ok(vec![worst])
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        let blocks = self.blocks.clone();
        let nodes = self.team.each(move |thread| blocks.nodes(thread.index))?;
        let (backing, bytes) = (self.blocks.backing(), self.blocks.bytes());
        let Setup { machine, threads, .. } = &self.setup;
        Ok(vec![page_evidence::of_threads(backing, bytes, machine, threads, nodes)])
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = self.team.evidence();
        evidence.merge(sizes::cache_evidence(&self.setup.machine, self.team.cpus()));
        evidence.put(MEMORY_NONZERO, self.spot_checks(0)? <= TOLERANCE);
        evidence.put(THREAD_ELEMENTS, vec![self.blocks.elements() as f64; self.team.threads()]);
        Ok(evidence)
    }
}

impl Sample for Passes {
    fn run(&self, thread: &WorkerThread, _sample: usize) -> f64 {
        let start = self.blocks.start(thread.index);
        let groups = match self.code {
            Code::Walk(_) => ARRAYS as usize * self.third,
            Code::Triad(_) => self.third,
        };
        let mut worst: f64 = 0.0;
        for _ in 0..self.passes {
            let mut sum = 0.0;
            for done in (0..groups).step_by(CPU_SAMPLE_GROUPS) {
                let some = CPU_SAMPLE_GROUPS.min(groups - done);
                let at = start.wrapping_add(done * GROUP);
                match self.code {
                    // SAFETY: the thread's own block has `groups` groups; the set is available.
                    Code::Walk(walk) => sum += unsafe { walk(at, some, self.value, 0) },
                    // SAFETY: the thirds of the thread's own block have `groups` groups, which are whole
                    // blocks of elements on page boundaries; the set is available.
                    Code::Triad(triad) => unsafe {
                        let [a, b, c] = [0, 1, 2].map(|array| at.wrapping_add(array * self.third * GROUP));
                        triad(a, b, c, some * GROUP, FACTOR);
                    },
                }
                thread.sample_cpu();
            }
            if self.expected > 0.0 {
                worst = worst.max(relative_error(sum, self.expected));
            }
        }
        worst
    }
}
