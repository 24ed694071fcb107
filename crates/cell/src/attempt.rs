//! A program of the user's, run once: started, waited for, and what it used taken from the kernel.
//!
//! It is started from here because this process is tiny: what a program has in memory at most (ru_maxrss) is inherited over
//! fork and exec from the one that started it.

mod calls;

use core::ffi::{CStr, c_char, c_int, c_long};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, step};
use crate::test::Job;
use crate::{Outcome, sys, timer};

/// The name as the cell's first argument. Its own arguments: the limit of open files that the program gets, whether its calls for
/// memory are counted (0 or 1), how many variables it gets besides, these as NAME=VALUE, the file, and the program's arguments from
/// its own name on.
pub const NAME: &str = "try";

/// What it notes.
pub mod note {
    /// The program's process.
    pub const PROCESS: usize = 0;
    /// How it ended, as wait(2) has it.
    pub const STATUS: usize = 1;
    /// The most that it, or one of the processes that it waited for, had in memory, in KiB.
    pub const PEAK: usize = 2;
    /// Minor faults of it and of those that it waited for.
    pub const MINOR: usize = 3;
    /// Major faults.
    pub const MAJOR: usize = 4;
    /// 1 if processes that it started were still there when it had ended.
    pub const LEFT: usize = 5;
    /// 1 if calls were counted.
    pub const COUNTED: usize = 6;
    /// errno, if they could not be.
    pub const REFUSED: usize = 7;
    /// Calls of mmap for memory that belongs to no file.
    pub const MAPPED: usize = 8;
    /// Calls of munmap.
    pub const UNMAPPED: usize = 9;
    /// Calls of mremap.
    pub const REMAPPED: usize = 10;
    /// Calls of brk.
    pub const MOVED_BREAK: usize = 11;
    /// Calls of madvise that give pages back: MADV_DONTNEED, MADV_FREE.
    pub const GIVEN_BACK: usize = 12;
    /// Calls of madvise that ask for huge pages: MADV_HUGEPAGE.
    pub const MADE_HUGE: usize = 13;
    /// Calls of mprotect.
    pub const PROTECTED: usize = 14;
    /// Where the descriptor is that tells of calls, and one more, once the program's process has it.
    pub const LISTENER: usize = 15;
}

/// Runs it, once the start is given. When it has ended, the cell says so and waits to be let go.
pub fn run(job: &Job) -> Outcome {
    let missing = |which| Cause::wrong(step::ARGUMENTS, which);
    let number = |index| job.argument(index).and_then(sys::number);
    let (Some(files), Some(counted), Some(variables)) = (number(0), number(1), number(2)) else {
        return Err(missing(0));
    };
    let (is_counted, variables) = (counted != 0, variables as usize);
    let file = job.argument(variables.wrapping_add(3)).ok_or(missing(1))?;
    job.argument(variables.wrapping_add(4)).ok_or(missing(2))?;
    let arguments = job.argv.wrapping_add(job.first.wrapping_add(variables).wrapping_add(4));
    // The program inherits nothing of this.
    let (descriptor, _) = job.place().ok_or(missing(3))?;
    // SAFETY: touches no memory.
    unsafe { libc::fcntl(descriptor as c_int, libc::F_SETFD, libc::FD_CLOEXEC) };
    // What it leaves behind becomes a child of this process, which can tell.
    // SAFETY: touches no memory.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    timer::ready(job);
    let own = sys::process();
    let started = sys::now();
    let child = match fork(is_counted) {
        -1 => return Err(Cause::now(step::FORK)),
        0 => {
            sys::end_with(own);
            become_program(job, files, is_counted, variables, file, arguments);
            job.slot.fail(Cause::now(step::EXEC));
            // SAFETY: ends the child.
            unsafe { libc::_exit(127) }
        }
        child => child,
    };
    let mut status: c_int = 0;
    write(job, note::PROCESS, child as u64);
    if let Some(listener) = is_counted.then(|| listener(job)).flatten() {
        status = calls::count(job.slot, listener, child).ok_or_else(|| Cause::now(step::WAIT))?;
    } else {
        // SAFETY: ours to write.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
            if sys::errno() != libc::EINTR {
                return Err(Cause::now(step::WAIT));
            }
        }
    }
    let ended = sys::now();
    let is_left = reap();
    if job.slot.failed.load(Ordering::Acquire) != 0 {
        return Err(missing(4));
    }
    let microseconds =
        |time: libc::timeval| (time.tv_sec as u64).wrapping_mul(1_000_000).wrapping_add(time.tv_usec as u64);
    // With the orphans that have ended, which this process was given.
    let all = sys::usage(libc::RUSAGE_CHILDREN);
    let slot = job.slot;
    slot.user.store(microseconds(all.ru_utime), Ordering::Relaxed);
    slot.system.store(microseconds(all.ru_stime), Ordering::Relaxed);
    slot.voluntary.store(all.ru_nvcsw as u64, Ordering::Relaxed);
    slot.involuntary.store(all.ru_nivcsw as u64, Ordering::Relaxed);
    write(job, note::STATUS, status as u64);
    write(job, note::PEAK, all.ru_maxrss as u64);
    write(job, note::MINOR, all.ru_minflt as u64);
    write(job, note::MAJOR, all.ru_majflt as u64);
    write(job, note::LEFT, u64::from(is_left));
    slot.started.store(started, Ordering::Relaxed);
    slot.ended.store(ended, Ordering::Release);
    timer::is_ready(job);
    sys::wait_for_count(&job.shared.head().go, 2);
    Ok(())
}

