//! Where the faults of a program come from: all its processes, sampled by the kernel's events, in a worker.
//!
//! - `event_loop` is the loop that reads the rings; `control` finds the sampling period.
//! - [`events`] opens and reads the kernel's events, [`record`] is what they hold, `sorter` puts them in the
//!   order of their times.
//! - [`collect`] puts them together, by [`tasks`] (processes, and in [`address_space`] their mappings),
//!   [`pages`] (which are faulted in again), `block_headers` (what wrote first to a mapping), [`runs`] (how
//!   large blocks are) and [`unwind`] (who called); [`symbols`] gives names to it all.
//! - [`calls`] are the calls for memory, by the tracepoints of [`tracefs`]; [`call_counts`] counts them, with
//!   the [`heap`] of each address space.
//! - If a recorder is preloaded, its [`ring`] holds large blocks, and [`block_faults`] joins each fault to
//!   its block.
//! - [`procfs`] reads processes in /proc. [`event_log`] writes everything to a file, to be judged again
//!   elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use figure::CpuList;
use lab::failure::{Attempt, Failure};

use calls::Calls;
use control::FIRST;
use event_loop::{EventLoop, TraceOptions};
use events::{Events, Target};
use time::{NEVER, now};

pub use result::Traced;
pub use totals::Totals;

pub mod address_space;
pub mod block_faults;
mod block_headers;
pub mod call_counts;
pub mod calls;
pub mod collect;
mod control;
pub mod event_log;
pub mod event_loop;
pub mod events;
pub mod frame;
pub mod heap;
pub mod pages;
pub mod procfs;
pub mod record;
mod result;
pub mod ring;
pub mod runs;
mod sorter;
pub mod symbols;
pub mod tasks;
mod time;
mod totals;
pub mod tracefs;
pub mod unwind;

/// A trace that runs. `R` is made of it at its end.
#[derive(Debug)]
pub struct Trace<R> {
    /// The time at which it was asked to end, in nanoseconds of CLOCK_MONOTONIC; [`NEVER`] before.
    stop: Arc<AtomicU64>,
    thread: JoinHandle<R>,
}

impl<R: Send + 'static> Trace<R> {
    /// Begins to trace a target. `conclude` runs on the tracing thread, as the collected events stay there.
    pub fn begin(
        target: &Target,
        cpus: &CpuList,
        options: TraceOptions,
        conclude: fn(Traced) -> R,
    ) -> Result<Trace<R>, Failure> {
        let tasks = match target {
            Target::Starting(_) => 1,
            Target::Running(tasks) => tasks.len(),
        };
        let events =
            Events::open(target, cpus, FIRST).map_err(|error| events::explain(&error, tasks, cpus.len()))?;
        let stop = Arc::new(AtomicU64::new(NEVER));
        let calls = Calls::open(cpus, options.all_calls, stop.clone());
        let (first, watched) = match target {
            Target::Starting(process) => (Some(*process), Vec::new()),
            Target::Running(tasks) => (None, tasks.clone()),
        };
        let stop_time = stop.clone();
        let thread = std::thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || conclude(EventLoop::new(events, first, calls, watched, options).run(&stop_time)))
            .attempt("cannot start the tracing thread")?;
        Ok(Trace { stop, thread })
    }

    /// Ends it, after a last reading of the rings.
    pub fn end(self) -> Result<R, Failure> {
        self.stop.store(now(), Ordering::Release);
        self.thread.join().map_err(|_| Failure::new("the tracing thread is gone"))
    }
}
