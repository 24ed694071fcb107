//! The worker of every mode with rounds that are passes of a kernel over memory: it calibrates, measures, keeps
//! what is needed to verify, and finishes. A mode supplies a [`Kernel`].
//!
//! The worker is generic in the kernel, and so is all that it gives to [`lab::measure`]: the timed region
//! holds no virtual call that the kernel's own code does not make.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use figure::evidence::*;
use figure::{Event, Evidence, Round, stats};
use lab::failure::Failure;
use lab::pool::WorkerThread;
use lab::worker::{Bench, WorkerReport};

use crate::bandwidth::expected::TOLERANCE;
use crate::calibration::{Calibration, Policy, pass_seconds};
use crate::page_evidence::worse_of;
use crate::team::Team;

/// Elements between two calls of [`WorkerThread::sample_cpu`]: 8 MiB, a millisecond or so of memory.
pub const CPU_SAMPLE_ELEMENTS: usize = 1 << 20;

pub const UNKNOWN_CONTENTS: &str = "the last round failed: what the memory should hold is not known";

/// Tasks by the ids of their figures.
pub type Tasks<K> = Vec<(String, <K as Kernel>::Task)>;

/// What differs between modes: the memory, the code that runs over it, and how its results are verified.
pub trait Kernel: Sized + 'static {
    type Setup;
    type Task;
    type Sample: Sample;

    /// Samples that begin each round and do not count: they bring the caches to what passes leave in them.
    const WARM_UP: usize = 0;
    /// Largest error of a sample that may come of rounding.
    const SAMPLE_TOLERANCE: f64 = 0.0;
    /// Whether results can only be right or wrong, so that an error has no size.
    const IS_EXACT: bool = false;
    /// Whether figures work on what others left, so that a wrong result spoils those that come after.
    const IS_SHARED: bool = false;

    /// Maps the memory, starts threads, and touches pages first on their threads. Tasks are by figure id.
    fn set_up(setup: Self::Setup) -> Result<(Self, Tasks<Self>), Failure>;

    fn team(&self, task: &Self::Task) -> Result<Rc<Team>, Failure>;

    fn policy(&self, _task: &Self::Task) -> Policy {
        Policy::default()
    }

    fn amount(&self, task: &Self::Task) -> Amount;

    /// What the passes of a round's sample of this number amount to.
    fn sample_amount(&self, task: &Self::Task, passes: u64, _sample: usize) -> Amount {
        self.amount(task).times(passes)
    }

    /// Gets the memory ready for a round; `round` is its number. Called before trials too.
    fn prepare(&mut self, _team: &Team, _task: &Self::Task, _round: usize) -> Result<(), Failure> {
        Ok(())
    }

    /// The work of a round's samples; their number includes those that do not count.
    fn sample(&mut self, task: &Self::Task, calibration: Calibration) -> Result<Self::Sample, Failure>;

    /// Follows what so many passes leave in memory, after they ran on all threads.
    fn follow(&mut self, _task: &mut Self::Task, _passes: u64) {}

    /// Largest relative error of some of the results of a round.
    fn verify(&mut self, _team: &Team, _task: &Self::Task, _round: usize) -> Result<f64, Failure> {
        Ok(0.0)
    }

    /// Adds more facts to a round's evidence.
    fn observe(&self, _task: &mut Self::Task, _sample: &Self::Sample, _round: &mut Round) {}

    /// Called when a round failed: some threads may have worked and others not.
    fn fail(&mut self, _task: &Self::Task) {}

    /// Largest relative error of all results in each of the memories.
    fn verify_all(&mut self) -> Result<Vec<f64>, Failure>;

    /// The pages behind each of the memories, as they are now.
    fn page_evidence(&self) -> Result<Vec<Evidence>, Failure>;

    /// The index of the task's memory in [`verify_all`](Self::verify_all) and `page_evidence`.
    fn memory_of(&self, _task: &Self::Task) -> usize {
        0
    }

    /// What is true of every figure before it is measured.
    fn evidence(&self) -> Result<Evidence, Failure>;

    /// What is true of one figure before it is measured.
    fn evidence_of(&self, _task: &Self::Task) -> Evidence {
        Evidence::default()
    }

    /// What is true of one figure when all is measured.
    fn final_evidence_of(&self, _task: &Self::Task) -> Evidence {
        Evidence::default()
    }
}

/// The work of one sample on one thread.
pub trait Sample: Send + Sync + 'static {
    /// Does the work of the sample of this number. Returns the largest relative error of what it computed, 0
    /// if it checks nothing. Timed: it should do little else, and call [`WorkerThread::sample_cpu`] every some
    /// milliseconds.
    fn run(&self, thread: &WorkerThread, sample: usize) -> f64;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many bytes by the figure's convention, over all threads: values are in GB/s.
    Bytes(f64),
    /// So many steps, each waiting for the one before: values are in ns for each.
    Steps(f64),
}