/// Forks. A child that tells its calls does so by a descriptor that it opens itself, so that it has its descriptors in common with
/// this process until it executes the program.
fn fork(is_counted: bool) -> c_int {
    if is_counted {
        let flags = c_long::from(libc::CLONE_FILES | libc::SIGCHLD);
        // SAFETY: one thread; without a stack of its own the child goes on with a copy of this one, as after fork.
        return unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as c_int };
    }
    // SAFETY: one thread.
    unsafe { libc::fork() }
}

/// In the child: lets calls be counted, or notes why they cannot be.
fn tell(job: &Job) {
    match calls::tell() {
        Ok(descriptor) => {
            write(job, note::COUNTED, 1);
            release(job, (descriptor as u64).wrapping_add(1));
        }
        Err(errno) => {
            write(job, note::REFUSED, errno as u64);
            release(job, NONE);
        }
    }
}

/// [`note::LISTENER`] where there will be none.
const NONE: u64 = u64::MAX;

fn release(job: &Job, listener: u64) {
    if let Some(note) = job.slot.note(note::LISTENER) {
        note.store(listener, Ordering::Release);
    }
}

/// The descriptor that the child opened; `None` if it could not, or is no more.
fn listener(job: &Job) -> Option<c_int> {
    let note = job.slot.note(note::LISTENER)?;
    loop {
        match note.load(Ordering::Acquire) {
            // It takes the child microseconds, unless it was killed.
            0 if !is_child_there() => return None,
            // SAFETY: touches no memory.
            0 => unsafe {
                libc::sched_yield();
            },
            NONE => return None,
            descriptor => return c_int::try_from(descriptor.wrapping_sub(1)).ok(),
        }
    }
}

/// Whether the child has not ended; what became of it is left to be waited for.
fn is_child_there() -> bool {
    // SAFETY: all zero is valid.
    let mut told: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: ours to write; where nobody has ended the process stays 0.
    unsafe { libc::waitid(libc::P_ALL, 0, &raw mut told, options) == 0 && told.si_pid() == 0 }
}

/// In the child: becomes the program. Comes back only if that failed.
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
    // SAFETY: ours to write and to read.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = files.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
    for index in 0..variables {
        if let Some(variable) = job.argument(index.wrapping_add(3)) {
            // SAFETY: a string that lives as long as the process and that nobody writes to.
            unsafe { libc::putenv(variable.as_ptr().cast_mut()) };
        }
    }
    // What it took to set variables is not the program's.
    if is_counted {
        tell(job);
    }
    // SAFETY: strings that live, and a null at the end, as main(3) has it.
    unsafe { libc::execv(file.as_ptr(), arguments) };
}

/// Waits for all children that have ended. Whether there are others.
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

fn write(job: &Job, index: usize, value: u64) {
    if let Some(note) = job.slot.note(index) {
        note.store(value, Ordering::Relaxed);
    }
}
