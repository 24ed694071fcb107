//! The worker: a region on each node, touched once; threads of its own for each figure, only while it is measured.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use figure::evidence::*;
use figure::{CpuList, Event, Evidence, Reading, Round, stats};
use lab::clock::Clock;
use lab::measure::{self, Measured};
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::arena::{Arena, Contents};
use super::plan::{Setup, Task};
use crate::bandwidth::expected::{SUM_TOLERANCE, TOLERANCE};
use crate::kernels::{ELEMENT, Kernel, Operation};
use crate::mode::Schedule;
use crate::simd::Loop;
use crate::sizes;

mod proof;
#[cfg(test)]
mod tests;
mod work;

use work::{Dose, Work};

/// A sample lasts at least this long, by as many passes as that takes.
const SHORTEST_SAMPLE: f64 = 0.01;
/// Where threads take turns on a CPU: the last slice of some 3 ms (the kernel's base_slice_ns), in which one works
/// and the others are done or have not begun, must be a small part.
const SHORTEST_SAMPLE_IN_TURNS: f64 = 0.1;
/// A round lasts at least about this long, by as many samples as that takes: ten clock ticks, so that tick accounting
/// can say something over all rounds, and short enough for a curve of many points.
const SHORTEST_ROUND: f64 = 0.1;
/// Samples of one round at most.
const MOST_SAMPLES: usize = 32;

/// What is remembered of a task.
#[derive(Debug)]
struct History {
    watch: Watch,
    dose: Option<Dose>,
    worst_error: f64,
    readback: bool,
    thread_seconds: Vec<Vec<f64>>,
    /// Under a dynamic schedule: elements that each thread took in one pass of each round.
    taken: Vec<Vec<f64>>,
    /// Share of local pages at the start.
    local: Reading<f64>,
}

struct ScalingBench {
    setup: Setup,
    clock: Clock,
    /// A thread on each core, for first touch and for looking at everything; asleep while figures are measured.
    touchers: Pool,
    /// For each of those the node, its number on the node, and how many there are.
    homes: Vec<(usize, usize, usize)>,
    arena: Arc<Arena>,
    contents: Vec<Contents>,
    tasks: BTreeMap<String, (Task, History)>,
    at_start: Evidence,
    /// Highest rate of counted bytes so far, in bytes a second.
    fastest: f64,
}

/// Maps and touches the nodes' memory and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let bench = ready(setup)?;
    let facts = bench.facts()?;
    Ok((Box::new(bench), facts))
}

fn ready(setup: Setup) -> Result<ScalingBench, String> {
    let machine = &setup.machine;
    let clock = Clock::of(machine);

    let (mut threads, mut homes): (Vec<CpuList>, Vec<_>) = (Vec::new(), Vec::new());
    for (node, need) in setup.nodes.iter().enumerate() {
        for (nth, core) in need.cores.iter().enumerate() {
            threads.push(core.clone());
            homes.push((node, nth, need.cores.len()));
        }
    }
    let touchers = pool(&threads, &clock)?;
    let arena = Arena::map(&setup.nodes, setup.offset as usize, setup.pages).map_err(|error| {
        let elements: usize = setup.nodes.iter().map(|need| need.elements).sum();
        let bytes = figure::format::bytes((sizes::ARRAYS * elements as u64 * ELEMENT) as f64);
        format!(
            "arrays of {bytes} could not be mapped: {error}; a limit on address space (ulimit -v) or \
             vm.overcommit_memory=2 may forbid them: give a smaller --array-size"
        )
    })?;
    let mut bench = ScalingBench {
        contents: Vec::new(),
        tasks: BTreeMap::new(),
        at_start: Evidence::default(),
        fastest: 0.0,
        arena: Arc::new(arena),
        clock,
        touchers,
        homes,
        setup,
    };
    bench.fill()?;
    bench.at_start = bench.obtained();
    let tree = Tree::live();
    for task in std::mem::take(&mut bench.setup.tasks) {
        let cpus: CpuList = task.threads.iter().flat_map(CpuList::iter).collect();
        let history = History {
            watch: Watch::new(&tree, &bench.setup.machine, &cpus),
            dose: None,
            worst_error: 0.0,
            readback: true,
            thread_seconds: Vec::new(),
            taken: Vec::new(),
            local: bench.local_share(&task),
        };
        bench.tasks.insert(task.id.clone(), (task, history));
    }
    Ok(bench)
}

