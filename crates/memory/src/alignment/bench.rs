//! The same loops over arrays that begin at other addresses: memory, code, verification.

use std::rc::Rc;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;

use super::layout::{ALIASING, Layout, Point};
use super::plan::{Level, Setup, Task};
use crate::bandwidth::arrays::Split;
use crate::calibration::{Calibration, Policy, Trial};
use crate::kernels::{self, Operation, SCALAR, Stores};
use crate::page_evidence;
use crate::region::HUGE_PAGE;
use crate::simd::{Loop, Simd};
use crate::sizes;
use crate::team::Team;
use crate::worker::{Amount, CPU_SAMPLE_ELEMENTS, Kernel, Sample, Tasks};

/// Seconds of a sample at least: 100 000 readings of a 30 ns clock.
const SHORTEST_SAMPLE: f64 = 3e-3;
/// Seconds of a round at least: ten ticks of 10 ms, so that tick accounting shows, and many points fit.
const SHORTEST_ROUND: f64 = 0.1;

struct LevelArrays {
    level: Level,
    team: Rc<Team>,
    layout: Arc<Layout>,
    places: Vec<CpuList>,
    is_touched: bool,
}

pub(crate) struct Alignment {
    machine: Machine,
    simd: Simd,
    levels: Vec<LevelArrays>,
}

pub(crate) struct Passes {
    code: Loop,
    operation: Operation,
    point: Point,
    layout: Arc<Layout>,
    passes: u64,
}

impl LevelArrays {
    fn map(level: Level, setup: &Setup, clock: Clock) -> Result<LevelArrays, Failure> {
        let (places, most, boundary) = match level {
            Level::L1 => (setup.threads[..1].to_vec(), setup.l1, ALIASING as usize),
            Level::Memory => (setup.threads.clone(), setup.memory, HUGE_PAGE),
        };
        let team = Team::new(&setup.machine, &places, clock)?;
        let split = Split { threads: team.threads(), most: most as usize };
        let layout = Layout::map(split, boundary, setup.pages)?;
        let (team, layout) = (Rc::new(team), Arc::new(layout));
        let mut arrays = LevelArrays { level, team, layout, places, is_touched: false };
        arrays.each(|layout, thread| layout.fill(thread.index))?;
        let touched = arrays.each(|layout, thread| layout.is_touched(thread.index))?;
        arrays.is_touched = touched.into_iter().all(|is_touched| is_touched);
        Ok(arrays)
    }

    fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&Layout, &WorkerThread) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, Failure> {
        let layout = self.layout.clone();
        self.team.each(move |thread| job(&layout, thread))
    }

    fn pages(&self, machine: &Machine) -> Result<Evidence, Failure> {
        let nodes = self.each(|layout, thread| layout.nodes(thread.index))?;
        let (backing, bytes) = (self.layout.backing(), self.layout.bytes());
        Ok(page_evidence::of_threads(backing, bytes, machine, &self.places, nodes))
    }
}

impl Alignment {
    fn level(&self, task: &Task) -> Result<&LevelArrays, Failure> {
        let arrays = self.levels.iter().find(|arrays| arrays.level == task.level);
        arrays.ok_or_else(|| Failure::new("").on(&task.id).answer("its level was not prepared"))
    }
}

impl Kernel for Alignment {
    type Setup = Setup;
    type Task = Task;
    type Sample = Passes;

    fn set_up(setup: Setup) -> Result<(Alignment, Tasks<Alignment>), Failure> {
        let clock = Clock::for_machine(&setup.machine);
        let mut levels = Vec::new();
        for level in [Level::L1, Level::Memory] {
            if setup.tasks.iter().any(|task| task.level == level) {
                levels.push(LevelArrays::map(level, &setup, clock.clone())?);
            }
        }
        let tasks = setup.tasks.into_iter().map(|task| (task.id.clone(), task)).collect();
        Ok((Alignment { machine: setup.machine, simd: setup.simd, levels }, tasks))
    }

    fn team(&self, task: &Task) -> Result<Rc<Team>, Failure> {
        Ok(self.level(task)?.team.clone())
    }

