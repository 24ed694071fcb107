//! A persistent pool of pinned threads.
//!
//! Threads live as long as the pool, so that no timed region includes their start. Between jobs they sleep.
//! Affinity is set once and read back; during a job, threads sample the CPU that they run on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use figure::CpuList;

use crate::affinity;
use crate::barrier::{Barrier, Broken};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::placement::Placement;
use crate::thread_counters::Source;

/// Bytes of stack of a thread. Kernels need almost none, and 256 threads should not map 2 GiB.
const STACK: usize = 256 << 10;

pub struct WorkerThread {
    pub index: usize,
    pub threads: usize,
    pub place: CpuList,
    pub clock: Arc<Clock>,
    pub counters: Source,
    barrier: Arc<Barrier>,
    cpu_samples: Cell<u64>,
    /// CPU samples outside of `place`.
    off_place: Cell<u64>,
}

impl WorkerThread {
    /// Waits for all threads of the pool. Every thread must call it the same number of times.
    pub fn wait(&self) -> Result<(), Broken> {
        self.barrier.wait()
    }

    /// Samples the CPU that the thread runs on, for the evidence. Takes some tens of nanoseconds.
    #[inline]
    pub fn sample_cpu(&self) {
        self.cpu_samples.set(self.cpu_samples.get() + 1);
        if !self.place.contains(affinity::current_cpu()) {
            self.off_place.set(self.off_place.get() + 1);
        }
    }

    /// The number of CPU samples since the last call, and how many of them were outside of `place`.
    pub fn take_cpu_samples(&self) -> (u64, u64) {
        (self.cpu_samples.take(), self.off_place.take())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error(
        "thread {index} of {threads} could not be started: {source}; ask for fewer threads, or raise the limit (ulimit -u, pids cgroup)"
    )]
    Spawn { index: usize, threads: usize, source: std::io::Error },
    #[error("thread {index} could not be pinned to CPUs {place}: {source}")]
    Pin { index: usize, place: CpuList, source: std::io::Error },
    /// The job panicked with this message.
    #[error("thread {index} failed: {reason}")]
    Job { index: usize, reason: String },
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        Failure::new(error.to_string())
    }
}

type Job = Arc<dyn Fn(&WorkerThread) + Send + Sync>;
type JobResult = (usize, Result<(), String>);

/// Pinned threads, waiting for jobs. Dropping the pool ends them.
#[derive(Debug)]
pub struct Pool {
    jobs: Vec<Sender<Job>>,
    results: Receiver<JobResult>,
    threads: Vec<JoinHandle<()>>,
    barrier: Arc<Barrier>,
    pub clock: Arc<Clock>,
    /// Whether every thread read back exactly the mask that was set.
    pub readback: bool,
}

impl Pool {
    /// A pool with one thread on each of these CPUs, to observe them before and after a program runs.
    pub fn on_each(cpus: &CpuList, clock: Clock) -> Result<Pool, PoolError> {
        let threads = cpus.iter().map(|cpu| CpuList::from_iter([cpu])).collect();
        Pool::new(&Placement { places: "threads", bind: "close", threads }, clock)
    }

