//! The worker: the same loops over arrays that begin at other addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::layout::{ALIASING, Layout};
use super::plan::{Level, Setup, Task};
use crate::bandwidth::arrays::Split;
use crate::bandwidth::expected::TOLERANCE;
use crate::dose;
use crate::kernels::{Kernel, SCALAR, Stores};
use crate::pages::Backing;
use crate::region::HUGE_PAGE;
use crate::simd::{Loop, Simd};
use crate::sizes;

/// A sample lasts at least this long, by as many passes as that takes: 100 000 readings of a 30 ns clock.
const SHORTEST_SAMPLE: f64 = 3e-3;
/// A round lasts about this long, by as many samples as that takes: ten clock ticks of 10 ms, so that over all rounds tick
/// accounting (steal, foreign load) can say something, and there is time for many points.
const ROUND_SECONDS: f64 = 0.1;
/// Samples of one round at most.
const MOST_SAMPLES: usize = 64;
/// Elements between two glances at the CPU: 8 MiB, a millisecond or so.
const GLANCE_ELEMENTS: usize = 1 << 20;

/// How a task is run, once known.
#[derive(Clone, Copy, Debug)]
struct Dose {
    passes: u64,
    samples: usize,
}

/// What is remembered of a task.
#[derive(Debug, Default)]
struct History {
    dose: Option<Dose>,
    rounds: usize,
    worst_error: f64,
}

/// One level: its threads and its arrays.
struct LevelBench {
    pool: Pool,
    watch: Watch,
    layout: Arc<Layout>,
    places: Vec<CpuList>,
    simd: Simd,
}

struct AlignmentBench {
    levels: BTreeMap<Level, LevelBench>,
    tasks: BTreeMap<String, (Task, History)>,
    at_start: BTreeMap<Level, Evidence>,
    setup: Setup,
}

/// Maps and touches the arrays of both levels, starts the threads, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let machine = &setup.machine;
    let clock = Clock::of(machine);
    let mut levels = BTreeMap::new();
    for level in [Level::L1, Level::Memory] {
        if setup.tasks.iter().any(|task| task.level == level) {
            levels.insert(level, LevelBench::start(level, &setup, clock.clone())?);
        }
    }
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), (task.clone(), History::default())));
    let mut bench =
        AlignmentBench { levels, tasks: tasks.collect(), at_start: BTreeMap::new(), setup: setup.clone() };
    for (&level, of) in &bench.levels {
        bench.at_start.insert(level, of.obtained(machine)?);
    }
    let facts = bench.facts(&clock)?;
    Ok((Box::new(bench), facts))
}

impl LevelBench {
    fn start(level: Level, setup: &Setup, clock: Clock) -> Result<LevelBench, String> {
        let (places, most, boundary) = match level {
            Level::L1 => (setup.threads[..1].to_vec(), setup.l1, ALIASING as usize),
            Level::Memory => (setup.threads.clone(), setup.memory, HUGE_PAGE),
        };
        let placement = Placement { places: "list", bind: "close", threads: places.clone() };
        let pool = Pool::new(&placement, clock).map_err(|error| error.to_string())?;
        let watch = Watch::new(&Tree::live(), &setup.machine, &placement.cpus());
        let split = Split { threads: pool.threads(), most: most as usize };
        let layout = Layout::map(split, boundary, setup.pages).map_err(|error| {
            format!(
                "arrays for {} could not be mapped: {error}; a limit on address space (ulimit -v), \
                 vm.overcommit_memory=2 or too few reserved pages may forbid them: give a smaller --array-size",
                level.word()
            )
        })?;
        let level = LevelBench { pool, watch, layout: Arc::new(layout), places, simd: setup.simd };
        level.each(|layout, seat| layout.fill(seat.index))?;
        Ok(level)
    }

    fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&Layout, &Seat) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, String> {
        let layout = self.layout.clone();
        self.pool.run(move |seat| job(&layout, seat)).map_err(|error| error.to_string())
    }

    /// Size and place of the pages, as they are now.
    fn obtained(&self, machine: &figure::Machine) -> Result<Evidence, String> {
        let mut evidence = Evidence::default();
        let (backing, bytes) = (self.layout.backing(), self.layout.bytes());
        let share = |part: fn(&Backing) -> u64| backing.clone().map(|b| (part(&b) as f64 / bytes).min(1.0));
        evidence.put_reading(MEMORY_RESIDENT, share(|backing| backing.resident));
        evidence.put_reading(PAGES_HUGE_SHARE, share(|backing| backing.huge));
        evidence.put_reading(PAGES_SIZE, backing.clone().map(|backing| backing.page as f64));
        evidence.put_reading(NUMA_LOCAL_SHARE, self.local_share(machine)?);
        Ok(evidence)
    }

    /// Share of sampled pages that lie on the node of the thread that uses them.
    fn local_share(&self, machine: &figure::Machine) -> Result<Reading<f64>, String> {
        let (mut local, mut all) = (0usize, 0usize);
        for (place, nodes) in self.places.iter().zip(self.each(|layout, seat| layout.nodes(seat.index))?) {
            let nodes = match nodes {
                Reading::Value(nodes) => nodes,
                Reading::Unknown(reason) => return Ok(Reading::Unknown(reason)),
            };
            let own: BTreeSet<u32> = place.iter().filter_map(|cpu| machine.cpu(cpu)?.node).collect();
            if own.is_empty() {
                return Ok(Reading::unknown("the kernel shows no NUMA node for the CPUs in use"));
            }
            all += nodes.len();
            local += nodes.iter().flatten().filter(|node| own.contains(node)).count();
        }
        Ok(Reading::Value(local as f64 / all.max(1) as f64))
    }

    fn code(&self, task: &Task) -> Result<Loop, String> {
        let code = self.simd.kernel(task.operation, task.stores);
        if task.stores == Stores::Nt && task.point.misalignment > 0 {
            return Err(format!("{}: non-temporal stores of misaligned vectors", task.id));
        }
        code.ok_or_else(|| format!("{}: no machine code for {}", task.id, self.simd.word()))
    }

    /// The work of one sample on one thread.
    fn work(&self, task: &Task, code: Loop, passes: u64) -> impl Fn(&Seat) + Send + Sync + use<> {
        let (layout, operation, point) = (self.layout.clone(), task.operation, task.point);
        move |seat| {
            let share = layout.split.share(seat.index, layout.split.most);
            let [a, b, c] = layout.arrays(operation, seat.index, point);
            for _ in 0..passes {
                let mut done = 0;
                while done < share {
                    let length = GLANCE_ELEMENTS.min(share - done);
                    // SAFETY: the thread's own parts hold `share` elements at this point; lengths are multiples of a
                    // block; regular stores take any alignment, and non-temporal ones have theirs by the plan.
                    unsafe { code(a.add(done), b.add(done), c.add(done), length, SCALAR) };
                    done += length;
                    // A glance costs as much as a pass in L1.
                    if length == GLANCE_ELEMENTS {
                        seat.glance();
                    }
                }
            }
        }
    }

    /// Decides passes and samples, by passes that are not counted.
    fn dose(&self, task: &Task, code: Loop) -> Result<Dose, String> {
        // Long enough that the start of the threads does not count.
        let seconds = dose::pass_seconds(SHORTEST_SAMPLE / 4.0, |passes| {
            let work = self.work(task, code, passes);
            let stamps = self.pool.run(move |seat| {
                let _ = seat.wait();
                let start = seat.clock.now();
                work(seat);
                (start, seat.clock.now())
            });
            let stamps = stamps.map_err(|error| error.to_string())?;
            let start = stamps.iter().map(|(start, _)| *start).min().unwrap_or(0);
            let stop = stamps.iter().map(|(_, stop)| *stop).max().unwrap_or(0);
            Ok(self.pool.clock.seconds(start, stop))
        })?;
        let passes = (SHORTEST_SAMPLE / seconds).ceil().max(1.0) as u64;
        let samples = (ROUND_SECONDS / (seconds * passes as f64)).ceil() as usize;
        Ok(Dose { passes, samples: samples.clamp(1, MOST_SAMPLES) })
    }

    fn measure(&self, task: &Task, history: &mut History) -> Result<Round, String> {
        let code = self.code(task)?;
        let dose = match history.dose {
            Some(dose) => dose,
            None => *history.dose.insert(self.dose(task, code)?),
        };
        let (point, operation) = (task.point, task.operation);
        let turn = history.rounds * 7919;
        self.each(move |layout, seat| layout.spoil(seat.index, point, turn))?;
        let work = self.work(task, code, dose.passes);
        let measured = measure::round(&self.pool, &self.watch, dose.samples, move |seat, _| work(seat))
            .map_err(|error| error.to_string())?;
        if measured.samples.is_empty() || measured.samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!(
                "{}: the clock ({}) gave no time for a sample",
                task.id, self.pool.clock.basis
            ));
        }
        let errors = self.each(move |layout, seat| layout.error(seat.index, operation, point, turn))?;
        history.worst_error = errors.into_iter().fold(history.worst_error, f64::max);
        history.rounds += 1;
        let elements = self.layout.split.most as u64;
        let bytes = (Kernel::of(operation).counted_bytes() * elements * dose.passes) as f64;
        Ok(Round::new(
            measured.started,
            measured.duration,
            measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect(),
            measured.evidence,
        ))
    }

    /// Largest relative error over every element of every array.
    fn full_error(&self) -> Result<f64, String> {
        let errors = self.each(|layout, seat| layout.full_error(seat.index))?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }
}

