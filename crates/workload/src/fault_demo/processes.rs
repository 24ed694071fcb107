//! Processes that come and go: each maps what is there already, or starts a program.

use super::failure::Failure;
use super::pace::Pace;
use crate::sys::touch;

const CHILD: Failure = c"truebench-workload: no child could be forked\n";

/// Forks a child for each iteration, which touches memory that all share, as a database's process for a connection does.
pub fn share(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address that the kernel chooses.
    let base = unsafe { libc::mmap(core::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(c"truebench-workload: no shared memory could be mapped\n");
    }
    // SAFETY: just mapped.
    unsafe { touch(base.cast(), bytes, 1) };
    // SAFETY: mapped in the child, too.
    in_children(pace, || unsafe { touch(base.cast(), bytes, 1) })
}

/// Starts a program for each iteration, which ends at once, as a shell script does.
pub fn start(pace: Pace) -> Result<(), Failure> {
    let name = c"/proc/self/exe";
    in_children(pace, || {
        let arguments = [name.as_ptr(), core::ptr::null()];
        // Without arguments it prints what it is to standard error, and ends.
        // SAFETY: strings that end with zero; only the standard streams are closed.
        unsafe {
            libc::close(2);
            libc::execv(name.as_ptr(), arguments.as_ptr());
        }
    })
}

fn in_children(pace: Pace, work: impl Fn()) -> Result<(), Failure> {
    pace.each(|| {
        // SAFETY: one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            work();
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: no status is asked for.
        if child < 0 || unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) } != child {
            return Err(CHILD);
        }
        Ok(())
    })
}
