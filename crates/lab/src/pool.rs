//! A persistent pool of pinned threads.
//!
//! Threads live as long as the pool, so that no timed region pays for starting them; between jobs they sleep.
//! Affinity is set once and read back; while a job runs, [`Seat::glance`] samples where the thread really is.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use figure::CpuList;

use crate::affinity;
use crate::barrier::{Barrier, Broken};
use crate::clock::Clock;
use crate::placement::Placement;
use crate::thread_counters::Source;

/// Stack of a pool thread: kernels need next to none, and 256 threads should not map 2 GiB.
const STACK: usize = 256 << 10;

/// What a job sees of the thread that it runs on.
#[derive(Debug)]
pub struct Seat {
    /// Number of the thread, from 0.
    pub index: usize,
    /// How many threads there are.
    pub threads: usize,
    /// The CPUs it is pinned to.
    pub place: CpuList,
    /// The clock.
    pub clock: Arc<Clock>,
    /// The thread's own counters.
    pub counters: Source,
    barrier: Arc<Barrier>,
    glances: Cell<u64>,
    strayed: Cell<u64>,
}

impl Seat {
    /// Waits for all threads of the pool. Every thread must call it equally often.
    ///
    /// # Errors
    /// [`Broken`] when another thread panicked.
    pub fn wait(&self) -> Result<(), Broken> {
        self.barrier.wait()
    }

    /// Looks where the thread runs, for the evidence; some tens of nanoseconds.
    #[inline]
    pub fn glance(&self) {
        self.glances.set(self.glances.get() + 1);
        if !self.place.contains(affinity::current_cpu()) {
            self.strayed.set(self.strayed.get() + 1);
        }
    }

    /// Takes the glances since the last call: how many, and how many of them outside the place.
    pub fn take_glances(&self) -> (u64, u64) {
        (self.glances.take(), self.strayed.take())
    }
}

/// A pool that cannot be made, or a job that failed.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// Thread creation failed.
    #[error(
        "thread {index} of {threads} could not be started: {source}; ask for fewer threads, or raise the limit (ulimit -u, pids cgroup)"
    )]
    Spawn {
        /// Which thread.
        index: usize,
        /// Of how many.
        threads: usize,
        /// What the system answered.
        source: std::io::Error,
    },
    /// Pinning failed.
    #[error("thread {index} could not be pinned to CPUs {place}: {reason}")]
    Pin {
        /// Which thread.
        index: usize,
        /// Where to.
        place: String,
        /// What the system answered.
        reason: String,
    },
    /// A job panicked.
    #[error("thread {index} failed: {reason}")]
    Job {
        /// Which thread.
        index: usize,
        /// The panic's text.
        reason: String,
    },
}

type Job = Arc<dyn Fn(&Seat) + Send + Sync>;
type Done = (usize, Result<(), String>);

/// Pinned threads, waiting for jobs. Dropping the pool ends them.
#[derive(Debug)]
pub struct Pool {
    jobs: Vec<Sender<Job>>,
    done: Receiver<Done>,
    threads: Vec<JoinHandle<()>>,
    barrier: Arc<Barrier>,
    /// The clock that all threads use.
    pub clock: Arc<Clock>,
    /// Whether every thread read back exactly the mask that was set.
    pub readback: bool,
}

