//! A team of pinned threads, in OpenMP's word, with the counters of the CPUs that they run on.

use std::rc::Rc;

use figure::evidence::PLACE_READBACK;
use figure::{CpuList, Evidence, Machine};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::measure::{self, Measured};
use lab::placement::Placement;
use lab::pool::{Pool, WorkerThread};
use machine::Tree;
use machine::counters::Watch;

/// Pinned threads, and the counters that are read around their rounds.
#[derive(Debug)]
pub struct Team {
    pub pool: Pool,
    pub watch: Rc<Watch>,
}

impl Team {
    pub fn new(machine: &Machine, places: &[CpuList], clock: Clock) -> Result<Team, Failure> {
        Team::with_watch(places, clock, Team::watch(machine, places))
    }

    /// The same with counters that are prepared already ([`watch`](Self::watch)).
    pub fn with_watch(places: &[CpuList], clock: Clock, watch: Rc<Watch>) -> Result<Team, Failure> {
        let placement = Placement { places: "list", bind: "close", threads: places.to_vec() };
        let pool = Pool::new(&placement, clock)?;
        Ok(Team { pool, watch })
    }

    pub fn watch(machine: &Machine, places: &[CpuList]) -> Rc<Watch> {
        let cpus: CpuList = places.iter().flat_map(CpuList::iter).collect();
        Rc::new(Watch::new(&Tree::live(), machine, &cpus))
    }

    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    pub fn cpus(&self) -> &CpuList {
        self.watch.cpus()
    }

    /// The clock, and whether every thread is pinned as asked.
    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        self.pool.clock.write(&mut evidence);
        evidence.put(PLACE_READBACK, self.pool.readback);
        evidence
    }

    pub fn each<T: Send + 'static>(
        &self,
        job: impl Fn(&WorkerThread) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, Failure> {
        Ok(self.pool.run(job)?)
    }

    /// The largest error that a job finds on any thread.
    pub fn worst(&self, job: impl Fn(&WorkerThread) -> f64 + Send + Sync + 'static) -> Result<f64, Failure> {
        Ok(self.each(job)?.into_iter().fold(0.0, f64::max))
    }

    /// Runs work once on every thread, outside of any round. Seconds from the first start to the last stop,
    /// as a sample is timed: threads that share a CPU work one after the other. At least 1 ns.
    pub fn untimed_seconds(
        &self,
        work: impl Fn(&WorkerThread) + Send + Sync + 'static,
    ) -> Result<f64, Failure> {
        let stamps = self.each(move |thread| {
            let _ = thread.wait();
            let start = thread.clock.now();
            work(thread);
            (start, thread.clock.now())
        })?;
        let start = stamps.iter().map(|(start, _)| *start).min().unwrap_or(0);
        let stop = stamps.iter().map(|(_, stop)| *stop).max().unwrap_or(0);
        Ok(self.pool.clock.seconds(start, stop).max(1e-9))
    }

    /// Runs a round of so many samples. What the work returns, by thread and then by sample.
    pub fn round<T: Send + 'static>(
        &self,
        samples: usize,
        work: impl Fn(&WorkerThread, usize) -> T + Send + Sync + 'static,
    ) -> Result<(Measured, Vec<Vec<T>>), Failure> {
        let round = measure::round_with_values(&self.pool, &self.watch, samples, work);
        let (measured, results) = round?;
        self.check_times(&measured.samples)?;
        Ok((measured, results))
    }

    /// Checks the times of a round's samples, in any unit.
    pub fn check_times(&self, times: &[f64]) -> Result<(), Failure> {
        if !times.is_empty() && times.iter().all(|time| time.is_finite() && *time > 0.0) {
            return Ok(());
        }
        Err(Failure::new(format!("the clock ({}) gave no time for a sample", self.pool.clock.basis)))
    }
}