impl Amount {
    fn times(self, passes: u64) -> Amount {
        match self {
            Amount::Bytes(bytes) => Amount::Bytes(bytes * passes as f64),
            Amount::Steps(steps) => Amount::Steps(steps * passes as f64),
        }
    }

    fn value(self, seconds: f64) -> f64 {
        match self {
            Amount::Bytes(bytes) => bytes / seconds / 1e9,
            Amount::Steps(steps) => seconds / steps * 1e9,
        }
    }
}

#[derive(Debug, Default)]
struct History {
    calibration: Option<Calibration>,
    worst_error: f64,
    /// Whether a thread was not pinned as asked, in any round.
    is_off_place: bool,
    /// Seconds of each thread, by round.
    thread_seconds: Vec<Vec<f64>>,
}

impl History {
    fn rounds(&self) -> usize {
        self.thread_seconds.len()
    }
}

pub struct Worker<K: Kernel> {
    pub(crate) kernel: K,
    tasks: BTreeMap<String, (K::Task, History)>,
    pages: Vec<Evidence>,
    /// Highest rate so far, in GB/s: what certainly takes long enough needs no trial.
    fastest: f64,
}

/// Gets a kernel ready from its plan: the `prepare` of its mode.
pub fn prepare<K: Kernel>(
    setup: K::Setup,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let (kernel, tasks) = K::set_up(setup)?;
    let (worker, facts) = Worker::new(kernel, tasks)?;
    Ok((Box::new(worker), facts))
}

impl<K: Kernel> Worker<K> {
    pub fn new(kernel: K, tasks: Tasks<K>) -> Result<(Worker<K>, WorkerReport), Failure> {
        let pages = kernel.page_evidence()?;
        let mut facts = WorkerReport { evidence: kernel.evidence()?, ..WorkerReport::default() };
        facts.evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        for (id, task) in &tasks {
            let mut evidence = pages[kernel.memory_of(task)].clone();
            evidence.merge(kernel.evidence_of(task));
            facts.figures.push((id.clone(), evidence));
        }
        let tasks = tasks.into_iter().map(|(id, task)| (id, (task, History::default()))).collect();
        Ok((Worker { kernel, tasks, pages, fastest: 0.0 }, facts))
    }

    #[cfg(test)]
    pub(crate) fn ids(&self) -> Vec<String> {
        self.tasks.keys().cloned().collect()
    }

    pub(crate) fn task(&self, id: &str) -> Option<&K::Task> {
        self.tasks.get(id).map(|(task, _)| task)
    }

    /// Measures a round of a figure. With it the passes of all its samples.
    pub(crate) fn round_with_passes(&mut self, id: &str) -> Result<(Round, u64), Failure> {
        self.with_task(id, Self::measure)
    }

    /// Makes one untimed pass, after which the caches hold what they hold during a round, and the next round
    /// does nothing but its timed passes.
    pub(crate) fn warm(&mut self, id: &str) -> Result<(), Failure> {
        self.with_task(id, |worker, task, history| {
            let team = worker.kernel.team(task)?;
            worker.calibrated(&team, task, history)?;
            worker.kernel.prepare(&team, task, history.rounds())?;
            worker.untimed_seconds(&team, task, 1).map(drop)
        })
    }

    fn with_task<T>(
        &mut self,
        id: &str,
        job: impl FnOnce(&mut Self, &mut K::Task, &mut History) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (mut task, mut history) =
            self.tasks.remove(id).ok_or_else(|| Failure::new("no figure").on(id))?;
        let result = job(self, &mut task, &mut history);
        if result.is_err() {
            self.kernel.fail(&task);
        }
        self.tasks.insert(id.to_owned(), (task, history));
        result
    }

