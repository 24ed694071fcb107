//! Shell Scripts: executes a script again and again, which sorts, dumps, filters and counts a text.
//!
//! Only scripts that ended in time count. The script that runs when the time is over may end, as in
//! UnixBench, so that no process remains; it does not count, unless it is the only one. A pass holds about
//! ten scripts, so the time of an uncounted one matters: the slot also holds when the last counted script
//! ended.

use core::ffi::{CStr, c_int};
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::unixbench::{Class, Needs, Test};
use crate::{Outcome, sys, timer};

pub const SHELL1: Test = Test {
    name: "shell1",
    title: "Shell Scripts (1 concurrent)",
    baseline: 42.4,
    counts: "a script that runs another once and waits: nine programs executed",
    run: |job| repeat(job, c"1"),
    ..SHELL
};

pub const SHELL8: Test = Test {
    name: "shell8",
    title: "Shell Scripts (8 concurrent)",
    baseline: 6.0,
    counts: "a script that runs another eight times at once and waits: 65 programs executed",
    run: |job| repeat(job, c"8"),
    ..SHELL
};

const SHELL: Test = Test {
    unit: "lpm",
    timebase: 60.0,
    seconds: 60.0,
    class: Class::Shell,
    groups: &["system", "shell"],
    needs: Needs::Scripts,
    ..Test::LPS
};

/// Forks, executes the script of the job with this argument, and waits, until the time is over.
fn repeat(job: &Job, instances: &CStr) -> Outcome {
    let script = job.argument(0).ok_or(Cause::wrong(step::ARGUMENTS, 0))?;
    let arguments = [script.as_ptr(), instances.as_ptr(), core::ptr::null()];
    // Scripts inherit the same descriptors as UnixBench's.
    let (descriptor, _) = job.descriptor_and_slot().ok_or(Cause::wrong(step::ARGUMENTS, 1))?;
    // SAFETY: touches no memory.
    unsafe { libc::fcntl(descriptor as c_int, libc::F_SETFD, libc::FD_CLOEXEC) };
    let (mut count, mut whole) = (0u64, 0u64);
    timer::start_and_return(job)?;
    loop {
        // SAFETY: one thread. A timer is not inherited.
        match unsafe { libc::fork() } {
            -1 => return Err(Cause::now(step::FORK)),
            0 => {
                // SAFETY: strings that live, and a null at the end.
                unsafe { libc::execv(script.as_ptr(), arguments.as_ptr()) };
                job.slot.fail(Cause::now(step::EXEC));
                // SAFETY: ends the child.
                unsafe { libc::_exit(127) }
            }
            _ => {}
        }
        let mut status: c_int = 0;
        // SAFETY: writes to a local variable.
        if unsafe { libc::wait(&raw mut status) } < 0 {
            return Err(Cause::now(step::WAIT));
        }
        if status != 0 {
            return Err(Cause::wrong(step::CHILD, status as u64));
        }
        let (is_over, is_first) = (timer::is_over(), count == 0);
        if is_first || !is_over {
            count = count.wrapping_add(1);
            whole = sys::now();
        }
        if is_over {
            if is_first {
                // The script ended after the signal, which wrote end and usage too early.
                timer::done(job.slot);
            }
            break;
        }
    }
    job.slot.whole.store(whole, Ordering::Relaxed);
    job.slot.count.store(count, Ordering::Release);
    Ok(())
}
