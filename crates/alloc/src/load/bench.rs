//! The worker: one run of the load is a round.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use cell::load::order::{CLASSES, Class, Order};
use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::image;
use lab::measure;
use lab::ours::find_cell;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::plan::{Setup, Task};
use crate::memory::Resident;
use crate::run::{Arm, Done, Ran, Run, quantile};
use crate::version;

struct LoadBench {
    setup: Setup,
    cell: PathBuf,
    /// Why nothing can be preloaded into it, if so.
    preload: Result<(), String>,
    /// One thread for each CPU of a set, asleep while the load runs: for the canary.
    pools: Vec<(figure::CpuList, Pool, Watch)>,
    /// The library that served each figure so far.
    served: BTreeMap<String, PathBuf>,
}

/// Finds the cell, and starts a thread on each CPU that is used.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let cell = find_cell()?;
    let preload = match image::read(&cell) {
        Ok(image) if !image.is_dynamic => {
            Err("truebench-cell is linked statically: nothing can be preloaded into it (build it for a dynamic C library)".to_owned())
        }
        Ok(_) => Ok(()),
        Err(reason) => Err(reason),
    };
    let clock = Clock::of(&setup.machine);
    let mut pools: Vec<(figure::CpuList, Pool, Watch)> = Vec::new();
    for task in &setup.tasks {
        if pools.iter().all(|(cpus, ..)| *cpus != task.allowed) {
            let pool = Pool::on_each(&task.allowed, clock.clone()).map_err(|error| error.to_string())?;
            let watch = Watch::new(&Tree::live(), &setup.machine, &task.allowed);
            pools.push((task.allowed.clone(), pool, watch));
        }
    }
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    // A thread that is not where it belongs ends its run: every round that there is has held it.
    facts.evidence.put(PLACE_READBACK, true);
    Ok((Box::new(LoadBench { setup, cell, preload, pools, served: BTreeMap::new() }), facts))
}

impl LoadBench {
    fn run(&self, task: &Task) -> Result<(Round, Option<PathBuf>), String> {
        let (_, pool, watch) = self
            .pools
            .iter()
            .find(|(cpus, ..)| *cpus == task.allowed)
            .ok_or_else(|| format!("{}: no such CPUs", task.id))?;
        if task.allocator.is_some() {
            self.preload.clone()?;
        }
        let arm = Arm {
            allocator: task.allocator.as_ref(),
            order: order(task),
            cpus: &task.cpus,
            allowed: &task.allowed,
            processes: task.processes as usize,
            bytes: task.bytes,
            patience: Duration::from_secs_f64(task.patience),
            available: self.setup.available,
        };
        let mut run = Run::begin(&self.cell, arm)?;
        let body = || {
            let result = run.steady();
            (result, run.used())
        };
        let (result, around) = measure::around(pool, watch, body).map_err(|error| error.to_string())?;
        result?;
        let ran = run.end()?;
        let mut evidence = around.evidence;
        let value = write(&mut evidence, &ran, task);
        Ok((Round::new(around.started, around.duration, vec![value], evidence), ran.served))
    }
}

fn order(task: &Task) -> Order {
    let mut class = [Class::default(); CLASSES];
    for (to, [below, smallest, largest, slots]) in class.iter_mut().zip(&task.classes) {
        *to = Class { below: *below, smallest: *smallest, largest: *largest, slots: *slots };
    }
    Order {
        steps: task.steps,
        seed: task.seed,
        source: task.source,
        giver: task.giver,
        way: task.way,
        access: task.access,
        largest: task.largest,
        slots: task.slots,
        threads: task.threads,
        is_compat: u32::from(task.is_compat),
        sample: task.sample,
        remote: task.remote,
        // As far apart as the blocks of an allocator would be.
        bump: (task.bytes / f64::from(task.threads * task.processes)) as u64,
        classes: task.classes.len() as u32,
        class,
    }
}

