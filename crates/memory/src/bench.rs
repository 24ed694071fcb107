//! The worker of the memory suite: arrays, threads, rounds, verification.

use std::collections::BTreeMap;
use std::sync::Arc;

use figure::evidence::*;
use figure::{Event, Reading, Round, stats};
use lab::clock::Clock;
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use crate::arrays::{Arrays, Split};
use crate::baseline;
use crate::expected::{Expected, SUM_TOLERANCE, TOLERANCE, relative_error};
use crate::kernels::{Array, Kernel, Operation, SCALAR, UPDATE_FACTOR};
use crate::pages::{self, Backing};
use crate::plan::{Code, Setup, Task};
use crate::simd::Loop;
use crate::sizes;

/// A sample lasts at least this long, by as many passes as that takes: 50 000 readings of a 20 ns clock.
const SHORTEST_SAMPLE: f64 = 1e-3;
/// A round lasts at least about this long, by as many samples as that takes: twenty clock ticks of 10 ms, so that
/// tick accounting (steal, foreign load) can say something.
const SHORTEST_ROUND: f64 = 0.2;
/// Samples of one round at most.
const MOST_SAMPLES: usize = 64;
/// Elements between two glances at the CPU: 8 MiB, a millisecond or so.
const GLANCE_ELEMENTS: usize = 1 << 20;
/// Elements that each thread looks at after a round.
const SPOT_CHECKS: usize = 256;
/// Pages whose node each thread asks for in each array.
const PAGE_SAMPLES: usize = 64;

/// The arrays' two regions: the first share of each part is used by every figure, the rest only by those
/// with doubled arrays.
type Regions = [Expected; 2];

/// How a task is run, once known.
#[derive(Clone, Copy, Debug)]
struct Dose {
    passes: u64,
    samples: usize,
}

/// What is remembered of a task.
#[derive(Debug, Default)]
struct Memory {
    dose: Option<Dose>,
    worst_error: f64,
    thread_seconds: Vec<Vec<f64>>,
}

struct MemoryBench {
    setup: Setup,
    pool: Pool,
    watch: Watch,
    arrays: Arc<Arrays>,
    regions: Regions,
    /// Elements that all figures use; beyond is the doubled region.
    near: usize,
    tasks: BTreeMap<String, (Task, Memory)>,
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
    let machine = &setup.machine;
    let placement = Placement { places: "list", bind: "close", threads: setup.threads.clone() };
    let invariant = machine.cpu.invariant_counter.value().copied().unwrap_or(false);
    let clocksource = machine.kernel.setting("clocksource").and_then(|setting| setting.value.value());
    let clock = Clock::choose(invariant, clocksource.map(String::as_str));
    let pool = Pool::new(&placement, clock).map_err(|error| error.to_string())?;
    let cpus = placement.cpus();
    let watch = Watch::new(&Tree::live(), machine, &cpus);

