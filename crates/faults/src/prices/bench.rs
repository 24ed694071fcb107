//! The worker: laps on pinned threads for as long as a round lasts, with the faults of each.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use figure::evidence::*;
use figure::{CpuList, Event, Reading, Round};
use lab::clock::Clock;
use lab::failure::{Attempt, Failure};
use lab::measure;
use lab::placement::Placement;
use lab::pool::{Pool, WorkerThread};
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;

use super::catalogue::{self, Price, ThreadedPrice};
use super::fixture::Fixture;
use super::lap::{Lap, timed};
use super::plan::{Setup, Task};
use super::threads::SampleEnd;
use crate::clocks::ThreadUsage;

/// A sample lasts at least this long, in seconds, by as many laps as that takes.
const SAMPLE: f64 = 0.01;
/// Samples of a round at most.
const MOST_SAMPLES: usize = 60;

/// The part of one thread in a sample.
type Work = Arc<dyn Fn(&WorkerThread, usize) -> io::Result<Lap> + Send + Sync>;

type Value = Box<dyn Fn(&Lap) -> f64>;

struct Team {
    pool: Pool,
    watch: Watch,
}

struct PriceBench {
    setup: Setup,
    fixture: Arc<Fixture>,
    /// By number of threads.
    teams: BTreeMap<usize, Team>,
    /// Samples of a round, by figure.
    samples: BTreeMap<String, usize>,
}

pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let machine = &setup.machine;
    let clock = Clock::for_machine(machine);
    // A few processes have another price of a fault for all their time (docs/methods/faults.md).
    let mut facts = WorkerReport { restart_each_cycle: true, ..WorkerReport::default() };
    clock.write(&mut facts.evidence);
    let sizes: BTreeSet<usize> = setup.tasks.iter().map(|task| task.threads.max(1)).collect();
    let team = |threads: usize| Ok((threads, Team::new(&setup, threads, clock.clone())?));
    let teams = sizes.into_iter().map(team).collect::<Result<BTreeMap<_, _>, Failure>>()?;
    facts.evidence.put(PLACE_READBACK, teams.values().all(|team| team.pool.readback));
    let fixture = Fixture::new(machine, &setup.capabilities);
    let mount = lab::mount::evidence(&setup.capabilities.directory);
    let file_tasks = setup.tasks.iter().filter(|task| task.needs_files());
    facts.figures = file_tasks.map(|task| (task.id.clone(), mount.clone())).collect();
    let has_files = !facts.figures.is_empty();
    let fixture = Arc::new(if has_files { fixture.with_files(&setup.capabilities) } else { fixture });
    Ok((Box::new(PriceBench { fixture, teams, samples: BTreeMap::new(), setup }), facts))
}

impl Team {
    fn new(setup: &Setup, threads: usize, clock: Clock) -> Result<Team, Failure> {
        let cpus = setup.cpus.iter().take(threads);
        let threads: Vec<CpuList> = cpus.map(|cpu| CpuList::from_iter([*cpu])).collect();
        let placement = Placement { places: "threads", bind: "close", threads };
        let watch = Watch::new(&Tree::live(), &setup.machine, &placement.cpus());
        Ok(Team { pool: Pool::new(&placement, clock)?, watch })
    }
}

/// Laps of one thread until a sample is long enough.
fn single_work(price: &'static Price, fixture: Arc<Fixture>) -> Work {
    Arc::new(move |worker, _| {
        let begun = worker.clock.now();
        let mut all = Lap::default();
        while all.units == 0.0 || worker.clock.seconds(begun, worker.clock.now()) < SAMPLE {
            all = [all, (price.lap)(&fixture)?].into_iter().sum();
            worker.sample_cpu();
        }
        Ok(all)
    })
}

fn threaded_work(price: &'static ThreadedPrice, fixture: Arc<Fixture>) -> Work {
    let end = SampleEnd::default();
    Arc::new(move |worker, sample| (price.lap)(&fixture, worker, sample, &end))
}

impl PriceBench {
    /// The work of a figure, and what one of its laps amounts to in the figure's unit.
    fn work(&self, task: &Task) -> Result<(Work, Value), Failure> {
        let none = || Failure::new("no price").on(&task.word);
        let fixture = self.fixture.clone();
        Ok(match task.threads {
            0 => {
                let price = catalogue::single(&task.word).ok_or_else(none)?;
                (single_work(price, fixture), Box::new(|lap| price.clock.price(lap) / price.scale().0))
            }
            _ => {
                let price = catalogue::threaded(&task.word).ok_or_else(none)?;
                (threaded_work(price, fixture), Box::new(|lap| price.clock.price(lap)))
            }
        })
    }

