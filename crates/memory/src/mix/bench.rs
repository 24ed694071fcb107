//! The worker of the mixes: blocks, threads, rounds, verification.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use figure::evidence::*;
use figure::{Event, Evidence, Round, stats};
use lab::clock::Clock;
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, Seat};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::Mix;
use super::contents::{Contents, FACTOR, value};
use super::plan::{Setup, Task};
use crate::bandwidth::expected::{TOLERANCE, relative_error};
use crate::blocks::Blocks;
use crate::dose::Dose;
use crate::kernels::{ELEMENT, Operation, Stores};
use crate::obtained;
use crate::simd::Loop;
use crate::simd::mix::{GROUP, PAGE_ELEMENTS, Walk};
use crate::sizes::ARRAYS;

/// Groups between two glances at the CPU: 8 MiB, a millisecond or so.
const GLANCE_GROUPS: usize = 170;
/// Pages of which each thread looks at an element after a round.
const SPOT_CHECKS: usize = 256;

/// The machine code of a mix.
#[derive(Clone, Copy)]
enum Code {
    Walk(Walk),
    Triad(Loop),
}

/// What is remembered of a task.
#[derive(Debug, Default)]
struct History {
    dose: Option<Dose>,
    worst_error: f64,
    thread_seconds: Vec<Vec<f64>>,
}

struct MixBench {
    setup: Setup,
    pool: Pool,
    watch: Watch,
    blocks: Arc<Blocks>,
    /// What every block holds; `None` when nobody knows.
    contents: Option<Contents>,
    /// Rounds and untimed passes so far: decides the value that is written.
    turns: u64,
    tasks: BTreeMap<String, (Task, History)>,
    at_start: Evidence,
}

/// Maps and touches the blocks, starts the threads, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let placement = Placement { places: "list", bind: "close", threads: setup.threads.clone() };
    let pool = Pool::new(&placement, Clock::of(&setup.machine)).map_err(|error| error.to_string())?;
    let cpus = placement.cpus();
    let watch = Watch::new(&Tree::live(), &setup.machine, &cpus);
    let blocks = map(pool.threads(), ARRAYS as usize * setup.groups, setup.pages)?;
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), (task.clone(), History::default())));
    let mut bench = MixBench {
        tasks: tasks.collect(),
        pool,
        watch,
        blocks: Arc::new(blocks),
        contents: None,
        turns: 0,
        setup,
        at_start: Evidence::default(),
    };
    let contents = bench.filled()?;
    bench.at_start = bench.obtained()?;
    let mut facts = Facts { evidence: obtained::of_pool(&bench.pool), ..Facts::default() };
    facts.evidence.merge(obtained::of_caches(&bench.setup.machine, &cpus));
    facts.evidence.merge(bench.at_start.clone());
    facts.evidence.put(MEMORY_NONZERO, bench.spot_checks(contents, 0)? <= TOLERANCE);
    let elements = bench.blocks.elements() as f64;
    facts.evidence.put(THREAD_ELEMENTS, vec![elements; bench.pool.threads()]);
    facts.evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
    Ok((Box::new(bench), facts))
}

/// Maps the blocks.
///
/// # Errors
/// What the system answered, and what to do.
pub fn map(threads: usize, groups: usize, pages: crate::pages::Pages) -> Result<Blocks, String> {
    Blocks::map(threads, groups, pages).map_err(|error| {
        let bytes = figure::format::bytes((threads * Blocks::stride(groups)) as f64);
        format!(
            "{bytes} of memory could not be mapped: {error}; a limit on address space (ulimit -v) or \
             vm.overcommit_memory=2 may forbid them: give a smaller --array-size"
        )
    })
}

