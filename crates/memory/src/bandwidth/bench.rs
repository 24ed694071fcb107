//! The worker of the memory suite: arrays, threads, rounds, verification.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{Event, Evidence, Round, stats};
use lab::clock::Clock;
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::arrays::{Arrays, Split};
use super::baseline;
use super::expected::{Expected, SUM_TOLERANCE, TOLERANCE, relative_error};
use super::plan::{Code, Setup, Task};
use crate::dose::{Dose, MOST_SAMPLES, SHORTEST_ROUND};
use crate::kernels::{Array, ELEMENT, Kernel, Operation, SCALAR, UPDATE_FACTOR};
use crate::obtained;
use crate::simd::Loop;
use crate::sizes;

mod proof;

/// Elements between two glances at the CPU: 8 MiB, a millisecond or so.
const GLANCE_ELEMENTS: usize = 1 << 20;

/// The arrays' two regions: the first share of each part is used by every figure, the rest only by those
/// with doubled arrays.
type Regions = [Expected; 2];

/// What is remembered of a task.
#[derive(Debug, Default)]
struct History {
    dose: Option<Dose>,
    worst_error: f64,
    thread_seconds: Vec<Vec<f64>>,
}

/// Arrays, threads and kernels, ready to measure.
pub(crate) struct MemoryBench {
    setup: Setup,
    pool: Pool,
    watch: Watch,
    arrays: Arc<Arrays>,
    regions: Regions,
    /// Elements that all figures use; beyond is the doubled region.
    near: usize,
    tasks: BTreeMap<String, (Task, History)>,
    /// What was obtained at the start: see [`proof`].
    at_start: Evidence,
    /// Samples that a round of a figure has at least; 1 where nothing is said.
    least_samples: BTreeMap<String, usize>,
    /// Highest rate of counted bytes so far, in bytes a second.
    fastest: f64,
}

/// Maps and touches the arrays, starts the threads, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let (bench, facts) = ready(setup, BTreeMap::new())?;
    Ok((Box::new(bench), facts))
}

/// [`prepare`], for modes that measure around these kernels or beside them. Some figures, by id, may get rounds of at least so
/// many samples: for comparison with a program that quotes the best of as many.
///
/// # Errors
/// What could not be had, in words for the user.
pub(crate) fn ready(
    setup: Setup,
    least_samples: BTreeMap<String, usize>,
) -> Result<(MemoryBench, Facts), String> {
    let machine = &setup.machine;
    let placement = Placement { places: "list", bind: "close", threads: setup.threads.clone() };
    let pool = Pool::new(&placement, Clock::of(machine)).map_err(|error| error.to_string())?;
    let cpus = placement.cpus();
    let watch = Watch::new(&Tree::live(), machine, &cpus);

    let split = Split { threads: pool.threads(), most: setup.most as usize };
    let arrays = Arrays::map(split, setup.offset as usize, setup.pages).map_err(|error| {
        let bytes = figure::format::bytes((sizes::ARRAYS * setup.most * ELEMENT) as f64);
        format!(
            "arrays of {bytes} could not be mapped: {error}; a limit on address space (ulimit -v) or \
                 vm.overcommit_memory=2 may forbid them: give a smaller --array-size"
        )
    })?;
    let near = setup.tasks.iter().map(|task| task.elements).min().unwrap_or(setup.most) as usize;
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), (task.clone(), History::default())));
    let mut bench = MemoryBench {
        tasks: tasks.collect(),
        pool,
        watch,
        arrays: Arc::new(arrays),
        regions: Regions::default(),
        near,
        setup,
        at_start: Evidence::default(),
        least_samples,
        fastest: 0.0,
    };
    bench.fill()?;
    bench.at_start = bench.obtained()?;
    let facts = bench.facts()?;
    Ok((bench, facts))
}

impl MemoryBench {
    /// Writes the start values, each thread its own parts: the first touch.
    fn fill(&mut self) -> Result<(), String> {
        self.regions = Regions::default();
        let (arrays, start) = (self.arrays.clone(), Expected::default());
        self.each(move |seat| {
            for array in [Array::A, Array::B, Array::C] {
                let length = arrays.split.share(seat.index, arrays.split.most);
                // SAFETY: the thread's own part, and no other thread touches it.
                unsafe { std::slice::from_raw_parts_mut(arrays.part(array, seat.index), length) }
                    .fill(start.of(array));
            }
        })?;
        Ok(())
    }

    fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&Seat) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, String> {
        self.pool.run(job).map_err(|error| error.to_string())
    }

    /// What was obtained, true of every figure.
    fn facts(&self) -> Result<Facts, String> {
        let mut facts = Facts { evidence: obtained::of_pool(&self.pool), ..Facts::default() };
        let evidence = &mut facts.evidence;
        let elements = |thread| self.arrays.split.share(thread, self.near) as f64;
        evidence.put(THREAD_ELEMENTS, (0..self.pool.threads()).map(elements).collect());
        for (id, (task, _)) in self.tasks.iter().filter(|(_, (task, _))| task.elements as usize > self.near) {
            let elements = |thread| self.arrays.split.share(thread, task.elements as usize) as f64;
            let mut own = Evidence::default();
            own.put(THREAD_ELEMENTS, (0..self.pool.threads()).map(elements).collect());
            facts.figures.push((id.clone(), own));
        }
        evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");

        evidence.merge(self.at_start.clone());
        let worst = self.spot_checks(Array::A, 0)?.max(self.spot_checks(Array::B, 0)?);
        evidence.put(MEMORY_NONZERO, worst.max(self.spot_checks(Array::C, 0)?) <= TOLERANCE);
        evidence.merge(obtained::of_caches(&self.setup.machine, self.watch.cpus()));
        Ok(facts)
    }

    /// Decides passes and samples: by the fastest rate so far where one pass is certainly long enough, else by
    /// one untimed pass.
    fn dose(&mut self, task: &Task, code: Loop) -> Result<Dose, String> {
        let least = self.least_samples.get(&task.id).copied().unwrap_or(1).clamp(1, MOST_SAMPLES);
        if self.fastest > 0.0 && counted_bytes(task) / self.fastest > 2.0 * SHORTEST_ROUND {
            return Ok(Dose { passes: 1, samples: least });
        }
        let seconds = {
            let work = self.work(task, code, 1);
            let stamps = self.each(move |seat| {
                let _ = seat.wait();
                let start = seat.clock.now();
                work(seat);
                (start, seat.clock.now())
            })?;
            // As a sample is timed: threads that share a CPU work one after the other.
            let start = stamps.iter().map(|(start, _)| *start).min().unwrap_or(0);
            let stop = stamps.iter().map(|(_, stop)| *stop).max().unwrap_or(0);
            self.pool.clock.seconds(start, stop)
        };
        self.follow(task, 1);
        let dose = Dose::of(seconds);
        Ok(Dose { samples: dose.samples.max(least), ..dose })
    }

    /// The work of one sample on one thread; returns the largest relative error of a sum.
    fn work(&self, task: &Task, code: Loop, passes: u64) -> impl Fn(&Seat) -> f64 + Send + Sync + use<> {
        let (arrays, operation) = (self.arrays.clone(), task.operation);
        let elements = task.elements as usize;
        let scalar = if operation == Operation::Update { UPDATE_FACTOR } else { SCALAR };
        let (near, [inner, outer]) = (self.near, self.regions.map(|region| region.of(Array::A)));
        // memcpy decides by the length of the call whether to store past the cache: it gets its share whole.
        let stride = match task.code {
            Code::Kernel(_) => GLANCE_ELEMENTS,
            Code::Baseline(_) => usize::MAX,
        };
        move |seat| {
            let share = arrays.split.share(seat.index, elements);
            let [a, b, c] = [Array::A, Array::B, Array::C].map(|array| arrays.part(array, seat.index));
            let border = arrays.split.share(seat.index, near);
            let expected = inner * border as f64 + outer * (share - border) as f64;
            let mut worst: f64 = 0.0;
            for _ in 0..passes {
                let (mut sum, mut done) = (0.0, 0);
                while done < share {
                    let length = stride.min(share - done);
                    // SAFETY: the thread's own parts from `done` on hold `length` elements more; both are
                    // multiples of a block; parts are aligned as the plan saw to; the set is available.
                    sum += unsafe { code(a.add(done), b.add(done), c.add(done), length, scalar) };
                    done += length;
                    seat.glance();
                }
                if operation == Operation::Read && share > 0 {
                    worst = worst.max(relative_error(sum, expected));
                }
            }
            worst
        }
    }

    /// Notes that a task ran this many passes.
    fn follow(&mut self, task: &Task, passes: u64) {
        self.regions[0] = self.regions[0].after_passes(task.operation, passes);
        if task.elements as usize > self.near {
            self.regions[1] = self.regions[1].after_passes(task.operation, passes);
        }
    }

    fn code(&self, task: &Task) -> Result<Loop, String> {
        let code = match task.code {
            Code::Kernel(stores) => self.setup.simd.kernel(task.operation, stores),
            Code::Baseline(origin) => baseline::kernel(task.operation, origin),
        };
        code.ok_or_else(|| format!("{}: no machine code for {}", task.id, self.setup.simd.word()))
    }
}

/// Bytes that one pass of a task counts.
fn counted_bytes(task: &Task) -> f64 {
    (Kernel::of(task.operation).counted_bytes() * task.elements) as f64
}

