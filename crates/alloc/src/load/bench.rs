//! The worker. One run of the load is a round.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::install::find_helper;
use lab::pool::Pool;
use lab::worker::{Bench, WorkerReport};
use lab::{image, measure};
use machine::Tree;
use machine::counters::Watch;
use workload::alloc_load::parameters::{BUCKETS, CLASSES, Class, Parameters};

use super::plan::{Setup, Task};
use crate::memory::Resident;
use crate::run::{Config, Run, RunResult, ThreadResult, quantile};
use crate::version;

struct LoadBench {
    setup: Setup,
    workload: PathBuf,
    /// Why nothing can be preloaded into the workload program, if so.
    preload: Result<(), Failure>,
    /// One thread for each CPU of a set, for the frequency canary. They sleep while the load runs.
    pools: Vec<(figure::CpuList, Pool, Watch)>,
    libraries: BTreeMap<String, PathBuf>,
}

/// Finds the workload program, and starts a thread on each CPU that is used.
pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let workload = find_helper()?;
    let preload = image::read(&workload).and_then(|image| match image.is_dynamic {
        true => Ok(()),
        false => Err(Failure::new("nothing can be preloaded into truebench-workload")
            .answer("it is linked statically")
            .advice("build it for a dynamic C library")),
    });
    let clock = Clock::for_machine(&setup.machine);
    let mut pools: Vec<(figure::CpuList, Pool, Watch)> = Vec::new();
    for task in &setup.tasks {
        if pools.iter().all(|(cpus, ..)| *cpus != task.allowed) {
            let pool = Pool::on_each(&task.allowed, clock.clone())?;
            let watch = Watch::new(&Tree::live(), &setup.machine, &task.allowed);
            pools.push((task.allowed.clone(), pool, watch));
        }
    }
    let mut report = WorkerReport::default();
    clock.write(&mut report.evidence);
    // A thread that cannot bind to its CPU fails its run, so this holds for every round.
    report.evidence.put(PLACE_READBACK, true);
    Ok((Box::new(LoadBench { setup, workload, preload, pools, libraries: BTreeMap::new() }), report))
}

impl LoadBench {
    fn run(&self, task: &Task) -> Result<(Round, Option<PathBuf>), Failure> {
        let pool = self.pools.iter().find(|(cpus, ..)| *cpus == task.allowed);
        let (_, pool, watch) = pool.ok_or_else(|| Failure::new("no CPUs of").on(&task.id))?;
        if task.allocator.is_some() {
            self.preload.clone()?;
        }
        let config = Config {
            allocator: task.allocator.as_ref(),
            parameters: parameters(task),
            cpus: &task.cpus,
            allowed: &task.allowed,
            processes: task.processes as usize,
            bytes: task.bytes,
            phase_timeout: Duration::from_secs_f64(task.phase_timeout),
            available: self.setup.available,
        };
        let mut run = Run::begin(&self.workload, config)?;
        let body = || {
            let outcome = run.steady();
            (outcome, run.cpu_seconds())
        };
        let (outcome, around) = measure::around(pool, watch, body)?;
        outcome?;
        let result = run.end()?;
        let mut evidence = around.evidence;
        let value = write(&mut evidence, &result, task);
        Ok((Round::new(around.started, around.duration, vec![value], evidence), result.library))
    }
}

fn parameters(task: &Task) -> Parameters {
    let mut classes = [Class::default(); CLASSES];
    for (to, [below, smallest, largest, slots]) in classes.iter_mut().zip(&task.classes) {
        *to = Class { below: *below, smallest: *smallest, largest: *largest, slots: *slots };
    }
    Parameters {
        steps: task.steps,
        seed: task.seed,
        distribution: task.distribution,
        block_source: task.block_source,
        step_mode: task.step_mode,
        access: task.access,
        largest: task.largest,
        slots: task.slots,
        threads: task.threads,
        is_compat: u32::from(task.is_compat),
        sample_every: task.sample_every,
        remote: task.remote,
        // Spreads the blocks as far as an allocator would.
        bump_bytes: (task.bytes / f64::from(task.threads * task.processes)) as u64,
        class_count: task.classes.len() as u32,
        classes,
    }
}