    fn team(&self, task: &Task) -> Result<&Team, Failure> {
        self.teams.get(&task.threads.max(1)).ok_or_else(|| Failure::new("no threads for").on(&task.id))
    }

    /// How many samples make a round, by a sample that is not counted.
    fn samples_per_round(&self, task: &Task) -> Result<usize, Failure> {
        let (work, _) = self.work(task)?;
        let laps = self.team(task)?.pool.run(move |worker| timed(|| work(worker, 0)));
        let mut longest = 0.0_f64;
        for (lap, used) in laps? {
            lap.attempt_on("cannot measure", &task.id)?;
            // Threads may wait for a CPU that others use: clock ticks say so only of enough CPU time.
            longest = longest.max(if task.threads == 0 { used.wall } else { used.cpu } * 1e-9);
        }
        Ok(((task.round / longest.max(1e-9)).ceil() as usize).clamp(1, MOST_SAMPLES))
    }
}

fn sum_laps(by_thread: Vec<Vec<io::Result<Lap>>>) -> io::Result<Vec<Lap>> {
    let samples = by_thread.iter().map(Vec::len).min().unwrap_or(0);
    let mut laps = vec![Lap::default(); samples];
    for thread in by_thread {
        for (all, lap) in laps.iter_mut().zip(thread) {
            *all = [*all, lap?].into_iter().sum();
        }
    }
    Ok(laps)
}

impl Bench for PriceBench {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().find(|task| task.id == id);
        let task = task.ok_or_else(|| Failure::new("no figure").on(id))?;
        let samples = match self.samples.get(id) {
            Some(samples) => *samples,
            None => self.samples_per_round(task)?,
        };
        let (team, (work, value)) = (self.team(task)?, self.work(task)?);
        let work = move |worker: &WorkerThread, sample| work(worker, sample);
        let (measured, by_thread) = measure::round_with_values(&team.pool, &team.watch, samples, work)?;
        let laps = sum_laps(by_thread).attempt_on("cannot measure", &task.id)?;
        let prices: Vec<f64> = laps.iter().map(value).collect();
        // A price can be below zero if pages were already present: the missing faults show that.
        if prices.iter().any(|price| !price.is_finite()) {
            return Err(Failure::new("nothing was priced"));
        }
        let mut evidence = measured.evidence;
        write(&mut evidence, &laps);
        self.samples.insert(id.to_owned(), samples);
        Ok(Round::new(measured.started, measured.duration, prices, evidence))
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}

fn write(evidence: &mut figure::Evidence, laps: &[Lap]) {
    let all: Lap = laps.iter().copied().sum();
    evidence.put(PRICE_UNITS, all.units);
    evidence.put(PRICE_MINOR, all.used.minor);
    evidence.put(PRICE_MAJOR, all.used.major);
    evidence.put(PRICE_CPU, all.cpu());
    evidence.put(PRICE_WALL, all.wall());
    evidence.put(PRICE_AGAIN, Lap { used: all.again, again: ThreadUsage::default(), ..all }.cpu());
    // The value comes from the timed part of a lap, not from its preparation.
    let shortest = laps.iter().map(|lap| lap.used.wall * 1e-9).reduce(f64::min);
    evidence.put_reading(SAMPLE_SHORTEST, Reading::or_unknown(shortest, "no lap was timed"));
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn laps_of_all_threads_add_up_and_one_failure_fails_all() {
        let lap = |units: usize, cpu: f64| {
            Lap::new(units, ThreadUsage { cpu, wall: 2.0 * cpu, minor: units as f64, major: 0.0 })
        };
        let by_thread = vec![
            vec![Ok(lap(10, 1000.0)), Ok(lap(10, 3000.0))],
            vec![Ok(lap(10, 2000.0)), Ok(Lap::default())],
        ];
        let all = sum_laps(by_thread).unwrap();
        assert_eq!((all[0].cpu(), all[1].cpu(), all[1].wall()), (150.0, 300.0, 600.0));
        let mut evidence = figure::Evidence::default();
        write(&mut evidence, &all);
        assert_eq!(evidence.get(PRICE_UNITS), Reading::Value(30.0));
        assert_eq!(evidence.get(PRICE_MINOR), Reading::Value(30.0));
        assert_eq!(evidence.get(PRICE_CPU), Reading::Value(200.0));
        let failed = vec![vec![Ok(lap(1, 1.0))], vec![Err(io::Error::other("no memory"))]];
        assert_eq!(sum_laps(failed).unwrap_err().to_string(), "no memory");
    }
}