impl Pool {
    /// A thread on each of these CPUs: to look at them before and after what runs there in other processes.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on_each(cpus: &CpuList, clock: Clock) -> Result<Pool, PoolError> {
        let threads = cpus.iter().map(|cpu| CpuList::from_iter([cpu])).collect();
        Pool::new(&Placement { places: "threads", bind: "close", threads }, clock)
    }

    /// Starts a thread for each entry of the placement and pins it.
    ///
    /// # Errors
    /// [`PoolError::Spawn`] or [`PoolError::Pin`].
    pub fn new(placement: &Placement, clock: Clock) -> Result<Pool, PoolError> {
        let count = placement.threads.len();
        let (clock, barrier) = (Arc::new(clock), Arc::new(Barrier::new(count)));
        let (done_sender, done) = channel();
        let (ready_sender, ready) = channel();
        let mut pool = Pool { jobs: Vec::new(), done, threads: Vec::new(), barrier, clock, readback: true };
        for (index, place) in placement.threads.iter().enumerate() {
            let (job_sender, jobs) = channel::<Job>();
            let (place, clock, barrier) = (place.clone(), pool.clock.clone(), pool.barrier.clone());
            let (ready, done) = (ready_sender.clone(), done_sender.clone());
            let body = move || {
                let pinned = affinity::set(&place).and_then(|()| affinity::get());
                let failed = pinned.is_err();
                let _ = ready.send((index, place.clone(), pinned));
                if failed {
                    return;
                }
                let seat = Seat {
                    index,
                    threads: count,
                    place,
                    clock,
                    counters: Source::of_this_thread(),
                    barrier,
                    glances: Cell::new(0),
                    strayed: Cell::new(0),
                };
                serve(&seat, &jobs, &done);
            };
            let builder = std::thread::Builder::new().name(format!("seat {index}")).stack_size(STACK);
            let handle =
                builder.spawn(body).map_err(|source| PoolError::Spawn { index, threads: count, source })?;
            pool.jobs.push(job_sender);
            pool.threads.push(handle);
        }
        for (index, place, pinned) in ready.iter().take(count) {
            match pinned {
                Ok(mask) => pool.readback &= mask == place,
                Err(error) => {
                    let (place, reason) = (place.to_string(), error.to_string());
                    return Err(PoolError::Pin { index, place, reason });
                }
            }
        }
        Ok(pool)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Runs `job` on every thread and waits; results in thread order. The calling thread sleeps meanwhile.
    ///
    /// # Errors
    /// [`PoolError::Job`] when a thread panics: the first that did. All threads are then idle again.
    pub fn run<T, F>(&self, job: F) -> Result<Vec<T>, PoolError>
    where
        T: Send + 'static,
        F: Fn(&Seat) -> T + Send + Sync + 'static,
    {
        let results: Arc<Mutex<Vec<Option<T>>>> =
            Arc::new(Mutex::new((0..self.threads()).map(|_| None).collect()));
        let shared = results.clone();
        let job: Job = Arc::new(move |seat: &Seat| {
            let result = job(seat);
            shared.lock().unwrap_or_else(PoisonError::into_inner)[seat.index] = Some(result);
        });
        for sender in &self.jobs {
            // A thread that is gone has said so, or will, by its missing answer below.
            let _ = sender.send(job.clone());
        }
        drop(job);
        let mut failed = None;
        // All answers are waited for: one left over would be taken for an answer of the next job.
        for _ in 0..self.threads() {
            match self.done.recv() {
                Ok((_, Ok(()))) => {}
                Ok((index, Err(reason))) => {
                    failed.get_or_insert(PoolError::Job { index, reason });
                }
                Err(_) => {
                    return Err(PoolError::Job { index: 0, reason: "all threads are gone".to_owned() });
                }
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

fn serve(seat: &Seat, jobs: &Receiver<Job>, done: &Sender<Done>) {
    for job in jobs {
        let result = catch_unwind(AssertUnwindSafe(|| job(seat))).map_err(|panic| {
            seat.barrier.break_it();
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
        });
        drop(job);
        if done.send((seat.index, result)).is_err() {
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
    fn threads_are_where_they_were_put() {
        let placement = everywhere(3);
        let pool = Pool::new(&placement, Clock::monotonic_raw()).unwrap();
        assert!(pool.readback);
        let seen = pool.run(|seat| {
            seat.wait().unwrap();
            (0..1000).for_each(|_| seat.glance());
            (seat.index, affinity::get().unwrap(), seat.take_glances())
        });
        for (index, mask, glances) in seen.unwrap() {
            assert_eq!(mask, placement.threads[index]);
            assert_eq!(glances, (1000, 0));
        }
    }

    #[test]
    fn a_failing_job_is_an_error_and_no_hang() {
        let pool = Pool::new(&everywhere(3), Clock::monotonic_raw()).unwrap();
        let error = pool
            .run(|seat| {
                assert_ne!(seat.index, 1, "on purpose");
                let _ = seat.wait();
            })
            .unwrap_err();
        assert!(matches!(error, PoolError::Job { index: 1, .. }), "{error}");
        let seats = pool.run(|seat| seat.wait().map(|()| seat.index));
        assert_eq!(
            seats.unwrap(),
            [Ok(0), Ok(1), Ok(2)],
            "the next job finds all threads and a whole barrier"
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
