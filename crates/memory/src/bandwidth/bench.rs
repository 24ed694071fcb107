//! STREAM's kernels over three arrays: memory, code, verification.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use figure::Evidence;
use figure::evidence::*;
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pool::WorkerThread;
use lab::worker::WorkerReport;

use super::arrays::{Arrays, Split};
use super::expected::{Expected, SUM_TOLERANCE, TOLERANCE, relative_error};
use super::plan::{Code, Setup, Task};
use crate::calibration::{Calibration, MOST_SAMPLES, Policy};
use crate::kernels::{self, ALL_ARRAYS, Array, Operation, SCALAR, UPDATE_FACTOR};
use crate::simd::Loop;
use crate::sizes;
use crate::team::Team;
use crate::worker::{Amount, CPU_SAMPLE_ELEMENTS, Kernel, Sample, Tasks, UNKNOWN_CONTENTS, Worker};
use loops::baseline;

mod proof;

/// Two regions of each part: the first share, which all figures use, and the rest, which doubled arrays use.
type Regions = [Expected; 2];

pub(crate) struct Bandwidth {
    setup: Setup,
    team: Rc<Team>,
    arrays: Arc<Arrays>,
    regions: Regions,
    /// Elements that all figures use; beyond is the doubled region.
    near: usize,
    /// Samples that a round of a figure has at least; 1 for figures that are not in it.
    least_samples: BTreeMap<String, usize>,
}

pub(crate) struct Passes {
    code: Loop,
    operation: Operation,
    scalar: f64,
    arrays: Arc<Arrays>,
    elements: usize,
    near: usize,
    /// What every element holds that is read: in the first region, and in the doubled one.
    expected: [f64; 2],
    /// Elements of one call.
    stride: usize,
    passes: u64,
}

/// A worker of these kernels, for modes that measure around them or next to them. Some figures, by id, may
/// get rounds of at least so many samples: for comparison with a program that quotes the best of as many.
pub(crate) fn ready(
    setup: Setup,
    least_samples: BTreeMap<String, usize>,
) -> Result<(Worker<Bandwidth>, WorkerReport), Failure> {
    let (kernel, tasks) = Bandwidth::set_up(setup)?;
    Worker::new(Bandwidth { least_samples, ..kernel }, tasks)
}

impl Bandwidth {
    /// Writes the start values, each thread its own parts: the first touch.
    fn fill(&mut self) -> Result<(), Failure> {
        self.regions = Regions::default();
        let (arrays, start) = (self.arrays.clone(), Expected::default());
        let fill = move |worker: &WorkerThread| {
            for array in ALL_ARRAYS {
                let length = arrays.split.share(worker.index, arrays.split.most);
                // SAFETY: the thread's own part, and no other thread touches it.
                unsafe { std::slice::from_raw_parts_mut(arrays.part(array, worker.index), length) }
                    .fill(start.value(array));
            }
        };
        self.team.each(fill).map(drop)
    }

    fn thread_elements(&self, elements: usize) -> Vec<f64> {
        let share = |thread| self.arrays.split.share(thread, elements) as f64;
        (0..self.team.threads()).map(share).collect()
    }

    fn code(&self, task: &Task) -> Result<Loop, Failure> {
        match task.code {
            Code::Kernel(stores) => self.setup.simd.required(task.operation, stores),
            Code::Baseline(origin) => baseline::kernel(task.operation, origin)
                .ok_or_else(|| Failure::new("no such baseline").on(&task.id)),
        }
    }
}

impl Kernel for Bandwidth {
    type Setup = Setup;
    type Task = Task;
    type Sample = Passes;

    const SAMPLE_TOLERANCE: f64 = SUM_TOLERANCE;
    const IS_SHARED: bool = true;

    fn set_up(setup: Setup) -> Result<(Bandwidth, Tasks<Bandwidth>), Failure> {
        let team = Team::new(&setup.machine, &setup.threads, Clock::for_machine(&setup.machine))?;
        let split = Split { threads: team.threads(), most: setup.most as usize };
        let arrays = Arrays::map(split, setup.offset as usize, setup.pages, None)?;
        let near = setup.tasks.iter().map(|task| task.elements).min().unwrap_or(setup.most) as usize;
        let tasks = setup.tasks.iter().map(|task| (task.id.clone(), task.clone())).collect();
        let mut kernel = Bandwidth {
            team: Rc::new(team),
            arrays: Arc::new(arrays),
            regions: Regions::default(),
            near,
            setup,
            least_samples: BTreeMap::new(),
        };
        kernel.fill()?;
        Ok((kernel, tasks))
    }

