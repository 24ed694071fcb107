//! The worker of latency under load: memory, two pools, rounds, verification.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::measure::Measured;
use lab::pool::WorkerThread;
use lab::worker::{Bench, WorkerReport};

use super::memory::Memory;
use super::plan::{Point, Setup, Task};
use super::roles::{Gate, TimedWork, Traffic, chase, inject, inject_all};
use crate::bandwidth::expected::{TOLERANCE, relative_error};
use crate::chase::UNROLL;
use crate::kernels::Mix;
use crate::mix::contents::value;
use crate::page_evidence;
use crate::pages::Backing;
use crate::region::Region;
use crate::simd::mix::PAGE_ELEMENTS;
use crate::sizes;
use crate::team::Team;
use crate::thread_blocks::{GROUP_BYTES, ThreadBlocks};

/// Samples of a round: their median bears one that an interrupt hit.
const SAMPLES: usize = 4;
/// Steps of the untimed walk by which the number of steps of a sample is found: some ms.
const TRIAL_STEPS: u64 = 1 << 16;
/// Groups of each thread's untimed walk by which the groups of a sample are found: 48 MiB.
const TRIAL_GROUPS: usize = 1 << 10;
/// Seconds: bounds the work of a round where the clock gives less.
const SHORTEST_TRIAL: f64 = 1e-6;
const PAGE_SAMPLES: usize = 192;

struct LoadedBench {
    setup: Setup,
    /// The thread that chases, for rounds in which none injects: it waits for no other thread.
    alone: Team,
    /// All threads; the first one chases.
    all: Team,
    memory: Arc<Memory>,
    tasks: BTreeMap<String, Task>,
    /// Figures with rounds of this worker: rounds of one that died cannot be checked.
    measured: BTreeSet<String>,
    steps: u64,
    /// Groups that each thread walks in a sample in which all inject, by mix.
    groups: BTreeMap<String, usize>,
    at_start: Evidence,
}

pub fn prepare(
    setup: Setup,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let team = |threads: &[CpuList]| Team::new(&setup.machine, threads, Clock::for_machine(&setup.machine));
    let (alone, all) = (team(&setup.threads[..1])?, team(&setup.threads)?);
    let region = Region::map(setup.chain, setup.pages, None)?;
    let threads = setup.threads.len();
    let blocks = ThreadBlocks::map(threads, setup.groups, setup.pages)?;
    let memory = Arc::new(Memory::new(region, blocks, threads));
    let (shared, stride) = (memory.clone(), setup.stride);
    all.each(move |thread| {
        if thread.index == 0 {
            shared.write_chain(stride);
        }
        shared.fill(thread.index);
    })?;
    let steps = steps(&alone, &memory, setup.round)?;
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
    let mut bench = LoadedBench {
        setup,
        alone,
        all,
        memory,
        tasks,
        measured: BTreeSet::new(),
        steps,
        groups: BTreeMap::new(),
        at_start: Evidence::default(),
    };
    bench.at_start = bench.pages()?;
    let facts = bench.facts()?;
    Ok((Box::new(bench), facts))
}

fn steps(alone: &Team, memory: &Arc<Memory>, round: f64) -> Result<u64, Failure> {
    let memory = memory.clone();
    let seconds = alone.untimed_seconds(move |_| memory.chase(TRIAL_STEPS))?;
    let step = seconds / TRIAL_STEPS as f64;
    Ok(((round / SAMPLES as f64 / step) as u64).max(UNROLL).next_multiple_of(UNROLL))
}

impl LoadedBench {
    fn facts(&self) -> Result<WorkerReport, Failure> {
        let mut facts = WorkerReport { evidence: self.all.evidence(), ..WorkerReport::default() };
        let evidence = &mut facts.evidence;
        evidence.put(PLACE_READBACK, self.all.pool.readback && self.alone.pool.readback);
        evidence.merge(sizes::cache_evidence(&self.setup.machine, self.all.cpus()));
        evidence.merge(self.at_start.clone());
        let memory = self.memory.clone();
        let filled = self.all.each(move |thread| {
            let start = memory.blocks.start(thread.index);
            (0..memory.blocks.elements()).step_by(PAGE_ELEMENTS * 97).all(|element| {
                // SAFETY: inside the thread's own block, which no thread writes at the same time.
                let value_there = unsafe { start.wrapping_add(element).read_volatile() };
                relative_error(value_there, value(0)) <= TOLERANCE
            })
        })?;
        // The untimed walk has checked the chain.
        evidence
            .put(MEMORY_NONZERO, filled.into_iter().all(|filled| filled) && self.memory.is_chain_intact());
        evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        // The first thread has a block too, for when all inject; while it chases that lies idle.
        let injector = self.memory.blocks.elements() as f64;
        let threads = self.setup.threads.len();
        for task in &self.setup.tasks {
            let elements = match task.point {
                Point::Idle => continue,
                Point::All { .. } => vec![injector; threads],
                Point::Loaded { .. } => [&[0.0], vec![injector; threads - 1].as_slice()].concat(),
            };
            let mut evidence = Evidence::default();
            evidence.put(THREAD_ELEMENTS, elements);
            facts.figures.push((task.id.clone(), evidence));
        }
        Ok(facts)
    }