    fn measure(&mut self, task: &mut K::Task, history: &mut History) -> Result<(Round, u64), Failure> {
        let team = self.kernel.team(task)?;
        history.is_off_place |= !team.pool.readback;
        let Calibration { passes, samples } = self.calibrated(&team, task, history)?;
        let (number, samples) = (history.rounds(), samples + K::WARM_UP);
        self.kernel.prepare(&team, task, number)?;
        let sample = Arc::new(self.kernel.sample(task, Calibration { passes, samples })?);
        let amount = |number| self.kernel.sample_amount(task, passes, number);
        let amounts: Vec<Amount> = (K::WARM_UP..samples).map(amount).collect();
        let shared = sample.clone();
        let (measured, errors) = team.round(samples, move |thread, number| shared.run(thread, number))?;
        let all_passes = passes * samples as u64;
        self.kernel.follow(task, all_passes);
        let error = self.kernel.verify(&team, task, number)?;
        let errors = errors.into_iter().flatten().filter(|error| *error > K::SAMPLE_TOLERANCE);
        history.worst_error = errors.fold(history.worst_error.max(error), f64::max);
        let seconds = measured.samples.get(K::WARM_UP..).unwrap_or_default();
        let timed = amounts.iter().zip(seconds);
        let values: Vec<f64> = timed.map(|(amount, seconds)| amount.value(*seconds)).collect();
        if let Amount::Bytes(_) = self.kernel.amount(task) {
            self.fastest = values.iter().copied().fold(self.fastest, f64::max);
        }
        let mut round = Round::new(measured.started, measured.duration, values, measured.evidence);
        self.kernel.observe(task, &sample, &mut round);
        history.thread_seconds.push(measured.thread_seconds);
        Ok((round, all_passes))
    }

    /// A figure's calibration: the first time by the fastest rate so far where one pass certainly takes long
    /// enough, else by a trial.
    fn calibrated(
        &mut self,
        team: &Team,
        task: &mut K::Task,
        history: &mut History,
    ) -> Result<Calibration, Failure> {
        if let Some(calibration) = history.calibration {
            return Ok(calibration);
        }
        let policy = self.kernel.policy(task);
        let long = 2.0 * policy.shortest_round;
        let seconds = match self.kernel.amount(task) {
            Amount::Bytes(bytes) if self.fastest > 0.0 && bytes / self.fastest / 1e9 > long => long,
            _ => {
                self.kernel.prepare(team, task, history.rounds())?;
                pass_seconds(policy.trial, |passes| self.untimed_seconds(team, task, passes))?
            }
        };
        Ok(*history.calibration.insert(Calibration::of(seconds, &policy)))
    }

    /// Seconds of so many passes that are no sample.
    fn untimed_seconds(&mut self, team: &Team, task: &mut K::Task, passes: u64) -> Result<f64, Failure> {
        let sample = self.kernel.sample(task, Calibration { passes, samples: 1 })?;
        let seconds = team.untimed_seconds(move |thread| {
            sample.run(thread, 0);
        })?;
        self.kernel.follow(task, passes);
        Ok(seconds)
    }
}

impl<K: Kernel> Bench for Worker<K> {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        self.round_with_passes(id).map(|(round, _)| round)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let errors = self.kernel.verify_all()?;
        let ends = self.kernel.page_evidence()?;
        let pages: Vec<Evidence> =
            self.pages.iter().zip(ends).map(|(start, end)| worse_of(start, end)).collect();
        let culprit = self.tasks.iter().find(|(_, (_, history))| history.worst_error > TOLERANCE);
        let spoilt = culprit
            .filter(|_| K::IS_SHARED)
            .map(|(id, _)| format!("{id} left wrong values, which the others then worked on"));
        let mut facts = WorkerReport::default();
        for (id, (task, history)) in &self.tasks {
            let memory = self.kernel.memory_of(task);
            let mut evidence = pages[memory].clone();
            // A figure without rounds here may have some from a worker that died, which cannot be checked.
            if history.rounds() > 0 {
                match &spoilt {
                    Some(reason) if history.worst_error <= TOLERANCE => {
                        evidence.put_unknown(VERIFIED, reason.clone());
                        evidence.put_unknown(VERIFIED_ERROR, reason.clone());
                    }
                    _ => write_error(&mut evidence, history.worst_error.max(errors[memory]), K::IS_EXACT),
                }
                evidence.put(PLACE_READBACK, !history.is_off_place);
                evidence.put(THREAD_SECONDS, medians(&history.thread_seconds));
                evidence.merge(self.kernel.final_evidence_of(task));
            }
            facts.figures.push((id.clone(), evidence));
        }
        Ok(facts)
    }
}

fn write_error(evidence: &mut Evidence, worst: f64, is_exact: bool) {
    evidence.put(VERIFIED, worst <= TOLERANCE);
    if !is_exact {
        evidence.put(VERIFIED_ERROR, worst);
    }
}