    fn policy(&self, _task: &Task) -> Policy {
        Policy {
            shortest_sample: SHORTEST_SAMPLE,
            shortest_round: SHORTEST_ROUND,
            // Long enough that the start of the threads does not count.
            trial: Trial::Seconds(SHORTEST_SAMPLE / 4.0),
            ..Policy::default()
        }
    }

    fn amount(&self, task: &Task) -> Amount {
        let elements = self.level(task).map_or(0, |arrays| arrays.layout.split.most as u64);
        Amount::Bytes((kernels::Kernel::of(task.operation).counted_bytes() * elements) as f64)
    }

    /// Overwrites the elements that will be checked, so that results of the round before do not pass.
    fn prepare(&mut self, _team: &Team, task: &Task, round: usize) -> Result<(), Failure> {
        let point = task.point;
        let spoil =
            move |layout: &Layout, thread: &WorkerThread| layout.spoil(thread.index, point, turn(round));
        self.level(task)?.each(spoil).map(drop)
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Passes, Failure> {
        if task.stores == Stores::Nt && task.point.misalignment > 0 {
            return Err(Failure::new("").on(&task.id).answer("non-temporal stores of misaligned vectors"));
        }
        Ok(Passes {
            code: self.simd.required(task.operation, task.stores)?,
            operation: task.operation,
            point: task.point,
            layout: self.level(task)?.layout.clone(),
            passes: calibration.passes,
        })
    }

    fn verify(&mut self, _team: &Team, task: &Task, round: usize) -> Result<f64, Failure> {
        let (point, operation) = (task.point, task.operation);
        let error = move |layout: &Layout, thread: &WorkerThread| {
            layout.error(thread.index, operation, point, turn(round))
        };
        Ok(self.level(task)?.each(error)?.into_iter().fold(0.0, f64::max))
    }

    fn fail(&mut self, task: &Task) {
        // What was overwritten for it may still be there; what stays is found when all is verified.
        let _ = self.level(task).and_then(|arrays| arrays.each(|layout, thread| layout.fill(thread.index)));
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        let error = |arrays: &LevelArrays| -> Result<f64, Failure> {
            let errors = arrays.each(|layout, thread| layout.full_error(thread.index))?;
            Ok(errors.into_iter().fold(0.0, f64::max))
        };
        self.levels.iter().map(error).collect()
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        self.levels.iter().map(|arrays| arrays.pages(&self.machine)).collect()
    }

    fn memory_of(&self, task: &Task) -> usize {
        self.levels.iter().position(|arrays| arrays.level == task.level).unwrap_or(0)
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = Evidence::default();
        if let Some(arrays) = self.levels.first() {
            arrays.team.pool.clock.write(&mut evidence);
        }
        evidence.put(PLACE_READBACK, self.levels.iter().all(|arrays| arrays.team.pool.readback));
        Ok(evidence)
    }

    fn evidence_of(&self, task: &Task) -> Evidence {
        let Ok(arrays) = self.level(task) else { return Evidence::default() };
        let mut evidence = sizes::cache_evidence(&self.machine, arrays.team.cpus());
        evidence.put(MEMORY_NONZERO, arrays.is_touched);
        evidence
    }
}

fn turn(round: usize) -> usize {
    round * 7919
}

impl Sample for Passes {
    fn run(&self, thread: &WorkerThread, _sample: usize) -> f64 {
        let share = self.layout.split.share(thread.index, self.layout.split.most);
        let [a, b, c] = self.layout.arrays(self.operation, thread.index, self.point);
        for _ in 0..self.passes {
            let mut done = 0;
            while done < share {
                let length = CPU_SAMPLE_ELEMENTS.min(share - done);
                // SAFETY: the thread's own parts hold `share` elements at this point; lengths are multiples
                // of a block; regular stores take any alignment, and non-temporal ones have theirs by the
                // plan.
                unsafe { (self.code)(a.add(done), b.add(done), c.add(done), length, SCALAR) };
                done += length;
                // Reading the current CPU costs as much as a pass in L1.
                if length == CPU_SAMPLE_ELEMENTS {
                    thread.sample_cpu();
                }
            }
        }
        0.0
    }
}