impl Bench for MemoryBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        self.with_task(id, Self::measure).map(|(round, _)| round)
    }

    fn finish(&mut self) -> Result<Facts, String> {
        if self.regions.iter().any(Expected::is_unknown) {
            return Err("the last round failed, and nobody knows what the arrays should hold".to_owned());
        }
        let whole = self.full_check()?;
        let mut facts = Facts { evidence: self.obtained_throughout()?, ..Facts::default() };
        // Whoever was seen to leave wrong values has spoilt the arrays for all that came after.
        let culprit = self.tasks.iter().find(|(_, (_, history))| history.worst_error > TOLERANCE);
        let spoilt =
            culprit.map(|(id, _)| format!("{id} left wrong values, which the others then worked on"));
        // A figure without rounds here may have some from a worker that died, which nobody can check.
        for (id, (_, history)) in self.tasks.iter().filter(|(_, (_, history))| history.dose.is_some()) {
            let mut evidence = Evidence::default();
            match &spoilt {
                Some(reason) if history.worst_error <= TOLERANCE => {
                    evidence.put_unknown(VERIFIED, reason.clone());
                    evidence.put_unknown(VERIFIED_ERROR, reason.clone());
                }
                _ => {
                    let worst = history.worst_error.max(whole);
                    evidence.put(VERIFIED, worst <= TOLERANCE);
                    evidence.put(VERIFIED_ERROR, worst);
                }
            }
            let threads = history.thread_seconds.first().map_or(0, Vec::len);
            let of =
                |thread: usize| history.thread_seconds.iter().map(|round| round[thread]).collect::<Vec<_>>();
            evidence.put(THREAD_SECONDS, (0..threads).filter_map(|t| stats::median(&of(t))).collect());
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}

impl MemoryBench {
    /// Measures a round of a figure; with it the elements that the kernel worked on in all its samples.
    ///
    /// # Errors
    /// As [`Bench::round`].
    pub(crate) fn round_with_elements(&mut self, id: &str) -> Result<(Round, f64), String> {
        self.with_task(id, Self::measure)
    }

    /// One untimed pass, after which the caches hold what they hold in the midst of a round, and the next round
    /// does nothing but its timed passes. Gives the elements of that pass.
    ///
    /// # Errors
    /// When the threads fail.
    pub(crate) fn warm(&mut self, id: &str) -> Result<f64, String> {
        self.with_task(id, |bench, task, history| {
            let code = bench.code(task)?;
            if history.dose.is_none() {
                history.dose = Some(bench.dose(task, code)?);
            }
            if bench.regions.iter().any(|region| region.is_worn() || region.after(task.operation).is_worn()) {
                bench.fill()?;
            }
            let work = bench.work(task, code, 1);
            bench.each(move |seat| work(seat))?;
            bench.follow(task, 1);
            Ok(task.elements as f64)
        })
    }

    fn with_task<T>(
        &mut self,
        id: &str,
        job: impl FnOnce(&mut Self, &Task, &mut History) -> Result<T, String>,
    ) -> Result<T, String> {
        let (task, mut history) = self.tasks.remove(id).ok_or_else(|| format!("no figure {id}"))?;
        let done = job(self, &task, &mut history);
        if done.is_err() {
            // Some threads may have worked and others not: nobody knows what the arrays hold.
            self.regions = [Expected::UNKNOWN; 2];
        }
        self.tasks.insert(id.to_owned(), (task, history));
        done
    }

    fn measure(&mut self, task: &Task, history: &mut History) -> Result<(Round, f64), String> {
        if self.regions.iter().any(Expected::is_worn) {
            self.fill()?;
        }
        let code = self.code(task)?;
        let dose = match history.dose {
            Some(dose) => dose,
            None => *history.dose.insert(self.dose(task, code)?),
        };
        let errors = Arc::new(std::sync::Mutex::new(0.0f64));
        let (work, shared) = (self.work(task, code, dose.passes), errors.clone());
        let measured = measure::round(&self.pool, &self.watch, dose.samples, move |seat, _| {
            let error = work(seat);
            // Rounding alone must not make the threads queue for the lock inside the timed region.
            if error > SUM_TOLERANCE {
                let mut worst = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                *worst = worst.max(error);
            }
        })
        .map_err(|error| error.to_string())?;
        self.follow(task, dose.passes * measured.samples.len() as u64);
        if measured.samples.is_empty() || measured.samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!(
                "{}: the clock ({}) gave no time for a sample",
                task.id, self.pool.clock.basis
            ));
        }

        let kernel = Kernel::of(task.operation);
        if let Some(target) = kernel.stores {
            let turn = history.thread_seconds.len() * 7919;
            history.worst_error = history.worst_error.max(self.spot_checks(target, turn)?);
        }
        let sum_error = *errors.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        history.worst_error = history.worst_error.max(sum_error);
        history.thread_seconds.push(measured.thread_seconds);
        let bytes = counted_bytes(task) * dose.passes as f64;
        let rates = measured.samples.iter().map(|seconds| bytes / seconds);
        self.fastest = rates.fold(self.fastest, f64::max);
        let elements = (task.elements * dose.passes) as f64 * measured.samples.len() as f64;
        let round = Round::new(
            measured.started,
            measured.duration,
            measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect(),
            measured.evidence,
        );
        Ok((round, elements))
    }
}