/// The median of each column.
pub(crate) fn medians(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
    (0..columns).filter_map(|at| stats::median(&column(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Trial;
    use figure::{CpuList, Machine};
    use lab::clock::Clock;
    use std::time::Duration;

    const PASS: Duration = Duration::from_micros(500);

    /// A kernel that sleeps. A task is the relative error of its results.
    struct Sleeping {
        team: Rc<Team>,
        passes: u64,
        prepared: usize,
    }

    struct Sleep {
        passes: u64,
        error: f64,
    }

    impl Sample for Sleep {
        fn run(&self, _thread: &WorkerThread, _sample: usize) -> f64 {
            std::thread::sleep(PASS * self.passes as u32);
            self.error
        }
    }

    impl Kernel for Sleeping {
        type Setup = ();
        type Task = f64;
        type Sample = Sleep;

        const WARM_UP: usize = 1;
        const SAMPLE_TOLERANCE: f64 = 1e-9;
        const IS_SHARED: bool = true;

        fn set_up((): ()) -> Result<(Sleeping, Tasks<Sleeping>), Failure> {
            let cpu = lab::affinity::get().unwrap().first().unwrap();
            let place = CpuList::from_iter([cpu]);
            let team = Team::new(&Machine::default(), &[place], Clock::monotonic_raw())?;
            let tasks = [("exact", 0.0), ("rounded", 1e-10), ("wrong", 0.01)];
            let tasks = tasks.map(|(id, error)| (id.to_owned(), error)).to_vec();
            Ok((Sleeping { team: Rc::new(team), passes: 0, prepared: 0 }, tasks))
        }

        fn team(&self, _task: &f64) -> Result<Rc<Team>, Failure> {
            Ok(self.team.clone())
        }

        fn policy(&self, _task: &f64) -> Policy {
            Policy {
                shortest_sample: 1e-3,
                shortest_round: 3e-3,
                least_samples: 2,
                most_samples: 2,
                trial: Trial::Passes(1),
                ..Policy::default()
            }
        }

        fn amount(&self, _task: &f64) -> Amount {
            Amount::Bytes(1e6)
        }

        fn prepare(&mut self, _team: &Team, _task: &f64, _round: usize) -> Result<(), Failure> {
            self.prepared += 1;
            Ok(())
        }

        fn sample(&mut self, task: &f64, calibration: Calibration) -> Result<Sleep, Failure> {
            Ok(Sleep { passes: calibration.passes, error: *task })
        }

        fn follow(&mut self, _task: &mut f64, passes: u64) {
            self.passes += passes;
        }

        fn verify_all(&mut self) -> Result<Vec<f64>, Failure> {
            Ok(vec![0.0])
        }

        fn page_evidence(&self) -> Result<Vec<Evidence>, Failure> {
            Ok(vec![Evidence::default()])
        }

        fn evidence(&self) -> Result<Evidence, Failure> {
            Ok(self.team.evidence())
        }
    }

    fn worker() -> Worker<Sleeping> {
        let (kernel, tasks) = Sleeping::set_up(()).unwrap();
        Worker::new(kernel, tasks).unwrap().0
    }

    fn verified(worker: &mut Worker<Sleeping>, id: &str) -> Evidence {
        let figures = worker.finish().unwrap().figures;
        figures.into_iter().find(|(figure, _)| figure == id).map(|(_, evidence)| evidence).unwrap()
    }

    #[test]
    fn a_round_is_calibrated_once_and_its_warm_up_does_not_count() {
        let mut worker = worker();
        let (round, passes) = worker.round_with_passes("exact").unwrap();
        assert_eq!(round.samples.len(), 2);
        assert!(round.samples.iter().all(|rate| *rate > 0.0 && *rate <= 2.0), "{:?} GB/s", round.samples);
        assert_eq!(worker.kernel.passes, 1 + passes, "a trial of one pass, then three samples");
        assert_eq!((passes % 3, worker.kernel.prepared), (0, 2));
        worker.round_with_passes("exact").unwrap();
        assert_eq!((worker.kernel.passes, worker.kernel.prepared), (1 + 2 * passes, 3));
        assert!(worker.round("other").unwrap_err().to_string().contains("no figure other"));
    }

    #[test]
    fn rounding_is_no_error_and_what_was_not_measured_is_not_verified() {
        let mut worker = worker();
        worker.round("rounded").unwrap();
        assert_eq!(verified(&mut worker, "rounded").get(VERIFIED_ERROR).into_value(), Some(0.0));
        assert!(verified(&mut worker, "exact").is_empty());
    }

    #[test]
    fn a_wrong_result_spoils_the_figures_that_share_its_memory() {
        let mut worker = worker();
        worker.round("exact").unwrap();
        worker.round("wrong").unwrap();
        let wrong = verified(&mut worker, "wrong");
        assert_eq!(wrong.get(VERIFIED).into_value(), Some(false));
        assert_eq!(wrong.get(VERIFIED_ERROR).into_value(), Some(0.01));
        let exact = verified(&mut worker, "exact").get(VERIFIED);
        assert!(exact.reason().unwrap().contains("wrong left wrong values"), "{exact:?}");
    }
}
