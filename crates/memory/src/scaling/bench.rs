//! A region on each node, touched once; threads of its own for each figure, only while it is measured.

use std::rc::Rc;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use machine::counters::Watch;

use super::node_arrays::{Contents, NodeArrays};
use super::plan::{self, Setup};
use crate::bandwidth::expected::{SUM_TOLERANCE, TOLERANCE};
use crate::calibration::{Calibration, Policy};
use crate::kernels::{self, Operation};
use crate::mode::Schedule;
use crate::sizes;
use crate::team::Team;
use crate::worker::{Amount, Kernel, Tasks, UNKNOWN_CONTENTS, medians};

mod proof;
#[cfg(test)]
mod tests;
mod work;

use work::Work;

/// Seconds.
const SHORTEST_SAMPLE: f64 = 0.01;
/// Where threads take turns on a CPU: the last slice of some 3 ms (the kernel's base_slice_ns), in which one
/// works and the others are done or have not begun, must be a small part.
const SHORTEST_SAMPLE_IN_TURNS: f64 = 0.1;
/// Seconds of a round at least: ten clock ticks, so that tick accounting can say something over all rounds,
/// and short enough for a curve of many points.
const SHORTEST_ROUND: f64 = 0.1;
const MOST_SAMPLES: usize = 32;

pub(crate) struct Task {
    plan: plan::Task,
    watch: Rc<Watch>,
    /// Under a dynamic schedule: elements that each thread took in one pass of each round.
    taken: Vec<Vec<f64>>,
    /// Share of local pages at the start.
    local: Reading<f64>,
}

/// Of this many elements one is checked for whether memory was touched.
const SPARSE: usize = 4093;

pub(crate) struct Scaling {
    setup: Setup,
    clock: Clock,
    /// A thread on each core, for first touch and for checking everything; asleep while figures are measured.
    touchers: Team,
    /// For each of those the node, its number on the node, and how many there are.
    homes: Vec<(usize, usize, usize)>,
    arrays: Arc<NodeArrays>,
    contents: Vec<Contents>,
}

impl Kernel for Scaling {
    type Setup = Setup;
    type Task = Task;
    type Sample = Work;

    const SAMPLE_TOLERANCE: f64 = SUM_TOLERANCE;
    const IS_SHARED: bool = true;

    fn set_up(setup: Setup) -> Result<(Scaling, Tasks<Scaling>), Failure> {
        let clock = Clock::for_machine(&setup.machine);
        let (mut threads, mut homes): (Vec<CpuList>, Vec<_>) = (Vec::new(), Vec::new());
        for (node, need) in setup.nodes.iter().enumerate() {
            for (nth, core) in need.cores.iter().enumerate() {
                threads.push(core.clone());
                homes.push((node, nth, need.cores.len()));
            }
        }
        let touchers = Team::new(&setup.machine, &threads, clock.clone())?;
        let arrays = NodeArrays::map(&setup.nodes, setup.offset as usize, setup.pages)?;
        let mut kernel =
            Scaling { contents: Vec::new(), arrays: Arc::new(arrays), clock, touchers, homes, setup };
        kernel.fill()?;
        let task = |plan: &plan::Task| Task {
            watch: Team::watch(&kernel.setup.machine, &plan.threads),
            taken: Vec::new(),
            local: kernel.local_share(plan),
            plan: plan.clone(),
        };
        let tasks = kernel.setup.tasks.iter().map(|plan| (plan.id.clone(), task(plan))).collect();
        Ok((kernel, tasks))
    }

    fn team(&self, task: &Task) -> Result<Rc<Team>, Failure> {
        Team::with_watch(&task.plan.threads, self.clock.clone(), task.watch.clone()).map(Rc::new)
    }

