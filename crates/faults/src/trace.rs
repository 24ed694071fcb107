//! Where the faults of a program come from: every process of it, sampled by the kernel's events, in a worker of its own.
//!
//! [`events`] opens and reads the kernel's events, [`record`] is what they hold. `order` brings them into the order of their times, and
//! [`collect`] puts them together, by [`tasks`] (processes, and in [`space`] what they have mapped), [`pages`] (which are faulted in
//! again), `fronts` (who wrote first to a mapping), [`runs`] (how large blocks are) and [`unwind`] (who called); [`symbols`] names it
//! all. [`calls`] are the calls for memory, by the tracepoints that [`tracefs`] tells of, and [`book`] where they are put together, with the
//! [`heap`] of each address space.
//! Where a recorder is preloaded, its [`ring`] tells of large [`blocks`], and each fault is joined to its own. [`looked`] is what is
//! read of processes besides, and [`kept`] keeps everything in a file, to be judged again elsewhere. `turns` is the loop, which drains the
//! rings.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use figure::CpuList;
use machine::Tree;
use machine::perf::{OF_OURS, refusal};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use calls::Calls;
use collect::Collector;
use control::FIRST;
use events::{Events, Target};
use kept::Writer;
use ring::Ring;
use turns::Loop;

pub mod blocks;
pub mod book;
pub mod calls;
pub mod collect;
mod control;
pub mod events;
mod fronts;
pub mod heap;
pub mod kept;
pub mod looked;
mod order;
pub mod pages;
pub mod record;
pub mod ring;
pub mod runs;
pub mod space;
pub mod symbols;
pub mod tasks;
pub mod tracefs;
mod turns;
pub mod unwind;

/// What is known of a trace in its end alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Minor faults that the kernel's counters saw, sampled or not.
    pub counted: u64,
    /// Whether faults that the kernel takes for the program are among them.
    pub sees_kernel: bool,
    /// The last period.
    pub period: u64,
    /// The share of the faults by which NUMA balancing looked for who uses a page, by the whole machine's counter.
    pub hinting: f64,
    /// The share of the faults that were given a huge page, by the whole machine's counter.
    pub huge: f64,
    /// CPU seconds that looking took.
    pub cpu_seconds: f64,
    /// Wall-clock seconds that it lasted.
    pub seconds: f64,
}

/// What a trace gave.
pub struct Traced {
    /// What was seen.
    pub collector: Collector,
    /// What is known in the end alone.
    pub totals: Totals,
    /// Names of programs of which nothing was seen, for they have rights that we have not; untrusted.
    pub unseen: BTreeSet<String>,
    /// Why it ended before it should have.
    pub trouble: Option<String>,
    /// Why calls for memory were not counted, if so.
    pub calls: Result<(), String>,
    /// Why faults did not say what page they met, if so.
    pub codes: Result<(), String>,
}

/// What there is besides the faults.
#[derive(Default)]
pub struct Besides {
    /// Of a target that runs: its processes.
    pub running: Vec<u32>,
    /// Where a recorder that is preloaded tells of large blocks.
    pub ring: Option<Ring>,
    /// Whether calls for memory are counted all the time, and not in moments.
    pub all_calls: bool,
    /// Keeps what is seen, if so.
    pub keeps: Option<Writer>,
}

/// The time at which a trace that goes on ends.
const NEVER: u64 = u64::MAX;

/// A trace that runs. `R` is what is made of it in the end.
#[derive(Debug)]
pub struct Trace<R> {
    /// The time at which it was asked to end, in nanoseconds of CLOCK_MONOTONIC; [`NEVER`] before.
    stop: Arc<AtomicU64>,
    thread: JoinHandle<R>,
}

impl<R: Send + 'static> Trace<R> {
    /// Begins to look at a target. `conclude` is called where the looking was done, for what was seen stays there.
    ///
    /// # Errors
    /// What the kernel said, in words for the user.
    pub fn begin(
        target: &Target,
        cpus: &CpuList,
        besides: Besides,
        conclude: fn(Traced) -> R,
    ) -> Result<Trace<R>, String> {
        let tasks = match target {
            Target::Starting(_) => 1,
            Target::Running(tasks) => tasks.len(),
        };
        let events = Events::open(target, cpus, FIRST).map_err(|error| told(&error, tasks, cpus.len()))?;
        let stop = Arc::new(AtomicU64::new(NEVER));
        let calls = Calls::open(cpus, besides.all_calls, stop.clone());
        let (first, watched) = match target {
            Target::Starting(process) => (Some(*process), Vec::new()),
            Target::Running(tasks) => (None, tasks.clone()),
        };
        let asked = stop.clone();
        let thread = std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || conclude(Loop::new(events, first, calls, watched, besides).run(&asked)))
            .map_err(|error| format!("no thread to look from: {error}"))?;
        Ok(Trace { stop, thread })
    }

    /// Ends it: what is in the rings is the last.
    ///
    /// # Errors
    /// Its thread is gone.
    pub fn end(self) -> Result<R, String> {
        self.stop.store(now(), Ordering::Release);
        self.thread.join().map_err(|_| "the thread that looked is gone".to_owned())
    }
}

/// Why there are no events, in words for the user.
pub fn told(error: &io::Error, tasks: usize, cpus: usize) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            format!("the kernel forbids it (perf_event_open): {}", refusal(&Tree::live(), OF_OURS))
        }
        Some(libc::EMFILE | libc::ENFILE) => format!(
            "{tasks} threads on {cpus} CPUs need {} open files and there may not be so many: raise ulimit -n",
            tasks * cpus * 4
        ),
        Some(libc::ESRCH) => "it has ended".to_owned(),
        Some(libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP) => {
            "this kernel has no such events (perf_event_open)".to_owned()
        }
        _ => format!("perf_event_open: {error}"),
    }
}

/// Nanoseconds of the clock that the kernel writes into records.
fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

fn nanoseconds(time: rustix::time::Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