    fn team(&self, _task: &Task) -> Result<Rc<Team>, Failure> {
        Ok(self.team.clone())
    }

    fn policy(&self, task: &Task) -> Policy {
        let least_samples = self.least_samples.get(&task.id).copied().unwrap_or(1).clamp(1, MOST_SAMPLES);
        Policy { least_samples, ..Policy::default() }
    }

    fn amount(&self, task: &Task) -> Amount {
        Amount::Bytes((kernels::Kernel::of(task.operation).counted_bytes() * task.elements) as f64)
    }

    /// Fills arrays with values that are out of range, or would be after one more pass.
    fn prepare(&mut self, _team: &Team, task: &Task, _round: usize) -> Result<(), Failure> {
        let is_worn = |region: &Expected| region.is_worn() || region.after(task.operation).is_worn();
        if self.regions.iter().any(is_worn) { self.fill() } else { Ok(()) }
    }

    fn sample(&mut self, task: &Task, calibration: Calibration) -> Result<Passes, Failure> {
        Ok(Passes {
            code: self.code(task)?,
            operation: task.operation,
            scalar: if task.operation == Operation::Update { UPDATE_FACTOR } else { SCALAR },
            arrays: self.arrays.clone(),
            elements: task.elements as usize,
            near: self.near,
            expected: self.regions.map(|region| region.value(Array::A)),
            // memcpy decides by the length of a call whether to store past the cache: it gets the whole share.
            stride: match task.code {
                Code::Kernel(_) => CPU_SAMPLE_ELEMENTS,
                Code::Baseline(_) => usize::MAX,
            },
            passes: calibration.passes,
        })
    }

    fn follow(&mut self, task: &mut Task, passes: u64) {
        self.regions[0] = self.regions[0].after_passes(task.operation, passes);
        if task.elements as usize > self.near {
            self.regions[1] = self.regions[1].after_passes(task.operation, passes);
        }
    }

    fn verify(&mut self, _team: &Team, task: &Task, round: usize) -> Result<f64, Failure> {
        let target = kernels::Kernel::of(task.operation).stores;
        target.map_or(Ok(0.0), |target| self.spot_checks(target, round * 7919))
    }

    fn fail(&mut self, _task: &Task) {
        self.regions = [Expected::UNKNOWN; 2];
    }

    fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
        if self.regions.iter().any(Expected::is_unknown) {
            return Err(Failure::new(UNKNOWN_CONTENTS));
        }
        Ok(vec![self.full_check()?])
    }

    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
        Ok(vec![self.pages()?])
    }

    fn evidence(&self) -> Result<Evidence, Failure> {
        let mut evidence = self.team.evidence();
        evidence.put(THREAD_ELEMENTS, self.thread_elements(self.near));
        let mut worst: f64 = 0.0;
        for array in [Array::A, Array::B, Array::C] {
            worst = worst.max(self.spot_checks(array, 0)?);
        }
        evidence.put(MEMORY_NONZERO, worst <= TOLERANCE);
        evidence.merge(sizes::cache_evidence(&self.setup.machine, self.team.cpus()));
        Ok(evidence)
    }

    fn evidence_of(&self, task: &Task) -> Evidence {
        let mut evidence = Evidence::default();
        if task.elements as usize > self.near {
            evidence.put(THREAD_ELEMENTS, self.thread_elements(task.elements as usize));
        }
        evidence
    }
}

impl Sample for Passes {
    fn run(&self, worker: &WorkerThread, _sample: usize) -> f64 {
        let share = self.arrays.split.share(worker.index, self.elements);
        let [a, b, c] = [Array::A, Array::B, Array::C].map(|array| self.arrays.part(array, worker.index));
        let border = self.arrays.split.share(worker.index, self.near);
        let [inner, outer] = self.expected;
        let expected = inner * border as f64 + outer * (share - border) as f64;
        let mut worst: f64 = 0.0;
        for _ in 0..self.passes {
            let (mut sum, mut done) = (0.0, 0);
            while done < share {
                let length = self.stride.min(share - done);
                // SAFETY: the thread's own parts from `done` on hold `length` elements more; both are
                // multiples of a block; parts are aligned as the plan saw to; the set is available.
                sum += unsafe { (self.code)(a.add(done), b.add(done), c.add(done), length, self.scalar) };
                done += length;
                worker.sample_cpu();
            }
            if self.operation == Operation::Read && share > 0 {
                worst = worst.max(relative_error(sum, expected));
            }
        }
        worst
    }
}