    fn pages(&self) -> Result<Evidence, Failure> {
        let memory = self.memory.clone();
        let nodes = self.all.each(move |thread| {
            let block = memory.blocks.nodes(thread.index);
            if thread.index > 0 {
                return block;
            }
            block.and(memory.region.nodes(PAGE_SAMPLES)).map(|(block, chain)| [block, chain].concat())
        })?;
        let (chain, blocks) = (&self.memory.region, &self.memory.blocks);
        let backing = Backing::sum([chain.backing(), blocks.backing()]);
        let bytes = chain.bytes() as f64 + blocks.bytes();
        let Setup { machine, threads, .. } = &self.setup;
        Ok(page_evidence::of_threads(backing, bytes, machine, threads, nodes))
    }

    fn idle(&self) -> Result<Round, Failure> {
        let (memory, steps) = (self.memory.clone(), self.steps);
        let (measured, work) =
            self.alone.round(SAMPLES, move |thread, _| chase(&memory, thread, &Gate::default(), 0, steps))?;
        let latencies = work[0].iter().map(latency).collect();
        Ok(round(measured, latencies))
    }

    fn loaded(&self, traffic: Traffic) -> Result<Round, Failure> {
        let (memory, steps) = (self.memory.clone(), self.steps);
        let gates: Vec<Gate> = (0..SAMPLES).map(|_| Gate::default()).collect();
        let injectors = self.setup.threads.len() - 1;
        let (measured, work) = self.all.round(SAMPLES, move |thread, sample| match thread.index {
            0 => chase(&memory, thread, &gates[sample], injectors, steps),
            _ => inject(&memory, thread, &gates[sample], traffic),
        })?;
        let latencies = work[0].iter().map(latency).collect();
        let injected = |sample: usize| {
            let rate = |work: &Vec<TimedWork>| work[sample].amount / work[sample].seconds / 1e9;
            work[1..].iter().map(rate).sum::<f64>()
        };
        let mut round = round(measured, latencies);
        round.evidence.put(INJECTED, (0..round.samples.len()).map(injected).collect());
        Ok(round)
    }

    fn all(&mut self, mix: Mix, traffic: Traffic) -> Result<Round, Failure> {
        let groups = match self.groups.get(&mix.to_string()) {
            Some(groups) => *groups,
            None => {
                let memory = self.memory.clone();
                let trial = move |thread: &WorkerThread| inject_all(&memory, thread, traffic, TRIAL_GROUPS);
                let seconds = self.all.untimed_seconds(trial)?.max(SHORTEST_TRIAL);
                let groups =
                    (self.setup.round / SAMPLES as f64 / seconds * TRIAL_GROUPS as f64).ceil() as usize;
                self.groups.insert(mix.to_string(), groups);
                groups
            }
        };
        let memory = self.memory.clone();
        let (measured, _) =
            self.all.round(SAMPLES, move |thread, _| inject_all(&memory, thread, traffic, groups))?;
        let bytes = (self.setup.threads.len() * groups * GROUP_BYTES) as f64;
        let rates = measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect();
        Ok(round(measured, rates))
    }

    fn traffic(&self, mix: Mix, spins: u64) -> Result<Traffic, Failure> {
        let walk = self.setup.simd.required_walk(mix, spins > 0)?;
        Ok(Traffic { mix, walk, spins })
    }
}

fn latency(work: &TimedWork) -> f64 {
    work.seconds / work.amount * 1e9
}

fn round(measured: Measured, samples: Vec<f64>) -> Round {
    Round::new(measured.started, measured.duration, samples, measured.evidence)
}

impl Bench for LoadedBench {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        let point = self.tasks.get(id).ok_or_else(|| Failure::new("no figure").on(id))?.point;
        let round = match point {
            Point::Idle => self.idle(),
            Point::Loaded { mix, delay } => self.loaded(self.traffic(mix, delay)?),
            Point::All { mix } => self.all(mix, self.traffic(mix, 0)?),
        }?;
        self.all.check_times(&round.samples)?;
        self.measured.insert(id.to_owned());
        Ok(round)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let memory = self.memory.clone();
        let blocks = self.all.worst(move |thread| memory.worst(thread.index))?;
        let worst = if self.memory.is_chain_intact() { blocks } else { f64::INFINITY };
        let mut verified = Evidence::default();
        verified.put(VERIFIED, worst <= TOLERANCE);
        verified.put(VERIFIED_ERROR, worst);
        Ok(WorkerReport {
            evidence: page_evidence::worse_of(&self.at_start, self.pages()?),
            figures: self.measured.iter().map(|id| (id.clone(), verified.clone())).collect(),
            ..WorkerReport::default()
        })
    }
}