/// Threads on these places.
fn pool(threads: &[CpuList], clock: &Clock) -> Result<Pool, String> {
    let placement = Placement { places: "list", bind: "close", threads: threads.to_vec() };
    Pool::new(&placement, clock.clone()).map_err(|error| error.to_string())
}

/// Runs a job on every thread of a pool.
fn each<T: Send + 'static>(
    pool: &Pool,
    job: impl Fn(&Seat) -> T + Send + Sync + 'static,
) -> Result<Vec<T>, String> {
    pool.run(job).map_err(|error| error.to_string())
}

impl ScalingBench {
    /// What was obtained, of all figures and of each.
    fn facts(&self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        let evidence = &mut facts.evidence;
        self.clock.write(evidence);
        evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        evidence.merge(self.at_start.clone());
        evidence.put(MEMORY_NONZERO, self.check(proof::SPARSE)? <= TOLERANCE);
        for (id, (task, history)) in &self.tasks {
            let mut own = Evidence::default();
            match sizes::last_level(&self.setup.machine, history.watch.cpus()) {
                Reading::Value(cache) => {
                    own.put(LLC_BYTES, cache.bytes as f64);
                    own.put(LLC_BASIS, cache.basis);
                }
                Reading::Unknown(reason) => {
                    own.put_unknown(LLC_BYTES, reason.clone());
                    own.put_unknown(LLC_BASIS, reason);
                }
            }
            if task.schedule == Schedule::Static {
                let elements = task.layout.parts.iter().map(|part| part.length as f64);
                own.put(THREAD_ELEMENTS, elements.collect());
            }
            own.put_reading(NUMA_LOCAL_SHARE, history.local.clone());
            facts.figures.push((id.clone(), own));
        }
        Ok(facts)
    }

    fn measure(&mut self, task: &Task, history: &mut History) -> Result<Round, String> {
        if self.contents.iter().any(Contents::is_worn) {
            self.fill()?;
        }
        let code = self.setup.simd.kernel(task.operation, task.stores);
        let code = code.ok_or_else(|| format!("{}: no code for {}", task.id, self.setup.simd.word()))?;
        let pool = pool(&task.threads, &self.clock)?;
        history.readback &= pool.readback;
        let dose = match history.dose {
            Some(dose) => dose,
            None => *history.dose.insert(self.dose(&pool, task, code)?),
        };
        let turn = history.thread_seconds.len();
        self.blank(&pool, task, turn)?;
        let work = Arc::new(Work::new(task, code, dose, self.arena.clone(), &self.contents));
        let (errors, shared) = (Arc::new(Mutex::new(0.0f64)), work.clone());
        let worst = errors.clone();
        let measured = measure::round(&pool, &history.watch, dose.samples, move |seat, sample| {
            let error = shared.run(seat, sample);
            // Rounding alone must not make the threads queue for the lock inside the timed region.
            if error > SUM_TOLERANCE {
                let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
                *worst = worst.max(error);
            }
        })
        .map_err(|error| error.to_string())?;
        self.follow(task, dose);
        if measured.samples.len() < dose.samples || measured.samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!("{}: the clock ({}) gave no time for a sample", task.id, self.clock.basis));
        }
        let seen = self.look(&pool, task, turn)?;
        let sum_error = *errors.lock().unwrap_or_else(PoisonError::into_inner);
        history.worst_error = history.worst_error.max(seen).max(sum_error);
        if task.schedule == Schedule::Dynamic {
            history.taken.push(work.taken_in_a_pass());
        }
        Ok(self.round_of(task, history, dose, measured))
    }

    fn round_of(&mut self, task: &Task, history: &mut History, dose: Dose, measured: Measured) -> Round {
        let bytes = counted_bytes(task) * dose.passes as f64;
        let rates = measured.samples.iter().map(|seconds| bytes / seconds);
        self.fastest = rates.fold(self.fastest, f64::max);
        let mut evidence = measured.evidence;
        write_waits(&mut evidence);
        history.thread_seconds.push(measured.thread_seconds);
        Round::new(
            measured.started,
            measured.duration,
            measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect(),
            evidence,
        )
    }

    /// Decides passes and samples: by the fastest rate so far where one pass is certainly long enough, else by one
    /// untimed pass.
    fn dose(&mut self, pool: &Pool, task: &Task, code: Loop) -> Result<Dose, String> {
        if self.fastest > 0.0 && counted_bytes(task) / self.fastest > 2.0 * SHORTEST_ROUND {
            return Ok(dose(task, 2.0 * SHORTEST_ROUND));
        }
        let once = Dose { passes: 1, samples: 1 };
        let work = Work::new(task, code, once, self.arena.clone(), &self.contents);
        let seconds = self.untimed(pool, work)?;
        self.follow(task, once);
        Ok(dose(task, seconds))
    }

    /// Seconds of one pass that nobody times, from first start to last stop.
    fn untimed(&self, pool: &Pool, work: Work) -> Result<f64, String> {
        let stamps = each(pool, move |seat| {
            let _ = seat.wait();
            let start = seat.clock.now();
            work.run(seat, 0);
            (start, seat.clock.now())
        })?;
        let start = stamps.iter().map(|(start, _)| *start).min().unwrap_or(0);
        let stop = stamps.iter().map(|(_, stop)| *stop).max().unwrap_or(0);
        Ok(self.clock.seconds(start, stop).max(1e-9))
    }

    fn follow(&mut self, task: &Task, dose: Dose) {
        for (contents, used) in self.contents.iter_mut().zip(&task.layout.used) {
            contents.follow(*used, task.operation, dose.passes as u64 * dose.samples as u64);
        }
    }
}

