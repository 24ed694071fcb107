//! Threads on every node, memory on every node, rounds of one against the other.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use figure::evidence::*;
use figure::{CpuList, Evidence};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::memory::{Mapped, NodeMemory, VALUE};
use super::nodes::Quantity;
use super::plan::{Row, Setup, Task};
use super::traversal::FullTraversal;
use crate::bandwidth::arrays::Split;
use crate::calibration::{Calibration, Policy, Trial};
use crate::chase::UNROLL;
use crate::kernels::{ELEMENT, Operation, Stores};
use crate::region::Region;
use crate::simd::Loop;
use crate::sizes;
use crate::team::Team;
use crate::worker::{Amount, CPU_SAMPLE_ELEMENTS, Kernel, Sample, Tasks};

const MOST_SAMPLES: usize = 32;
/// Seconds of a sample at least: 3 ms are 100 000 readings of a 30 ns clock.
const SHORTEST_SAMPLE: f64 = 3e-3;
/// Steps of the walk by which the length of samples is chosen: some tenths of a millisecond.
const TRIAL_STEPS: u64 = 256 * UNROLL;

struct NodeTeams {
    all: Rc<Team>,
    one: Rc<Team>,
}

pub(crate) struct Numa {
    setup: Setup,
    teams: Vec<NodeTeams>,
    near: Team,
    memories: Vec<Result<NodeMemory, Failure>>,
}

pub(crate) enum Work {
    Read { code: Loop, array: Arc<Region>, split: Split, passes: u64 },
    Walk { chain: Arc<FullTraversal>, steps: u64 },
}

fn near(setup: &Setup, clock: &Clock) -> Result<Team, Failure> {
    let first = |near: usize| setup.rows.get(near).and_then(|row| row.threads.first().cloned());
    let threads: Option<Vec<_>> = setup.columns.iter().map(|column| first(column.near)).collect();
    let threads = threads.ok_or_else(|| Failure::new("no CPU is near to some node"))?;
    Team::new(&setup.machine, &threads, clock.clone())
}

/// Maps and touches each column's memory: arrays one by one, by all near threads; all chains at once.
fn memories(
    setup: &Setup,
    teams: &[NodeTeams],
    near: &Team,
    bind: bool,
) -> Result<Vec<Result<NodeMemory, Failure>>, Failure> {
    let mut mapped = Vec::new();
    for column in &setup.columns {
        let memory = Mapped::map(column, setup.pages, bind);
        if let Ok(memory) = &memory {
            memory.touch(&teams[column.near].all)?;
        }
        mapped.push(Mutex::new(Some(memory)));
    }
    let written = near.each(move |worker| {
        let memory = mapped[worker.index].lock().unwrap_or_else(PoisonError::into_inner).take();
        memory.map(|memory| memory.map(Mapped::write_chain))
    })?;
    Ok(written.into_iter().flatten().collect())
}

impl NodeTeams {
    fn new(row: &Row, setup: &Setup, clock: &Clock) -> Result<NodeTeams, Failure> {
        let team = |places: &[CpuList]| Team::new(&setup.machine, places, clock.clone()).map(Rc::new);
        let first = row
            .threads
            .first()
            .ok_or_else(|| Failure::new(format!("no CPU of node {} may be used", row.node)))?;
        Ok(NodeTeams { all: team(&row.threads)?, one: team(std::slice::from_ref(first))? })
    }
}

impl Numa {
    fn memory(&self, task: &Task) -> Result<&NodeMemory, Failure> {
        self.memories[task.column].as_ref().map_err(Failure::clone)
    }

    fn team_of(&self, task: &Task) -> &Rc<Team> {
        let teams = &self.teams[task.row];
        match task.quantity {
            Quantity::Bandwidth => &teams.all,
            Quantity::Latency => &teams.one,
        }
    }

    fn split(&self, task: &Task, memory: &NodeMemory) -> Split {
        let threads = self.teams[task.row].all.threads();
        Split { threads, most: memory.array.bytes() / ELEMENT as usize }
    }
}

impl Kernel for Numa {
    type Setup = Setup;
    type Task = Task;
    type Sample = Work;

    fn set_up(setup: Setup) -> Result<(Numa, Tasks<Numa>), Failure> {
        let clock = Clock::for_machine(&setup.machine);
        let teams = setup.rows.iter().map(|row| NodeTeams::new(row, &setup, &clock));
        let teams: Vec<NodeTeams> = teams.collect::<Result<_, _>>()?;
        // With one node there is nothing to bind, and nothing for a container to forbid.
        let bind = setup.machine.numa.nodes.len() > 1;
        let near = near(&setup, &clock)?;
        let memories = memories(&setup, &teams, &near, bind)?;
        let tasks = setup.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        Ok((Numa { setup, teams, near, memories }, tasks))
    }

