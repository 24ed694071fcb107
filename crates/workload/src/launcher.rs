//! Starts a program of the user, waits for it, and writes what the kernel says that it used.
//!
//! This process is tiny, which matters: a program inherits the peak of its memory (ru_maxrss) over fork and
//! exec from the process that starts it.

mod calls;
pub mod fields;

use core::ffi::{CStr, c_char, c_int, c_long};
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::{Outcome, sys, timer};

/// The name of this workload. Its arguments: the program's limit of open files; 1 to count its memory calls,
/// else 0; the number of environment variables to add; these as NAME=VALUE; the file; the program's arguments
/// from its name on.
pub const NAME: &str = "try";

/// Runs the program once the start is given. After its end, signals ready and waits for the second start.
pub fn run(job: &Job) -> Outcome {
    let missing = |which| Cause::wrong(step::ARGUMENTS, which);
    let number = |index| job.argument(index).and_then(sys::number);
    let (Some(files), Some(is_counted), Some(variables)) = (number(0), number(1), number(2)) else {
        return Err(missing(0));
    };
    let (is_counted, variables) = (is_counted != 0, variables as usize);
    let file = job.argument(variables.wrapping_add(3)).ok_or(missing(1))?;
    job.argument(variables.wrapping_add(4)).ok_or(missing(2))?;
    let arguments = job.argv.wrapping_add(job.first.wrapping_add(variables).wrapping_add(4));
    // The program does not inherit the descriptor.
    let (descriptor, _) = job.descriptor_and_slot().ok_or(missing(3))?;
    // SAFETY: touches no memory.
    unsafe { libc::fcntl(descriptor as c_int, libc::F_SETFD, libc::FD_CLOEXEC) };
    // Processes that the program leaves behind become children of this process.
    // SAFETY: touches no memory.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    timer::wait_for_start(job);
    let launcher = sys::process();
    let started = sys::now();
    let child = match fork(is_counted) {
        -1 => return Err(Cause::now(step::FORK)),
        0 => {
            sys::end_with(launcher);
            become_program(job, files, is_counted, variables, file, arguments);
            job.slot.fail(Cause::now(step::EXEC));
            // SAFETY: ends the child.
            unsafe { libc::_exit(127) }
        }
        child => child,
    };
    let mut status: c_int = 0;
    job.slot.set(fields::PROCESS, child as u64);
    if let Some(listener) = is_counted.then(|| listener(job)).flatten() {
        status = calls::count(job.slot, listener, child).ok_or_else(|| Cause::now(step::WAIT))?;
    } else {
        // SAFETY: writes to a local variable.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
            if sys::errno() != libc::EINTR {
                return Err(Cause::now(step::WAIT));
            }
        }
    }
    let ended = sys::now();
    let is_any_left = reap();
    if job.slot.failed.load(Ordering::Acquire) != 0 {
        return Err(missing(4));
    }
    // With the orphans of the program that have ended.
    let usage = sys::usage(libc::RUSAGE_CHILDREN);
    let slot = job.slot;
    slot.user.store(sys::microseconds(usage.ru_utime), Ordering::Relaxed);
    slot.system.store(sys::microseconds(usage.ru_stime), Ordering::Relaxed);
    slot.voluntary.store(usage.ru_nvcsw as u64, Ordering::Relaxed);
    slot.involuntary.store(usage.ru_nivcsw as u64, Ordering::Relaxed);
    slot.set(fields::STATUS, status as u64);
    slot.set(fields::PEAK, usage.ru_maxrss as u64);
    slot.set(fields::MINOR, usage.ru_minflt as u64);
    slot.set(fields::MAJOR, usage.ru_majflt as u64);
    slot.set(fields::LEFT, u64::from(is_any_left));
    slot.started.store(started, Ordering::Relaxed);
    slot.ended.store(ended, Ordering::Release);
    timer::signal_ready(job);
    sys::wait_for_count(&job.shared.head().go, 2);
    Ok(())
}

/// Forks. A child with counted calls opens the descriptor that reports them, so it shares its
/// descriptors with this process until it executes the program.
fn fork(is_counted: bool) -> c_int {
    if is_counted {
        let flags = c_long::from(libc::CLONE_FILES | libc::SIGCHLD);
        // SAFETY: one thread; without a new stack the child continues on a copy of this one, as after fork.
        return unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as c_int };
    }
    // SAFETY: one thread.
    unsafe { libc::fork() }
}

/// In the child: lets the launcher count its calls, or writes why it cannot.
fn report_calls(job: &Job) {
    let listener = match calls::report() {
        Ok(descriptor) => {
            job.slot.set(fields::COUNTED, 1);
            (descriptor as u64).wrapping_add(1)
        }
        Err(errno) => {
            job.slot.set(fields::REFUSED, errno as u64);
            NONE
        }
    };
    if let Some(field) = job.slot.field(fields::LISTENER) {
        field.store(listener, Ordering::Release);
    }
}

/// Value of [`fields::LISTENER`] if the child could not open a descriptor.
const NONE: u64 = u64::MAX;

/// Waits for the descriptor that the child opens. `None` if it could not, or was killed.
fn listener(job: &Job) -> Option<c_int> {
    let field = job.slot.field(fields::LISTENER)?;
    loop {
        match field.load(Ordering::Acquire) {
            0 if !is_child_alive() => return None,
            // SAFETY: touches no memory.
            0 => unsafe {
                libc::sched_yield();
            },
            NONE => return None,
            descriptor => return c_int::try_from(descriptor.wrapping_sub(1)).ok(),
        }
    }
}

/// Whether the child has not ended. Its exit status stays to be waited for.
fn is_child_alive() -> bool {
    // SAFETY: all zero is valid.
    let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: writes to a local variable; the process stays 0 if no child has ended.
    unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) == 0 && info.si_pid() == 0 }
}

/// In the child: executes the program. Returns only if that failed.
fn become_program(
    job: &Job,
    files: u64,
    is_counted: bool,
    variables: usize,
    file: &'static CStr,
    arguments: *const *const c_char,
) {
    // SAFETY: all zero is a valid limit.
    let mut limit: libc::rlimit = unsafe { core::mem::zeroed() };
    // SAFETY: reads and writes a local variable.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = files.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
    for index in 0..variables {
        if let Some(variable) = job.argument(index.wrapping_add(3)) {
            // SAFETY: a string that lives as long as the process and is not written to.
            unsafe { libc::putenv(variable.as_ptr().cast_mut()) };
        }
    }
    // Last, so that calls of putenv(3) are not counted.
    if is_counted {
        report_calls(job);
    }
    // SAFETY: strings that live, and a null at the end, as main(3) has it.
    unsafe { libc::execv(file.as_ptr(), arguments) };
}

/// Waits for all children that have ended. Whether others are alive.
fn reap() -> bool {
    loop {
        // SAFETY: no status is asked for.
        match unsafe { libc::waitpid(-1, core::ptr::null_mut(), libc::WNOHANG) } {
            0 => return true,
            process if process > 0 => {}
            _ => return false,
        }
    }
}