    pub fn new(placement: &Placement, clock: Clock) -> Result<Pool, PoolError> {
        let count = placement.threads.len();
        let (clock, barrier) = (Arc::new(clock), Arc::new(Barrier::new(count)));
        let (result_sender, results) = channel();
        let (ready_sender, ready) = channel();
        let mut pool =
            Pool { jobs: Vec::new(), results, threads: Vec::new(), barrier, clock, readback: true };
        for (index, place) in placement.threads.iter().enumerate() {
            let (job_sender, jobs) = channel::<Job>();
            let (place, clock, barrier) = (place.clone(), pool.clock.clone(), pool.barrier.clone());
            let (ready, results) = (ready_sender.clone(), result_sender.clone());
            let body = move || {
                let pinned = affinity::set(&place).and_then(|()| affinity::get());
                let failed = pinned.is_err();
                let _ = ready.send((index, place.clone(), pinned));
                if failed {
                    return;
                }
                let thread = WorkerThread {
                    index,
                    threads: count,
                    place,
                    clock,
                    counters: Source::of_this_thread(),
                    barrier,
                    cpu_samples: Cell::new(0),
                    off_place: Cell::new(0),
                };
                serve(&thread, &jobs, &results);
            };
            let builder = std::thread::Builder::new().name(format!("worker {index}")).stack_size(STACK);
            let handle =
                builder.spawn(body).map_err(|source| PoolError::Spawn { index, threads: count, source })?;
            pool.jobs.push(job_sender);
            pool.threads.push(handle);
        }
        for (index, place, pinned) in ready.iter().take(count) {
            match pinned {
                Ok(mask) => pool.readback &= mask == place,
                Err(source) => return Err(PoolError::Pin { index, place, source }),
            }
        }
        Ok(pool)
    }

    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Runs `job` on every thread; results in thread order. The calling thread sleeps until all are done.
    pub fn run<T, F>(&self, job: F) -> Result<Vec<T>, PoolError>
    where
        T: Send + 'static,
        F: Fn(&WorkerThread) -> T + Send + Sync + 'static,
    {
        let results: Arc<Mutex<Vec<Option<T>>>> =
            Arc::new(Mutex::new((0..self.threads()).map(|_| None).collect()));
        let shared = results.clone();
        let job: Job = Arc::new(move |thread: &WorkerThread| {
            let result = job(thread);
            shared.lock().unwrap_or_else(PoisonError::into_inner)[thread.index] = Some(result);
        });
        for sender in &self.jobs {
            // A thread that is gone shows below: its result is missing.
            let _ = sender.send(job.clone());
        }
        drop(job);
        let mut failed = None;
        // Waits for all results: a late one would count as a result of the next job.
        for _ in 0..self.threads() {
            match self.results.recv() {
                Ok((_, Ok(()))) => {}
                Ok((index, Err(reason))) => {
                    failed.get_or_insert(PoolError::Job { index, reason });
                }
                Err(_) => return Err(PoolError::Job { index: 0, reason: "all threads are gone".to_owned() }),
            }
        }
        if let Some(error) = failed {
            self.barrier.mend();
            return Err(error);
        }
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(results.iter_mut().filter_map(Option::take).collect())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(thread: &WorkerThread, jobs: &Receiver<Job>, results: &Sender<JobResult>) {
    for job in jobs {
        let result = catch_unwind(AssertUnwindSafe(|| job(thread))).map_err(|panic| {
            thread.barrier.break_it();
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
        });
        drop(job);
        if results.send((thread.index, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn everywhere(threads: usize) -> Placement {
        let allowed = affinity::get().unwrap();
        let cpus: Vec<u32> = allowed.iter().collect();
        let threads = (0..threads).map(|i| CpuList::from_iter([cpus[i % cpus.len()]])).collect();
        Placement { places: "list", bind: "close", threads }
    }

    #[test]
    fn threads_run_where_they_are_pinned() {
        let placement = everywhere(3);
        let pool = Pool::new(&placement, Clock::monotonic_raw()).unwrap();
        assert!(pool.readback);
        let results = pool.run(|thread| {
            thread.wait().unwrap();
            (0..1000).for_each(|_| thread.sample_cpu());
            (thread.index, affinity::get().unwrap(), thread.take_cpu_samples())
        });
        for (index, mask, samples) in results.unwrap() {
            assert_eq!(mask, placement.threads[index]);
            assert_eq!(samples, (1000, 0));
        }
    }

    #[test]
    fn a_failing_job_is_an_error_and_no_hang() {
        let pool = Pool::new(&everywhere(3), Clock::monotonic_raw()).unwrap();
        let error = pool
            .run(|thread| {
                assert_ne!(thread.index, 1, "on purpose");
                let _ = thread.wait();
            })
            .unwrap_err();
        assert!(matches!(error, PoolError::Job { index: 1, .. }), "{error}");
        let indices = pool.run(|thread| thread.wait().map(|()| thread.index));
        assert_eq!(
            indices.unwrap(),
            [Ok(0), Ok(1), Ok(2)],
            "the next job has all threads and a mended barrier"
        );
    }

    #[test]
    fn an_impossible_place_is_an_error() {
        let placement =
            Placement { places: "list", bind: "close", threads: vec![CpuList::from_iter([60_000])] };
        let error = Pool::new(&placement, Clock::monotonic_raw()).unwrap_err();
        assert!(matches!(error, PoolError::Pin { index: 0, .. }), "{error}");
    }
}