    fn team(&self, task: &Task) -> Result<Rc<Team>, Failure> {
        self.memory(task)?;
        Ok(self.team_of(task).clone())
    }

    fn policy(&self, task: &Task) -> Policy {
        let policy = Policy {
            shortest_sample: SHORTEST_SAMPLE,
            shortest_round: self.setup.round,
            most_samples: MOST_SAMPLES,
            ..Policy::default()
        };
        match task.quantity {
            Quantity::Bandwidth => policy,
            // A walk can be as short as one likes: as many samples as there may be.
            Quantity::Latency => Policy {
                shortest_sample: SHORTEST_SAMPLE.max(self.setup.round / MOST_SAMPLES as f64),
                trial: Trial::Passes(TRIAL_STEPS / UNROLL),
                ..policy
            },
        }
    }

    fn amount(&self, task: &Task) -> Amount {
        match task.quantity {
            Quantity::Bandwidth => Amount::Bytes(self.setup.columns[task.column].bytes as f64),
            Quantity::Latency => Amount::Steps(UNROLL as f64),
        }
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Work, Failure> {
        let (memory, passes) = (self.memory(task)?, calibration.passes);
        Ok(match task.quantity {
            Quantity::Bandwidth => Work::Read {
                code: self.setup.simd.required(Operation::Read, Stores::None)?,
                array: memory.array.clone(),
                split: self.split(task, memory),
                passes,
            },
            Quantity::Latency => Work::Walk { chain: memory.chain.clone(), steps: passes * UNROLL },
        })
    }

    /// Every round checks the sums of arrays; of each chain: whether it is whole and every step was taken.
    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        let chains: Vec<_> = self
            .memories
            .iter()
            .map(|memory| memory.as_ref().ok().map(|memory| memory.chain.clone()))
            .collect();
        let errors = self.near.each(move |worker| {
            let is_complete = chains[worker.index].as_ref().is_some_and(|chain| chain.complete());
            [0.0, if is_complete { 0.0 } else { 1.0 }]
        })?;
        Ok(errors.into_iter().flatten().collect())
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        let pages = |memory: &Result<NodeMemory, Failure>| match memory {
            Ok(memory) => memory.pages(),
            Err(_) => Default::default(),
        };
        Ok(self.memories.iter().flat_map(pages).collect())
    }

    fn memory_of(&self, task: &Task) -> usize {
        2 * task.column + usize::from(task.quantity == Quantity::Latency)
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = self.near.evidence();
        let is_pinned = |teams: &NodeTeams| teams.all.pool.readback && teams.one.pool.readback;
        evidence.put(PLACE_READBACK, self.teams.iter().all(is_pinned));
        Ok(evidence)
    }

    fn evidence_of(&self, task: &Task) -> Evidence {
        let Ok(memory) = self.memory(task) else { return Evidence::default() };
        let mut evidence = sizes::cache_evidence(&self.setup.machine, self.team_of(task).cpus());
        if task.quantity == Quantity::Bandwidth {
            let split = self.split(task, memory);
            let elements = |thread| split.share(thread, split.most) as f64;
            evidence.put(THREAD_ELEMENTS, (0..split.threads).map(elements).collect());
        }
        evidence
    }
}

impl Sample for Work {
    fn run(&self, worker: &WorkerThread, _sample: usize) -> f64 {
        match self {
            Work::Read { code, array, split, passes } => read(*code, array, split, *passes, worker),
            Work::Walk { chain, steps } => {
                chain.walk(*steps);
                0.0
            }
        }
    }
}

/// Passes over a thread's part of an array; the error is 0 if every sum was right, else 1.
fn read(code: Loop, array: &Region, split: &Split, passes: u64, worker: &WorkerThread) -> f64 {
    let share = split.share(worker.index, split.most);
    let part = array.start().cast::<f64>().wrapping_add(split.start(worker.index));
    let mut worst = 0.0;
    for _ in 0..passes {
        let (mut sum, mut done) = (0.0, 0);
        while done < share {
            let length = CPU_SAMPLE_ELEMENTS.min(share - done);
            let start = part.wrapping_add(done);
            // SAFETY: inside the array, which is never written; whole blocks; the set is available;
            // `read` uses its first pointer only.
            sum += unsafe { code(start, start, start, length, 0.0) };
            done += length;
            worker.sample_cpu();
        }
        if sum != VALUE * share as f64 {
            worst = 1.0;
        }
    }
    worst
}