/// Writes what was seen; gives nanoseconds for each pair, the mean of the threads.
fn write(evidence: &mut Evidence, ran: &Ran, task: &Task) -> f64 {
    let pairs = task.steps as f64 / 2.0;
    let mean = |of: &dyn Fn(&Done) -> f64| ran.threads.iter().map(of).sum::<f64>() / ran.threads.len() as f64;
    let sum = |of: &dyn Fn(&Done) -> f64| ran.threads.iter().map(of).sum::<f64>();
    let steady = |thread: &Done| thread.phases[1];
    evidence.put(PAIR_TICKS, mean(&|thread| steady(thread).ticks / pairs));
    let counted: Option<Vec<f64>> = ran.threads.iter().map(|thread| steady(thread).cycles).collect();
    let cycles = counted.map(|cycles| cycles.iter().sum::<f64>() / cycles.len() as f64 / pairs);
    evidence.put_reading(PAIR_CYCLES, Reading::or_unknown(cycles, "no counter of cycles (perf_event_open)"));
    evidence.put(PAIR_CPU, mean(&|thread| steady(thread).cpu / pairs));
    evidence.put(PAIR_SYSTEM, mean(&|thread| steady(thread).system / pairs));
    write_threads(evidence, ran);
    write_windows(evidence, ran);
    let phases = 0..ran.threads.first().map_or(0, |thread| thread.phases.len());
    let longest =
        |which: usize| ran.threads.iter().map(|thread| thread.phases[which].wall * 1e-9).fold(0.0, f64::max);
    evidence.put(PHASE_SECONDS, phases.clone().map(longest).collect());
    evidence
        .put(PHASE_FAULTS, phases.clone().map(|which| sum(&|thread| thread.phases[which].minor)).collect());
    evidence.put(PHASE_MAJOR, phases.map(|which| sum(&|thread| thread.phases[which].major)).collect());
    evidence.put(LIVE_BYTES, sum(&|thread| thread.live));
    evidence.put(LIVE_END_BYTES, sum(&|thread| thread.live_end));
    evidence.put(PEAK_BYTES, sum(&|thread| thread.peak));
    let usable: Option<Vec<f64>> = ran.threads.iter().map(|thread| thread.usable).collect();
    let usable = usable.map(|usable| usable.iter().sum::<f64>() / usable.len() as f64);
    evidence.put_reading(
        USABLE,
        Reading::or_unknown(usable, "the allocator has no malloc_usable_size of its own"),
    );
    write_memory(evidence, ran);
    write_calls(evidence, ran);
    let freed = sum(&|thread| steady(thread).freed).max(1.0);
    evidence.put(REMOTE_FREED, sum(&|thread| thread.remote.0 + thread.remote.1) / freed);
    let left = sum(&|thread| thread.remote.0 + thread.remote.1).max(1.0);
    evidence.put(REMOTE_REFUSED, sum(&|thread| thread.remote.1) / left);
    mean(&|thread| steady(thread).wall / pairs)
}

/// What befell the threads in their steady phase.
fn write_threads(evidence: &mut Evidence, ran: &Ran) {
    let sum = |of: fn(&Done) -> f64| ran.threads.iter().map(of).sum::<f64>();
    evidence.put(VOLUNTARY_SWITCHES, sum(|thread| thread.phases[1].switches.0));
    evidence.put(INVOLUNTARY_SWITCHES, sum(|thread| thread.phases[1].switches.1));
    evidence.put(FAULT_MINOR, sum(|thread| thread.phases[1].minor));
    evidence.put(FAULT_MAJOR, sum(|thread| thread.phases[1].major));
    evidence.put(PLACE_SAMPLES, sum(|thread| thread.looks.0));
    evidence.put(PLACE_STRAYED, sum(|thread| thread.looks.1));
    let delays: Option<Vec<f64>> = ran.threads.iter().map(|thread| thread.phases[1].run_delay).collect();
    let delays = Reading::or_unknown(delays, "/proc/thread-self/schedstat is not there");
    let seconds = |ns: f64| ns * 1e-9;
    evidence.put_reading(RUN_DELAY, delays.clone().map(|all| seconds(all.iter().sum())));
    evidence.put_reading(RUN_DELAY_WORST, delays.map(|all| seconds(all.into_iter().fold(0.0, f64::max))));
    let shortest = ran.threads.iter().map(|thread| thread.phases[1].wall).fold(f64::MAX, f64::min);
    evidence.put(SAMPLE_SHORTEST, seconds(shortest));
}

