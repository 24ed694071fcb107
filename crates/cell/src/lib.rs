//! What runs in `truebench-cell`, the tiny second binary: the twelve tests of UnixBench, each in a file of
//! [`tests`] that describes itself, [`hops`] from task to task, the [`load`] of allocators, one that runs a program of the
//! user's ([`attempt`]), programs that fault ([`demo`]), and a [`walk`] through the heap.
//!
//! A process that is forked and executed thousands of times a second must be as small as the C programs that it stands
//! for: truebench itself, with threads and megabytes of code, cannot be. So the binary has no Rust runtime, needs libc
//! alone, and never allocates. It is told what to do by its arguments ([`main`]), and answers in a page of shared memory
//! ([`shared`]) that outlives it, whatever it dies of.
//!
//! The code is careful not to panic (no indexing, no arithmetic that is checked): the machinery of panics would be linked
//! in, and with it a second library.
//!
//! [`recording`] and [`blocks`] are not for the cell: they are the memory that truebench shares with the library that it preloads
//! to record allocations, which lives under the same rules.

#![cfg_attr(not(test), no_std)]

pub mod attempt;
pub mod blocks;
pub mod demo;
mod file_copy;
#[cfg(test)]
mod harness;
pub mod hops;
pub mod load;
mod opaque;
pub mod recording;
mod scripts;
pub mod shared;
pub mod sys;
pub mod test;
pub mod tests;
mod timer;
pub mod walk;

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use hops::Hop;
use shared::{Cause, Shared, Slot};
use test::{Job, Test};

/// The binary's name, beside truebench's own.
pub const NAME: &str = "truebench-cell";

/// Exit codes.
pub mod exit {
    use core::ffi::c_int;
    /// Done; the slot has the result.
    pub const DONE: c_int = 0;
    /// Wrong arguments.
    pub const USAGE: c_int = 2;
    /// It failed; the slot has the cause.
    pub const FAILED: c_int = 1;
}

/// Arguments of a cell, after its own name: test, descriptor of the shared memory, its slot there, milliseconds, and what
/// the test takes besides.
pub const FIXED: usize = 4;

/// The body of the binary.
///
/// # Safety
/// `argv` holds `argc` strings, as main(3) gets them.
pub unsafe fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: the caller's.
    let argument = |index: usize| -> Option<&'static CStr> {
        if index >= argc as usize {
            return None;
        }
        let text = unsafe { *argv.wrapping_add(index) };
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    };
    let number = |index: usize| argument(index).and_then(sys::number);
    if argument(1) == Some(tests::execl::AGAIN) {
        // SAFETY: the caller's.
        return unsafe { tests::execl::again(argv, argument(2), argument(3), argument(4)) };
    }
    if argument(1).is_some_and(|name| name.to_bytes() == demo::NAME.as_bytes()) {
        // SAFETY: the caller's.
        return unsafe { demo::main(|index| argument(index.wrapping_add(2))) };
    }
    let work = argument(1).and_then(find);
    let (Some(work), Some(descriptor), Some(slot), Some(milliseconds)) =
        (work, number(2), number(3), number(4))
    else {
        sys::say(c"truebench-cell: this is a part of truebench, which starts it: truebench system\n");
        return exit::USAGE;
    };
    let Some(shared) = Shared::map(descriptor as c_int) else { return exit::USAGE };
    sys::end_with(shared.head().parent.load(Ordering::Relaxed) as libc::pid_t);
    let Some(slot) = shared.slot(slot as usize) else { return exit::USAGE };
    let job = Job { slot, shared, milliseconds, argv, first: FIXED + 1, argc: argc as usize };
    // SAFETY: one thread, and arguments as the test takes them.
    match unsafe { work.run(&job) } {
        Ok(()) => exit::DONE,
        Err(cause) => {
            slot.fail(cause);
            exit::FAILED
        }
    }
}

/// What a cell can be asked for.
enum Work {
    /// One of UnixBench's tests.
    Test(&'static Test),
    /// Hops from task to task.
    Hop(&'static Hop),
    /// The load of allocators.
    Load,
    /// A program of the user's.
    Attempt,
    /// A walk through the heap.
    Walk,
}

impl Work {
    /// Does it.
    ///
    /// # Safety
    /// Called once in a process of one thread.
    unsafe fn run(&self, job: &Job) -> Outcome {
        match self {
            // SAFETY: the caller's.
            Work::Test(test) => unsafe { (test.run)(job) },
            // SAFETY: the caller's.
            Work::Hop(hop) => unsafe { hop.run(job) },
            // SAFETY: the caller's.
            Work::Load => unsafe { load::run(job) },
            Work::Attempt => attempt::run(job),
            Work::Walk => walk::run(job),
        }
    }
}

/// What this name means.
fn find(name: &CStr) -> Option<Work> {
    let test = tests::TESTS.iter().copied().find(|test| test.name.as_bytes() == name.to_bytes());
    let other = || match name.to_bytes() {
        name if name == load::NAME.as_bytes() => Some(Work::Load),
        name if name == attempt::NAME.as_bytes() => Some(Work::Attempt),
        name if name == walk::NAME.as_bytes() => Some(Work::Walk),
        _ => None,
    };
    test.map(Work::Test).or_else(|| Hop::find(name.to_bytes()).map(Work::Hop)).or_else(other)
}

/// What a test gives: an error's cause.
pub type Outcome = Result<(), Cause>;

const _: () = assert!(size_of::<Slot>() <= shared::SLOT_BYTES);