/// Bytes that one pass of a task counts.
fn counted_bytes(task: &Task) -> f64 {
    (Kernel::of(task.operation).counted_bytes() * task.layout.elements() as u64) as f64
}

/// Passes and samples for a pass of this many seconds.
fn dose(task: &Task, seconds: f64) -> Dose {
    let shortest = if task.turns { SHORTEST_SAMPLE_IN_TURNS } else { SHORTEST_SAMPLE };
    let passes = (shortest / seconds).ceil().max(1.0) as usize;
    // Update changes the sign: after an even number of passes nobody could tell whether they took place.
    let passes = if task.operation == Operation::Update { passes | 1 } else { passes };
    let samples = (SHORTEST_ROUND / (seconds * passes as f64)).ceil() as usize;
    let least = if task.turns { 2 } else { 1 };
    let samples = samples.clamp(least, MOST_SAMPLES);
    let odd = task.operation == Operation::Update;
    Dose { passes, samples: if odd { samples | 1 } else { samples } }
}

/// What each thread did in the round's median sample: the share of it at work, and the share it waited for the last
/// one at the end.
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

/// The median of each column.
fn medians(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
    (0..columns).filter_map(|at| stats::median(&column(at))).collect()
}

impl Bench for ScalingBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (task, mut history) = self.tasks.remove(id).ok_or_else(|| format!("no figure {id}"))?;
        let round = self.measure(&task, &mut history);
        if round.is_err() {
            // Some threads may have worked and others not: nobody knows what the arrays hold.
            self.contents.iter_mut().for_each(Contents::forget);
        }
        self.tasks.insert(id.to_owned(), (task, history));
        round
    }

    fn finish(&mut self) -> Result<Facts, String> {
        if self.contents.iter().any(Contents::is_unknown) {
            return Err("the last round failed, and nobody knows what the arrays should hold".to_owned());
        }
        let whole = self.check(1)?;
        let mut facts = Facts { evidence: self.obtained_throughout(), ..Facts::default() };
        // A figure without rounds here may have some from a worker that died, which nobody can check.
        for (id, (task, history)) in self.tasks.iter().filter(|(_, (_, history))| history.dose.is_some()) {
            let mut own = Evidence::default();
            let worst = history.worst_error.max(whole);
            own.put(VERIFIED, worst <= TOLERANCE);
            own.put(VERIFIED_ERROR, worst);
            own.put(PLACE_READBACK, history.readback);
            own.put(THREAD_SECONDS, medians(&history.thread_seconds));
            if task.schedule == Schedule::Dynamic {
                own.put(THREAD_ELEMENTS, medians(&history.taken));
            }
            let local = match (&history.local, self.local_share(task)) {
                (Reading::Value(start), Reading::Value(end)) => Reading::Value(start.min(end)),
                (Reading::Unknown(reason), _) => Reading::unknown(reason),
                (_, unknown) => unknown,
            };
            own.put_reading(NUMA_LOCAL_SHARE, local);
            facts.figures.push((id.clone(), own));
        }
        Ok(facts)
    }
}
