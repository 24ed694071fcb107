//! Hops: a number goes from one task to another and back, in several ways, on CPUs that are given; and how long the
//! woken one takes to run.
//!
//! The tests of the index leave it to the scheduler where the two tasks of [`context1`](crate::tests) run, and keep no record
//! of it. Here both are pinned before the first hop, or free; both look where they are every so often; and each tells how often
//! it was switched away, how long it ran, and how long it waited for a CPU.
//!
//! - [`way`] is what carries the number: pipes, a socket pair, event descriptors, futexes.
//! - [`board`] is what the two tasks share besides; [`note`] is where the results stand in the slot.
//! - [`task`] is what each of the two does.

pub mod board;
pub mod note;
mod task;
pub mod way;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::Outcome;
use crate::shared::{Cause, step};
use crate::test::Job;
use board::Board;
use task::{Rank, Task};
use way::Way;

/// One way of hopping, self-described.
#[derive(Debug)]
pub struct Hop {
    /// Its word: the cell's argument and, without `hop.`, part of ids.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// The same for a record, in few words: which tasks, over what.
    pub way: &'static str,
    /// What carries the number.
    carrier: Way,
    /// The two tasks share an address space.
    threads: bool,
}

/// All ways. A new one is a line here, and its carrier in [`way`].
pub static HOPS: &[Hop] = &[
    Hop { name: "hop.pipe", title: "Two processes, pipes", way: "pipe", carrier: Way::Pipes, threads: false },
    Hop {
        name: "hop.threads",
        title: "Two threads, pipes",
        way: "threads",
        carrier: Way::Pipes,
        threads: true,
    },
    Hop {
        name: "hop.eventfd",
        title: "Two processes, eventfd",
        way: "eventfd",
        carrier: Way::Events,
        threads: false,
    },
    Hop {
        name: "hop.futex",
        title: "Two processes, futex",
        way: "futex",
        carrier: Way::Futexes,
        threads: false,
    },
    Hop {
        name: "hop.socket",
        title: "Two processes, Unix socket pair",
        way: "socket",
        carrier: Way::Sockets,
        threads: false,
    },
];

/// Arguments of its own that a hop takes: the CPU of either task, or [`FREE`]; nanoseconds that the waker stays busy after
/// each waking, or [`FREE`] for none and no look at the clock; hops at rest ([`REST_MS`]) before the first pass of a pair
/// that lasts, or [`FREE`] for a pair that makes one pass and ends.
pub const ARGUMENTS: usize = 4;
/// Where the scheduler likes; and, of other arguments, none.
pub const FREE: &core::ffi::CStr = c"-";

/// Milliseconds from one hop at rest to the next. The kernel counts how often a task wakes another than the one before
/// (`wakee_flips`), takes tasks that do so for many that should run apart (wake_wide), lets a new task inherit the count, and
/// halves it at a wake-up that comes more than a second after the last halving (record_wakee, kernel/sched/fair.c). So hops a
/// little more than a second apart forget what went before as fast as hops can, and leave the CPUs to others.
pub const REST_MS: u64 = 1050;
/// The same between the passes of a pair. A hop at rest that falls into another pair's pass makes that one run apart (a timer
/// wakes a task in the name of the one that it interrupts): seldom, and there are many such between two passes of a pair.
pub const BETWEEN_MS: u64 = 3 * REST_MS;

/// The time is over.
static OVER: AtomicBool = AtomicBool::new(false);

extern "C" fn over(_: c_int) {
    OVER.store(true, Ordering::Relaxed);
}

impl Hop {
    /// The hop of this name.
    pub fn find(name: &[u8]) -> Option<&'static Hop> {
        HOPS.iter().find(|hop| hop.name.as_bytes() == name)
    }

    /// Makes the link and the other task, and hops until the time is over.
    ///
    /// # Errors
    /// What failed.
    ///
    /// # Safety
    /// Called once in a process of one thread.
    pub unsafe fn run(&self, job: &Job) -> Outcome {
        let asked = |index| {
            let word = job.argument(index).ok_or(Cause::wrong(step::ARGUMENTS, index as u64))?;
            let number = crate::sys::number(word);
            if number.is_none() && word != FREE {
                return Err(Cause::wrong(step::ARGUMENTS, index as u64));
            }
            Ok(number)
        };
        let (own, others, busy, rests) = (asked(0)?, asked(1)?, asked(2)?, asked(3)?);
        let board = Board::map()?;
        let (here, there) = self.carrier.open(board)?;
        let task = |rank, end, cpu| Task { slot: job.slot, board, rank, end, cpu, busy };
        let echo = task(Rank::Echo, there, others);
        let ping = task(Rank::Ping, here, own);
        // SAFETY: one thread so far; `echo` outlives it, as it is waited for.
        let other = unsafe { if self.threads { echo.as_thread()? } else { echo.as_process()? } };
        catch_alarm()?;
        if let Some(rests) = rests {
            // Until it is killed, with the other one.
            return ping.last(job, &OVER, rests);
        }
        let result = ping.run(job, &OVER);
        match result {
            Ok(()) => other.end(&ping),
            // The other one may wait for ever: it goes with this process (a thread), or with its group.
            Err(cause) => Err(cause),
        }
    }
}

/// The end of the time is noted, and what is under way goes on.
fn catch_alarm() -> Outcome {
    // SAFETY: all zero is an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
    action.sa_sigaction = over as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: a handler that only stores.
    if unsafe { libc::sigaction(libc::SIGALRM, &action, core::ptr::null_mut()) } == 0 {
        Ok(())
    } else {
        Err(Cause::now(step::TIMER))
    }
}