    fn policy(&self, task: &Task) -> Policy {
        let (shortest_sample, least_samples) =
            if task.plan.turns { (SHORTEST_SAMPLE_IN_TURNS, 2) } else { (SHORTEST_SAMPLE, 1) };
        Policy {
            shortest_sample,
            shortest_round: SHORTEST_ROUND,
            least_samples,
            most_samples: MOST_SAMPLES,
            // It changes the sign: after an even number of passes nothing would show whether they took place.
            is_odd: task.plan.operation == Operation::Update,
            ..Policy::default()
        }
    }

    fn amount(&self, task: &Task) -> Amount {
        let elements = task.plan.layout.elements() as u64;
        Amount::Bytes((kernels::Kernel::of(task.plan.operation).counted_bytes() * elements) as f64)
    }

    fn prepare(&mut self, team: &Team, task: &Task, round: usize) -> Result<(), Failure> {
        if self.contents.iter().any(Contents::is_worn) {
            self.fill()?;
        }
        self.blank(team, &task.plan, round)
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Work, Failure> {
        let task = &task.plan;
        let code = self.setup.simd.required(task.operation, task.stores)?;
        Ok(Work::new(task, code, calibration, self.arrays.clone(), &self.contents))
    }

    fn follow(&mut self, task: &mut Task, passes: u64) {
        for (contents, used) in self.contents.iter_mut().zip(&task.plan.layout.used) {
            contents.follow(*used, task.plan.operation, passes);
        }
    }

    fn verify(&mut self, team: &Team, task: &Task, round: usize) -> Result<f64, Failure> {
        self.spot_checks(team, &task.plan, round)
    }

    fn observe(&self, task: &mut Task, work: &Work, round: &mut Round) {
        write_waits(&mut round.evidence);
        if task.plan.schedule == Schedule::Dynamic {
            task.taken.push(work.taken_in_a_pass());
        }
    }

    fn fail(&mut self, _task: &Task) {
        self.contents.iter_mut().for_each(Contents::forget);
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        if self.contents.iter().any(Contents::is_unknown) {
            return Err(Failure::new(UNKNOWN_CONTENTS));
        }
        Ok(vec![self.check(1)?])
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        Ok(vec![self.pages()])
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = Evidence::default();
        self.clock.write(&mut evidence);
        evidence.put(MEMORY_NONZERO, self.check(SPARSE)? <= TOLERANCE);
        Ok(evidence)
    }

    fn evidence_of(&self, task: &Task) -> Evidence {
        let mut evidence = sizes::cache_evidence(&self.setup.machine, task.watch.cpus());
        if task.plan.schedule == Schedule::Static {
            let elements = task.plan.layout.parts.iter().map(|part| part.length as f64);
            evidence.put(THREAD_ELEMENTS, elements.collect());
        }
        evidence.put_reading(NUMA_LOCAL_SHARE, task.local.clone());
        evidence
    }

    fn final_evidence_of(&self, task: &Task) -> Evidence {
        let mut evidence = Evidence::default();
        if task.plan.schedule == Schedule::Dynamic {
            evidence.put(THREAD_ELEMENTS, medians(&task.taken));
        }
        let ends = task.local.clone().and(self.local_share(&task.plan));
        evidence.put_reading(NUMA_LOCAL_SHARE, ends.map(|(start, end)| start.min(end)));
        evidence
    }
}

/// What each thread did in the round's median sample: the share of it at work, and the share it waited for
/// the last one at the end.
fn write_waits(evidence: &mut Evidence) {
    let (starts, stops) = (evidence.get(THREAD_STARTS), evidence.get(THREAD_STOPS));
    let whole = stops.value().and_then(|stops| stops.iter().copied().reduce(f64::max));
    let (Reading::Value(starts), Reading::Value(stops), Some(whole)) = (starts, stops, whole) else {
        evidence.put_unknown(THREAD_BUSY, "no sample was taken");
        evidence.put_unknown(THREAD_WAIT, "no sample was taken");
        return;
    };
    let busy = starts.iter().zip(&stops).map(|(start, stop)| (stop - start) / whole);
    evidence.put(THREAD_BUSY, busy.collect());
    evidence.put(THREAD_WAIT, stops.iter().map(|stop| (whole - stop) / whole).collect());
}
