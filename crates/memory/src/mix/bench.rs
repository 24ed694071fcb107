//! Mixes of reads and writes: blocks, code, verification.

use std::rc::Rc;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine, Reading};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::contents::{Contents, FACTOR, value};
use super::plan::{MixMemory, Setup, Task};
use crate::bandwidth::expected::{TOLERANCE, relative_error};
use crate::calibration::Calibration;
use crate::kernels::{ELEMENT, Mix, Operation, Stores};
use crate::page_evidence;
use crate::pages::SampledNodes;
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
    /// A memory that cannot be had, as in a container that forbids mbind, costs its own figures.
    memories: Vec<Result<Walked, Failure>>,
}

/// Blocks of memory, the threads that walk them, and what is known of their contents.
struct Walked {
    node: Option<u32>,
    team: Rc<Team>,
    blocks: Arc<ThreadBlocks>,
    /// Groups of pages in each third of each thread's block.
    third: usize,
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

impl Walked {
    fn map(setup: &Setup, memory: &MixMemory) -> Result<Walked, Failure> {
        let team = Team::new(&setup.machine, &memory.threads, Clock::for_machine(&setup.machine))?;
        let groups = ARRAYS as usize * memory.groups;
        let blocks = ThreadBlocks::map_on(team.threads(), groups, setup.pages, memory.node)?;
        let (team, blocks) = (Rc::new(team), Arc::new(blocks));
        let (node, third) = (memory.node, memory.groups);
        let mut walked = Walked { node, team, blocks, third, contents: None, pending: None, turns: 0 };
        walked.fill_unknown()?;
        Ok(walked)
    }

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

    /// Largest relative error at an element of some pages of each block, other ones for each `turn`.
    fn spot_checks(&self, turn: u64) -> Result<f64, Failure> {
        let (blocks, third, contents) = (self.blocks.clone(), self.third, self.contents()?);
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

    /// Largest relative error of all elements.
    fn worst(&self) -> Result<f64, Failure> {
        let (blocks, contents) = (self.blocks.clone(), self.contents()?);
        self.team.worst(move |thread| {
            // SAFETY: the thread's own block, which no thread writes at the same time.
            let block = unsafe { std::slice::from_raw_parts(blocks.start(thread.index), blocks.elements()) };
            contents.worst(block)
        })
    }

    fn pages(&self, machine: &Machine, places: &[CpuList]) -> Result<Evidence, Failure> {
        let blocks = self.blocks.clone();
        let nodes = self.team.each(move |thread| blocks.nodes(thread.index))?;
        let (backing, bytes) = (self.blocks.backing(), self.blocks.bytes());
        Ok(match self.node {
            None => page_evidence::of_threads(backing, bytes, machine, places, nodes),
            Some(node) => page_evidence::of_node(backing, bytes, node, together(nodes)),
        })
    }

    fn evidence(&self, machine: &Machine) -> Evidence {
        let mut evidence = self.team.evidence();
        evidence.merge(sizes::cache_evidence(machine, self.team.cpus()));
        // Of a first touch that failed it is unknown, as what the blocks hold is.
        if let Ok(worst) = self.spot_checks(0) {
            evidence.put(MEMORY_NONZERO, worst <= TOLERANCE);
        }
        evidence.put(THREAD_ELEMENTS, vec![self.blocks.elements() as f64; self.team.threads()]);
        evidence
    }
}

/// The samples of all threads, in one list.
fn together(nodes: Vec<SampledNodes>) -> SampledNodes {
    nodes.into_iter().fold(Reading::Value(Vec::new()), |all, more| {
        all.and_then(|mut all| {
            more.map(|more| {
                all.extend(more);
                all
            })
        })
    })
}

impl Mixes {
    fn walked(&mut self, task: &Task) -> Result<&mut Walked, Failure> {
        self.memories[task.memory].as_mut().map_err(|failure| failure.clone())
    }

    fn code(&self, task: &Task) -> Result<Code, Failure> {
        let simd = self.setup.simd;
        match task.mix {
            Mix::TriadLike => simd.required(Operation::Triad, Stores::Nt).map(Code::Triad),
            Mix::Ratio(..) => simd.required_walk(task.mix, false).map(Code::Walk),
        }
    }
}

impl Kernel for Mixes {
    type Setup = Setup;
    type Task = Task;
    type Sample = Passes;

    const IS_SHARED: bool = true;

    fn set_up(setup: Setup) -> Result<(Mixes, Tasks<Mixes>), Failure> {
        let tasks = setup.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        let memories = setup.memories.iter().map(|memory| Walked::map(&setup, memory)).collect();
        Ok((Mixes { setup, memories }, tasks))
    }

    fn team(&self, task: &Task) -> Result<Rc<Team>, Failure> {
        self.memories[task.memory].as_ref().map(|walked| walked.team.clone()).map_err(Failure::clone)
    }

    fn amount(&self, task: &Task) -> Amount {
        let elements = self.memories[task.memory]
            .as_ref()
            .map_or(0, |walked| walked.team.threads() * walked.blocks.elements());
        Amount::Bytes(elements as f64 * ELEMENT as f64)
    }

    fn prepare(&mut self, _team: &Team, task: &Task, _round: usize) -> Result<(), Failure> {
        self.walked(task)?.fill_unknown()
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Passes, Failure> {
        let code = self.code(task)?;
        let walked = self.walked(task)?;
        let contents = walked.contents()?;
        let value = walked.next_value();
        // Until all threads are done it is not known what the blocks hold.
        walked.contents = None;
        walked.pending = Some((contents, value));
        let third = walked.third;
        Ok(Passes {
            code,
            blocks: walked.blocks.clone(),
            third,
            expected: contents.sum(task.mix, third),
            value,
            passes: calibration.passes,
        })
    }

    fn follow(&mut self, task: &mut Task, _passes: u64) {
        if let Ok(walked) = self.walked(task) {
            walked.contents = walked.pending.take().map(|(contents, value)| contents.after(task.mix, value));
        }
    }

    fn verify(&mut self, _team: &Team, task: &Task, _round: usize) -> Result<f64, Failure> {
        let walked = self.walked(task)?;
        walked.spot_checks(walked.turns)
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        // Without rounds there is nothing to verify.
        self.memories.iter().map(|walked| walked.as_ref().map_or(Ok(0.0), Walked::worst)).collect()
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        let memories = self.memories.iter().zip(&self.setup.memories);
        memories
            .map(|(walked, memory)| match walked {
                Ok(walked) => walked.pages(&self.setup.machine, &memory.threads),
                Err(_) => Ok(Evidence::default()),
            })
            .collect()
    }

    fn memory_of(&self, task: &Task) -> usize {
        task.memory
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        Ok(Evidence::default())
    }

    fn evidence_of(&self, task: &Task) -> Evidence {
        let walked = self.memories[task.memory].as_ref();
        walked.map_or_else(|_| Evidence::default(), |walked| walked.evidence(&self.setup.machine))
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
