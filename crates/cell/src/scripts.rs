//! Executing a script again and again: what the shell tests have in common.
//!
//! Only scripts that ended in time count. The one that is at work when the time is over is let end, as UnixBench does, so
//! that nothing of it is left; it does not count, unless it is the only one. In a pass of some ten loops its share of the
//! time would matter: the slot tells besides when the last loop that counts was done.

use core::ffi::{CStr, c_int};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, step};
use crate::test::Job;
use crate::{Outcome, sys, timer};

/// Forks, executes the script that the job names with this argument, and waits, until the time is over.
pub fn repeat(job: &Job, instances: &CStr) -> Outcome {
    let script = job.argument(0).ok_or(Cause::wrong(step::ARGUMENTS, 0))?;
    let arguments = [script.as_ptr(), instances.as_ptr(), core::ptr::null()];
    // Scripts inherit what UnixBench's do, and no more.
    let (descriptor, _) = job.place().ok_or(Cause::wrong(step::ARGUMENTS, 1))?;
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
        // SAFETY: ours to write.
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
                // The signal did not see its end, nor what it used.
                timer::done(job.slot);
            }
            break;
        }
    }
    job.slot.whole.store(whole, Ordering::Relaxed);
    job.slot.count.store(count, Ordering::Release);
    Ok(())
}