/// Writes the evidence of a run. Returns nanoseconds per pair, the mean over the threads.
fn write(evidence: &mut Evidence, result: &RunResult, task: &Task) -> f64 {
    let pairs = task.steps as f64 / 2.0;
    let threads = &result.threads;
    let sum = |value: &dyn Fn(&ThreadResult) -> f64| threads.iter().map(value).sum::<f64>();
    let mean = |value: &dyn Fn(&ThreadResult) -> f64| sum(value) / threads.len() as f64;
    let steady = |thread: &ThreadResult| thread.phases[1];
    evidence.put(PAIR_TICKS, mean(&|thread| steady(thread).ticks / pairs));
    let mean_if_known = |value: &dyn Fn(&ThreadResult) -> Option<f64>| {
        let sum: Option<f64> = threads.iter().map(value).sum();
        sum.map(|sum| sum / threads.len() as f64)
    };
    let cycles = mean_if_known(&|thread| steady(thread).cycles).map(|cycles| cycles / pairs);
    evidence.put_reading(PAIR_CYCLES, Reading::or_unknown(cycles, "no counter of cycles (perf_event_open)"));
    evidence.put(PAIR_CPU, mean(&|thread| steady(thread).cpu / pairs));
    evidence.put(PAIR_SYSTEM, mean(&|thread| steady(thread).system / pairs));
    write_threads(evidence, result);
    write_windows(evidence, result);
    let phases = 0..threads.first().map_or(0, |thread| thread.phases.len());
    let longest =
        |phase: usize| threads.iter().map(|thread| thread.phases[phase].wall * 1e-9).fold(0.0, f64::max);
    evidence.put(PHASE_SECONDS, phases.clone().map(longest).collect());
    evidence
        .put(PHASE_FAULTS, phases.clone().map(|phase| sum(&|thread| thread.phases[phase].minor)).collect());
    evidence.put(PHASE_MAJOR, phases.map(|phase| sum(&|thread| thread.phases[phase].major)).collect());
    evidence.put(LIVE_BYTES, sum(&|thread| thread.live));
    evidence.put(LIVE_END_BYTES, sum(&|thread| thread.live_end));
    evidence.put(PEAK_BYTES, sum(&|thread| thread.peak));
    let usable = mean_if_known(&|thread| thread.usable);
    let unknown = "the allocator has no malloc_usable_size of its own";
    evidence.put_reading(USABLE, Reading::or_unknown(usable, unknown));
    write_memory(evidence, result);
    write_calls(evidence, result);
    let freed = sum(&|thread| steady(thread).freed).max(1.0);
    let passed_on = sum(&|thread| thread.remote.0 + thread.remote.1);
    evidence.put(REMOTE_FREED, passed_on / freed);
    evidence.put(REMOTE_REFUSED, sum(&|thread| thread.remote.1) / passed_on.max(1.0));
    mean(&|thread| steady(thread).wall / pairs)
}

fn write_threads(evidence: &mut Evidence, result: &RunResult) {
    let threads = &result.threads;
    let sum = |value: fn(&ThreadResult) -> f64| threads.iter().map(value).sum::<f64>();
    evidence.put(VOLUNTARY_SWITCHES, sum(|thread| thread.phases[1].switches.0));
    evidence.put(INVOLUNTARY_SWITCHES, sum(|thread| thread.phases[1].switches.1));
    evidence.put(FAULT_MINOR, sum(|thread| thread.phases[1].minor));
    evidence.put(FAULT_MAJOR, sum(|thread| thread.phases[1].major));
    evidence.put(PLACE_SAMPLES, sum(|thread| thread.cpu_samples.0));
    evidence.put(PLACE_STRAYED, sum(|thread| thread.cpu_samples.1));
    let delays: Option<Vec<f64>> = threads.iter().map(|thread| thread.phases[1].run_delay).collect();
    let delays = Reading::or_unknown(delays, "/proc/thread-self/schedstat is not there");
    let seconds = |ns: f64| ns * 1e-9;
    evidence.put_reading(RUN_DELAY, delays.clone().map(|all| seconds(all.iter().sum())));
    evidence.put_reading(RUN_DELAY_WORST, delays.map(|all| seconds(all.into_iter().fold(0.0, f64::max))));
    let shortest = threads.iter().map(|thread| thread.phases[1].wall).fold(f64::MAX, f64::min);
    evidence.put(SAMPLE_SHORTEST, seconds(shortest));
}