    let split = Split { threads: pool.threads(), most: setup.most as usize };
    let arrays = Arrays::map(split, setup.offset as usize, setup.pages)
        .map_err(|error| format!("mapping the arrays: {error}"))?;
    let near = setup.tasks.iter().map(|task| task.elements).min().unwrap_or(setup.most) as usize;
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), (task.clone(), Memory::default())));
    let mut bench = MemoryBench {
        tasks: tasks.collect(),
        pool,
        watch,
        arrays: Arc::new(arrays),
        regions: Regions::default(),
        near,
        setup,
        fastest: 0.0,
    };
    bench.fill()?;
    let facts = bench.facts()?;
    Ok((Box::new(bench), facts))
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
        let mut facts = Facts::default();
        let evidence = &mut facts.evidence;
        let precision = self.pool.clock.precision();
        evidence.put(CLOCK_GRANULARITY, precision.granularity);
        evidence.put(CLOCK_COST, precision.cost);
        evidence.put(CLOCK_SOURCE, self.pool.clock.basis.clone());
        evidence.put(PLACE_READBACK, self.pool.readback);
        let elements = |thread| self.arrays.split.share(thread, self.near) as f64;
        evidence.put(THREAD_ELEMENTS, (0..self.pool.threads()).map(elements).collect());
        for (id, (task, _)) in self.tasks.iter().filter(|(_, (task, _))| task.elements as usize > self.near) {
            let elements = |thread| self.arrays.split.share(thread, task.elements as usize) as f64;
            let mut own = figure::Evidence::default();
            own.put(THREAD_ELEMENTS, (0..self.pool.threads()).map(elements).collect());
            facts.figures.push((id.clone(), own));
        }
        evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");

        let backing = self.backing();
        let arrays = self.arrays.bytes() as f64;
        let share = |part: fn(&Backing) -> u64| backing.clone().map(|b| (part(&b) as f64 / arrays).min(1.0));
        evidence.put_reading(MEMORY_RESIDENT, share(|backing| backing.resident));
        evidence.put_reading(PAGES_HUGE_SHARE, share(|backing| backing.huge));
        evidence.put_reading(PAGES_SIZE, backing.clone().map(|backing| backing.page as f64));
        let worst = self.spot_checks(Array::A, 0)?.max(self.spot_checks(Array::B, 0)?);
        evidence.put(MEMORY_NONZERO, worst.max(self.spot_checks(Array::C, 0)?) <= TOLERANCE);
        evidence.put_reading(NUMA_LOCAL_SHARE, self.local_share()?);

        let machine = &self.setup.machine;
        match sizes::last_level(machine, self.watch.cpus()) {
            Reading::Value(cache) => {
                evidence.put(LLC_BYTES, cache.bytes as f64);
                evidence.put(LLC_BASIS, cache.basis);
            }
            Reading::Unknown(reason) => {
                evidence.put_unknown(LLC_BYTES, reason.clone());
                evidence.put_unknown(LLC_BASIS, reason);
            }
        }
        Ok(facts)
    }

    /// What backs the three arrays together.
    fn backing(&self) -> Reading<Backing> {
        let (start, _) = self.arrays.range(Array::A);
        let (_, end) = self.arrays.range(Array::C);
        pages::backing(start, end)
    }

    /// Share of sampled pages that lie on the node of the thread that uses them.
    fn local_share(&self) -> Result<Reading<f64>, String> {
        let arrays = self.arrays.clone();
        let samples = self.each(move |seat| {
            let share = arrays.split.share(seat.index, arrays.split.most);
            let step = (share / PAGE_SAMPLES).max(1);
            let parts = [Array::A, Array::B, Array::C].map(|array| arrays.part(array, seat.index));
            let addresses: Vec<usize> = parts
                .into_iter()
                .flat_map(|part| (0..share).step_by(step).map(move |i| part.wrapping_add(i) as usize))
                .collect();
            pages::nodes_of(&addresses)
        })?;
        let (mut local, mut all) = (0usize, 0usize);
        for (place, nodes) in self.setup.threads.iter().zip(samples) {
            let nodes = match nodes {
                Reading::Value(nodes) => nodes,
                Reading::Unknown(reason) => return Ok(Reading::Unknown(reason)),
            };
            let own = place.first().and_then(|cpu| self.setup.machine.cpu(cpu)?.node);
            let Some(own) = own else {
                return Ok(Reading::unknown("the kernel shows no NUMA node for the CPUs in use"));
            };
            all += nodes.len();
            local += nodes.iter().filter(|node| **node == Some(own)).count();
        }
        Ok(Reading::Value(local as f64 / all.max(1) as f64))
    }

    /// Largest relative error at some elements of an array, other ones for each `turn`; near region only.
    fn spot_checks(&self, array: Array, turn: usize) -> Result<f64, String> {
        let (arrays, near, expected) = (self.arrays.clone(), self.near, self.regions[0].of(array));
        let errors = self.each(move |seat| {
            let share = arrays.split.share(seat.index, near);
            let step = (share / SPOT_CHECKS).max(1);
            let part = arrays.part(array, seat.index);
            (turn % step..share)
                .step_by(step)
                // SAFETY: inside the thread's share, which nobody writes meanwhile.
                .map(|i| relative_error(unsafe { part.add(i).read_volatile() }, expected))
                .fold(0.0, f64::max)
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    /// Largest relative error over every element of every array.
    fn full_check(&self) -> Result<f64, String> {
        let (arrays, near, regions) = (self.arrays.clone(), self.near, self.regions);
        let errors = self.each(move |seat| {
            let most = arrays.split.share(seat.index, arrays.split.most);
            let border = arrays.split.share(seat.index, near);
            let mut worst: f64 = 0.0;
            for array in [Array::A, Array::B, Array::C] {
                // SAFETY: the thread's own part, which nobody writes meanwhile.
                let part = unsafe { std::slice::from_raw_parts(arrays.part(array, seat.index), most) };
                for (region, slice) in regions.iter().zip([&part[..border], &part[border..]]) {
                    let expected = region.of(array);
                    let error = |value: &f64| relative_error(*value, expected);
                    worst = slice.iter().map(error).fold(worst, f64::max);
                }
            }
            worst
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    /// Decides passes and samples: by the fastest rate so far where one pass is certainly long enough, else by
    /// one untimed pass.
    fn dose(&mut self, task: &Task, code: Loop) -> Result<Dose, String> {
        if self.fastest > 0.0 && counted_bytes(task) / self.fastest > 2.0 * SHORTEST_ROUND {
            return Ok(Dose { passes: 1, samples: 1 });
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
            self.pool.clock.seconds(start, stop).max(1e-9)
        };
        self.follow(task, 1);
        let passes = (SHORTEST_SAMPLE / seconds).ceil().max(1.0) as u64;
        let samples = (SHORTEST_ROUND / (seconds * passes as f64)).ceil() as usize;
        Ok(Dose { passes, samples: samples.clamp(1, MOST_SAMPLES) })
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
        let (task, mut memory) = self.tasks.remove(id).ok_or_else(|| format!("no figure {id}"))?;
        let round = self.measure(&task, &mut memory);
        if round.is_err() {
            // Some threads may have worked and others not: nobody knows what the arrays hold.
            self.regions = [Expected::UNKNOWN; 2];
        }
        self.tasks.insert(id.to_owned(), (task, memory));
        round
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let whole = self.full_check()?;
        let mut facts = Facts::default();
        for (id, (_, memory)) in &self.tasks {
            let mut evidence = figure::Evidence::default();
            let worst = memory.worst_error.max(whole);
            evidence.put(VERIFIED, worst <= TOLERANCE);
            evidence.put(VERIFIED_ERROR, worst);
            let threads = memory.thread_seconds.first().map_or(0, Vec::len);
            let of =
                |thread: usize| memory.thread_seconds.iter().map(|round| round[thread]).collect::<Vec<_>>();
            evidence.put(THREAD_SECONDS, (0..threads).filter_map(|t| stats::median(&of(t))).collect());
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}

impl MemoryBench {
    fn measure(&mut self, task: &Task, memory: &mut Memory) -> Result<Round, String> {
        if self.regions.iter().any(Expected::is_worn) {
            self.fill()?;
        }
        let code = self.code(task)?;
        let dose = match memory.dose {
            Some(dose) => dose,
            None => *memory.dose.insert(self.dose(task, code)?),
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
            let turn = memory.thread_seconds.len() * 7919;
            memory.worst_error = memory.worst_error.max(self.spot_checks(target, turn)?);
        }
        let sum_error = *errors.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        memory.worst_error = memory.worst_error.max(sum_error);
        memory.thread_seconds.push(measured.thread_seconds);
        let bytes = counted_bytes(task) * dose.passes as f64;
        let rates = measured.samples.iter().map(|seconds| bytes / seconds);
        self.fastest = rates.fold(self.fastest, f64::max);
        Ok(Round {
            started: measured.started,
            duration: measured.duration,
            samples: measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect(),
            evidence: measured.evidence,
            kept: true,
            reason: None,
        })
    }
}