impl MixBench {
    fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&Seat) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, String> {
        self.pool.run(job).map_err(|error| error.to_string())
    }

    /// What the blocks hold. Where nobody knows, each thread fills its own: at the start that is the first touch.
    fn filled(&mut self) -> Result<Contents, String> {
        if let Some(contents) = self.contents {
            return Ok(contents);
        }
        let start = value(self.turns);
        self.turns += 1;
        let blocks = self.blocks.clone();
        self.each(move |seat| {
            // SAFETY: the thread's own block, which no other thread touches.
            unsafe { std::slice::from_raw_parts_mut(blocks.start(seat.index), blocks.elements()) }
                .fill(start);
        })?;
        Ok(*self.contents.insert(Contents::filled(start)))
    }

    fn obtained(&self) -> Result<Evidence, String> {
        let blocks = self.blocks.clone();
        let nodes = self.each(move |seat| blocks.nodes(seat.index))?;
        let local = obtained::local_share(&self.setup.machine, &self.setup.threads, nodes);
        Ok(obtained::of_memory(&[self.blocks.region()], self.blocks.bytes(), local))
    }

    fn code(&self, task: &Task) -> Result<Code, String> {
        let simd = self.setup.simd;
        let code = match task.mix {
            Mix::TriadLike => simd.kernel(Operation::Triad, Stores::Nt).map(Code::Triad),
            Mix::Ratio(..) => simd.walk(task.mix, false).map(Code::Walk),
        };
        code.ok_or_else(|| format!("{}: no machine code for {}", task.id, simd.word()))
    }

    /// The work of one sample on one thread; returns the largest relative error of a sum.
    fn work(
        &self,
        task: &Task,
        code: Code,
        contents: Contents,
        value: f64,
        passes: u64,
    ) -> impl Fn(&Seat) -> f64 + Send + Sync + use<> {
        let (blocks, third) = (self.blocks.clone(), self.setup.groups);
        let expected = contents.sum(task.mix, third);
        move |seat| {
            let start = blocks.start(seat.index);
            let mut worst: f64 = 0.0;
            for _ in 0..passes {
                let mut sum = 0.0;
                let groups = match code {
                    Code::Walk(_) => ARRAYS as usize * third,
                    Code::Triad(_) => third,
                };
                for done in (0..groups).step_by(GLANCE_GROUPS) {
                    let some = GLANCE_GROUPS.min(groups - done);
                    let at = start.wrapping_add(done * GROUP);
                    match code {
                        // SAFETY: the thread's own block has `groups` groups; the set is available.
                        Code::Walk(walk) => sum += unsafe { walk(at, some, value, 0) },
                        // SAFETY: the thirds of the thread's own block have `groups` groups, which are whole
                        // blocks of elements on page boundaries; the set is available.
                        Code::Triad(triad) => unsafe {
                            let [a, b, c] = [0, 1, 2].map(|array| at.wrapping_add(array * third * GROUP));
                            triad(a, b, c, some * GROUP, FACTOR);
                        },
                    }
                    seat.glance();
                }
                if expected > 0.0 {
                    worst = worst.max(relative_error(sum, expected));
                }
            }
            worst
        }
    }

    /// Decides passes and samples by one untimed pass.
    fn dose(&mut self, task: &Task, code: Code, contents: Contents) -> Result<Dose, String> {
        let value = self.next_value();
        let work = self.work(task, code, contents, value, 1);
        let stamps = self.each(move |seat| {
            let _ = seat.wait();
            let start = seat.clock.now();
            work(seat);
            (start, seat.clock.now())
        })?;
        self.contents = Some(contents.after(task.mix, value));
        // As a sample is timed: threads that share a CPU work one after the other.
        let start = stamps.iter().map(|(start, _)| *start).min().unwrap_or(0);
        let stop = stamps.iter().map(|(_, stop)| *stop).max().unwrap_or(0);
        Ok(Dose::of(self.pool.clock.seconds(start, stop)))
    }

    fn next_value(&mut self) -> f64 {
        self.turns += 1;
        value(self.turns)
    }

    /// Largest relative error at an element of some pages of each block, other ones for each `turn`.
    fn spot_checks(&self, contents: Contents, turn: u64) -> Result<f64, String> {
        let (blocks, third) = (self.blocks.clone(), self.setup.groups);
        let errors = self.each(move |seat| {
            let start = blocks.start(seat.index);
            // An odd step meets every page of a group; the element moves along the page.
            let step = (blocks.elements() / SPOT_CHECKS).max(PAGE_ELEMENTS) | 1;
            (turn as usize * 7919 % step..blocks.elements())
                .step_by(step)
                .map(|element| {
                    // SAFETY: inside the thread's own block, which nobody writes meanwhile.
                    let seen = unsafe { start.wrapping_add(element).read_volatile() };
                    relative_error(seen, contents.at(element, third))
                })
                .fold(0.0, f64::max)
        })?;
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    fn measure(&mut self, task: &Task, history: &mut History) -> Result<Round, String> {
        let code = self.code(task)?;
        let dose = match history.dose {
            Some(dose) => dose,
            None => {
                let contents = self.filled()?;
                *history.dose.insert(self.dose(task, code, contents)?)
            }
        };
        let contents = self.filled()?;
        let value = self.next_value();
        // Until all threads are done nobody knows what the blocks hold.
        self.contents = None;
        let errors = Arc::new(Mutex::new(0.0f64));
        let (work, shared) = (self.work(task, code, contents, value, dose.passes), errors.clone());
        let measured = measure::round(&self.pool, &self.watch, dose.samples, move |seat, _| {
            let error = work(seat);
            // A right sum is exact, and must not make the threads queue for the lock inside the timed region.
            if error > 0.0 {
                let mut worst = shared.lock().unwrap_or_else(PoisonError::into_inner);
                *worst = worst.max(error);
            }
        })
        .map_err(|error| error.to_string())?;
        let contents = *self.contents.insert(contents.after(task.mix, value));
        if measured.samples.is_empty() || measured.samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!(
                "{}: the clock ({}) gave no time for a sample",
                task.id, self.pool.clock.basis
            ));
        }
        let sums = *errors.lock().unwrap_or_else(PoisonError::into_inner);
        let spots = self.spot_checks(contents, self.turns)?;
        history.worst_error = history.worst_error.max(sums).max(spots);
        history.thread_seconds.push(measured.thread_seconds);
        let bytes =
            (self.pool.threads() * self.blocks.elements()) as f64 * ELEMENT as f64 * dose.passes as f64;
        Ok(Round::new(
            measured.started,
            measured.duration,
            measured.samples.iter().map(|seconds| bytes / seconds / 1e9).collect(),
            measured.evidence,
        ))
    }
}

