//! Two tasks wake each other in turn: a number goes from one to the other and back.
//!
//! In UnixBench's [`context1`](crate::unixbench) the scheduler places the two tasks and nothing records
//! where. Here both are pinned before the first round trip, or free. Both sample their CPU. Each reports its
//! context switches, CPU time and time on a run queue.

pub mod fields;
mod shared_state;
mod task;
mod transport;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::Outcome;
use crate::job::Job;
use crate::shared::{Cause, step};
use shared_state::SharedState;
pub use task::{BETWEEN_MS, IDLE_MS};
use task::{Role, Task};
use transport::Transport;

/// A kind of ping-pong: which tasks, over what.
#[derive(Debug)]
pub struct PingPong {
    /// The workload's name, `hop.` and [`variant`](Self::variant).
    pub name: &'static str,
    pub title: &'static str,
    /// In records and ids: the transport, or `threads`.
    pub variant: &'static str,
    transport: Transport,
    /// Whether the two tasks are threads of one process.
    threads: bool,
}

macro_rules! ping_pongs {
    ($($variant:literal: $title:literal, $transport:ident, threads $threads:literal;)*) => {
        /// All kinds. A new one is an entry here, and its transport in [`transport`].
        pub static PING_PONGS: &[PingPong] = &[$(PingPong {
            name: concat!("hop.", $variant),
            title: $title,
            variant: $variant,
            transport: Transport::$transport,
            threads: $threads,
        }),*];
    };
}
ping_pongs! {
    "pipe": "Two processes, pipes", Pipes, threads false;
    "threads": "Two threads, pipes", Pipes, threads true;
    "eventfd": "Two processes, eventfd", Events, threads false;
    "futex": "Two processes, futex", Futexes, threads false;
    "socket": "Two processes, Unix socket pair", Sockets, threads false;
}

/// The argument for "none" of [`PingPong::run`].
pub const FREE: &core::ffi::CStr = c"-";

static OVER: AtomicBool = AtomicBool::new(false);

extern "C" fn set_over(_: c_int) {
    OVER.store(true, Ordering::Relaxed);
}

impl PingPong {
    pub fn find(name: &[u8]) -> Option<&'static PingPong> {
        PING_PONGS.iter().find(|ping_pong| ping_pong.name.as_bytes() == name)
    }

    /// Opens the link, starts the echo task, and runs the ping task. Arguments, each a number or [`FREE`]:
    ///
    /// 1. The CPU of the ping task; [`FREE`] for any.
    /// 2. The CPU of the echo task; [`FREE`] for any.
    /// 3. Nanoseconds that the ping task spins after each wake-up. [`FREE`]: wake-ups are not timed.
    /// 4. Idle round trips, [`IDLE_MS`] apart, before the first pass of a lasting pair. [`FREE`]: one pass,
    ///    then end.
    ///
    /// # Safety
    /// Called once in a process of one thread.
    pub unsafe fn run(&self, job: &Job) -> Outcome {
        let number = |index| {
            let text = job.argument(index).ok_or(Cause::wrong(step::ARGUMENTS, index as u64))?;
            let number = crate::sys::number(text);
            if number.is_none() && text != FREE {
                return Err(Cause::wrong(step::ARGUMENTS, index as u64));
            }
            Ok(number)
        };
        let (ping_cpu, echo_cpu, busy, idle_trips) = (number(0)?, number(1)?, number(2)?, number(3)?);
        let state = SharedState::map()?;
        let (ping_end, echo_end) = self.transport.open(state)?;
        let task = |role, end, cpu| Task { slot: job.slot, state, role, end, cpu, busy };
        let echo = task(Role::Echo, echo_end, echo_cpu);
        let ping = task(Role::Ping, ping_end, ping_cpu);
        // SAFETY: one thread so far. `echo` outlives the task: it is waited for, or the process ends.
        let echo_task = unsafe { if self.threads { echo.start_thread()? } else { echo.start_process()? } };
        // SAFETY: the handler only stores.
        if !unsafe { crate::sys::on_alarm(set_over) } {
            return Err(Cause::now(step::TIMER));
        }
        if let Some(idle_trips) = idle_trips {
            // Runs until both tasks are killed.
            return ping.run_passes(job, &OVER, idle_trips);
        }
        // On failure the echo task ends with this process, if it is a thread, or with its process group.
        ping.run(job, &OVER)?;
        echo_task.end(&ping)
    }
}