impl AlignmentBench {
    /// What was obtained: the same for all figures of a level.
    fn facts(&self, clock: &Clock) -> Result<Facts, String> {
        let mut facts = Facts::default();
        clock.write(&mut facts.evidence);
        facts.evidence.put(PLACE_READBACK, self.levels.values().all(|level| level.pool.readback));
        facts.evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        for (level, of) in &self.levels {
            let mut evidence = self.at_start[level].clone();
            let touched = of.each(|layout, seat| layout.is_touched(seat.index))?;
            evidence.put(MEMORY_NONZERO, touched.into_iter().all(|touched| touched));
            let cache = sizes::last_level(&self.setup.machine, of.watch.cpus());
            evidence.put_reading(LLC_BYTES, cache.clone().map(|cache| cache.bytes as f64));
            evidence.put_reading(LLC_BASIS, cache.map(|cache| cache.basis));
            let own = self.tasks.values().filter(|(task, _)| task.level == *level);
            facts.figures.extend(own.map(|(task, _)| (task.id.clone(), evidence.clone())));
        }
        Ok(facts)
    }

    /// Size and place of a level's pages over all rounds: the worse of start and end.
    fn throughout(&self, level: Level) -> Result<Evidence, String> {
        let (start, mut end) = (&self.at_start[&level], self.levels[&level].obtained(&self.setup.machine)?);
        for key in [MEMORY_RESIDENT, PAGES_HUGE_SHARE, NUMA_LOCAL_SHARE] {
            let known = start.get(key).into_value().zip(end.get(key).into_value());
            if let Some((start, now)) = known {
                end.put(key, f64::min(start, now));
            }
        }
        Ok(end)
    }
}

impl Bench for AlignmentBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (task, history) = self.tasks.get_mut(id).ok_or_else(|| format!("no figure {id}"))?;
        let level =
            self.levels.get(&task.level).ok_or_else(|| format!("{id}: its level was not prepared"))?;
        let round = level.measure(task, history);
        if round.is_err() {
            // What was spoilt for it may still be there.
            level.each(|layout, seat| layout.fill(seat.index))?;
        }
        round
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        for (&level, of) in &self.levels {
            let (whole, throughout) = (of.full_error()?, self.throughout(level)?);
            // A figure without rounds here may have some from a worker that died, which nobody can check.
            let own = self.tasks.values().filter(|(task, history)| task.level == level && history.rounds > 0);
            for (task, history) in own {
                let mut evidence = throughout.clone();
                let worst = history.worst_error.max(whole);
                evidence.put(VERIFIED, worst <= TOLERANCE);
                evidence.put(VERIFIED_ERROR, worst);
                facts.figures.push((task.id.clone(), evidence));
            }
        }
        Ok(facts)
    }
}