/// When each thread was in its steady phase.
fn write_windows(evidence: &mut Evidence, ran: &Ran) {
    let windows = || ran.threads.iter().map(|thread| thread.phases[1].window);
    let (begin, end) = (windows().map(|(begin, _)| begin).min(), windows().map(|(_, end)| end).max());
    let (last, first) = (windows().map(|(begin, _)| begin).max(), windows().map(|(_, end)| end).min());
    let (Some(begin), Some(end), Some(last), Some(first)) = (begin, end, last, first) else { return };
    let since = |moment: u64| (moment - begin) as f64 * 1e-9;
    evidence.put(THREAD_WINDOWS, windows().flat_map(|(begin, end)| [since(begin), since(end)]).collect());
    let all = (end - begin).max(1) as f64;
    evidence.put(THREAD_OVERLAP, first.saturating_sub(last) as f64 / all);
}

fn write_memory(evidence: &mut Evidence, ran: &Ran) {
    let each = |of: fn(&Resident) -> f64| -> Reading<Vec<f64>> {
        let mut all = Vec::new();
        for look in &ran.resident {
            match look {
                Reading::Value(resident) => all.push(of(resident)),
                Reading::Unknown(reason) => return Reading::Unknown(reason.clone()),
            }
        }
        Reading::Value(all)
    };
    evidence.put_reading(RESIDENT, each(Resident::kept));
    evidence.put_reading(LAZILY_FREED, each(|resident| resident.lazily_freed));
    evidence.put_reading(HUGE_PAGES, each(|resident| resident.huge));
    evidence.put_reading(RESIDENT_PEAK, ran.most.clone());
}

/// How long single calls took, of all threads together.
fn write_calls(evidence: &mut Evidence, ran: &Ran) {
    let sum = |of: fn(&Done) -> f64| ran.threads.iter().map(of).sum::<f64>();
    // How long a tick is, the run itself tells.
    let tick = sum(|thread| thread.phases[1].wall) / sum(|thread| thread.phases[1].ticks).max(1.0);
    for (which, key) in [(0, CALL_MALLOC), (1, CALL_FREE)] {
        let mut all = vec![0u64; cell::load::order::BUCKETS];
        for thread in &ran.threads {
            all.iter_mut().zip(&thread.calls[which]).for_each(|(sum, count)| *sum += count);
        }
        let quantiles: Option<Vec<f64>> =
            [0.5, 0.9, 0.99, 0.999, 1.0].into_iter().map(|share| quantile(&all, share)).collect();
        let times = quantiles.map(|ticks| ticks.into_iter().map(|ticks| ticks * tick).collect());
        evidence.put_reading(key, Reading::or_unknown(times, "no calls were sampled"));
    }
}

impl Bench for LoadBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let task = self.setup.tasks.iter().find(|task| task.id == figure);
        let (round, served) = self.run(task.ok_or_else(|| format!("no figure {figure}"))?)?;
        self.served.extend(served.map(|library| (figure.to_owned(), library)));
        Ok(round)
    }

    /// A run whose allocator was another, or whose blocks did not hold what was written, gives no round.
    fn finish(&mut self) -> Result<Facts, String> {
        let mut facts = Facts::default();
        facts.evidence.put(VERIFIED, true);
        for (figure, library) in &self.served {
            let mut evidence = Evidence::default();
            evidence.put(LIBRARY, library.display().to_string());
            let build = Reading::or_unknown(version::build_id(library), "the library has no build ID");
            evidence.put_reading(LIBRARY_BUILD, build);
            facts.figures.push((figure.clone(), evidence));
        }
        Ok(facts)
    }
}