impl Bench for MixBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (task, mut history) = self.tasks.remove(id).ok_or_else(|| format!("no figure {id}"))?;
        let round = self.measure(&task, &mut history);
        self.tasks.insert(id.to_owned(), (task, history));
        round
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let Some(contents) = self.contents else {
            return Err("the last round failed, and nobody knows what the memory should hold".to_owned());
        };
        let blocks = self.blocks.clone();
        let errors = self.each(move |seat| {
            // SAFETY: the thread's own block, which nobody writes meanwhile.
            let block = unsafe { std::slice::from_raw_parts(blocks.start(seat.index), blocks.elements()) };
            contents.worst(block)
        })?;
        let whole = errors.into_iter().fold(0.0, f64::max);
        let evidence = obtained::throughout(&self.at_start, self.obtained()?);
        let mut facts = Facts { evidence, ..Facts::default() };
        // A figure without rounds here may have some from a worker that died, which nobody can check.
        for (id, (_, history)) in self.tasks.iter().filter(|(_, (_, history))| history.dose.is_some()) {
            let mut evidence = Evidence::default();
            let worst = history.worst_error.max(whole);
            evidence.put(VERIFIED, worst <= TOLERANCE);
            evidence.put(VERIFIED_ERROR, worst);
            let threads = history.thread_seconds.first().map_or(0, Vec::len);
            let of =
                |thread: usize| history.thread_seconds.iter().map(|round| round[thread]).collect::<Vec<_>>();
            evidence.put(THREAD_SECONDS, (0..threads).filter_map(|t| stats::median(&of(t))).collect());
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}