fn write_windows(evidence: &mut Evidence, result: &RunResult) {
    let windows = || result.threads.iter().map(|thread| thread.phases[1].window);
    let (begins, ends) = (windows().map(|(begin, _)| begin), windows().map(|(_, end)| end));
    let (Some(first_begin), Some(last_begin)) = (begins.clone().min(), begins.max()) else { return };
    let (Some(first_end), Some(last_end)) = (ends.clone().min(), ends.max()) else { return };
    let seconds = |time: u64| (time - first_begin) as f64 * 1e-9;
    evidence.put(THREAD_WINDOWS, windows().flat_map(|(begin, end)| [seconds(begin), seconds(end)]).collect());
    let span = (last_end - first_begin).max(1) as f64;
    evidence.put(THREAD_OVERLAP, first_end.saturating_sub(last_begin) as f64 / span);
}

fn write_memory(evidence: &mut Evidence, result: &RunResult) {
    let add = |phases: Reading<Vec<Resident>>, phase: &Reading<Resident>| {
        phases.and(phase.clone()).map(|(phases, phase)| [phases, vec![phase]].concat())
    };
    let phases = result.resident.iter().fold(Reading::Value(Vec::new()), add);
    let each = |value: fn(&Resident) -> f64| phases.clone().map(|phases| phases.iter().map(value).collect());
    evidence.put_reading(RESIDENT, each(Resident::without_lazily_freed));
    evidence.put_reading(LAZILY_FREED, each(|resident| resident.lazily_freed));
    evidence.put_reading(HUGE_PAGES, each(|resident| resident.huge));
    evidence.put_reading(RESIDENT_PEAK, result.peak.clone());
}

/// Writes quantiles of the duration of single calls, over all threads.
fn write_calls(evidence: &mut Evidence, result: &RunResult) {
    let sum = |value: fn(&ThreadResult) -> f64| result.threads.iter().map(value).sum::<f64>();
    // Nanoseconds of a tick, from the run itself.
    let tick = sum(|thread| thread.phases[1].wall) / sum(|thread| thread.phases[1].ticks).max(1.0);
    for (histogram, key) in [(0, CALL_MALLOC), (1, CALL_FREE)] {
        let mut counts = vec![0u64; BUCKETS];
        for thread in &result.threads {
            counts.iter_mut().zip(&thread.calls[histogram]).for_each(|(sum, count)| *sum += count);
        }
        let quantiles: Option<Vec<f64>> =
            [0.5, 0.9, 0.99, 0.999, 1.0].into_iter().map(|share| quantile(&counts, share)).collect();
        let times = quantiles.map(|ticks| ticks.into_iter().map(|ticks| ticks * tick).collect());
        evidence.put_reading(key, Reading::or_unknown(times, "no calls were sampled"));
    }
}

impl Bench for LoadBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let (round, library) = self.run(task.ok_or_else(|| Failure::new("no figure").on(figure))?)?;
        self.libraries.extend(library.map(|library| (figure.to_owned(), library)));
        Ok(round)
    }

    /// A run with another allocator, or with blocks that did not hold what was written, gives no round.
    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let mut report = WorkerReport::default();
        report.evidence.put(VERIFIED, true);
        for (figure, library) in &self.libraries {
            let mut evidence = Evidence::default();
            evidence.put(LIBRARY, library.display().to_string());
            let build = Reading::or_unknown(version::build_id(library), "the library has no build ID");
            evidence.put_reading(LIBRARY_BUILD, build);
            report.figures.push((figure.clone(), evidence));
        }
        Ok(report)
    }
}
