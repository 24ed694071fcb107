//! Where the faults of a program come from: all its processes, sampled by the kernel's events, in a worker.
//!
//! [`event_loop`] reads the rings of [`events`], [`calls`] and the preloaded recorder ([`ring`]), sorts the
//! records, and gives them to [`collect`]; an [`event_log`] keeps them, to be judged again elsewhere.

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
mod bursts;
pub mod call_counts;
pub mod calls;
pub mod collect;
mod control;
mod dax;
mod error_codes;
pub mod event_log;
pub mod event_loop;
pub mod event_ring;
pub mod event_set;
pub mod events;
pub mod frame;
pub mod group;
mod growth;
pub mod heap;
pub mod kernel_events;
pub mod memory_state;
mod minor_faults;
pub mod pages;
pub mod procfs;
pub mod program;
pub mod program_files;
mod readings;
pub mod record;
pub mod refaults;
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
mod windows;

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
        let explain = |error| events::explain(&error, target.tasks().len(), cpus.len());
        let events = Events::open(target, cpus, FIRST).map_err(explain)?;
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
