//! System Call Overhead: five cheap system calls.

use core::ffi::c_int;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::unixbench::{Class, Test};
use crate::{Outcome, timer};

pub const TEST: Test = Test {
    name: "syscall",
    title: "System Call Overhead",
    baseline: 15000.0,
    class: Class::Syscall,
    counts: "five system calls: dup, close, getpid, getuid, umask",
    run,
    ..Test::LONG
};

/// The duplicated descriptor is a pipe of this process: copies that share a file contend for it (UnixBench
/// until 2023).
unsafe fn run(job: &Job) -> Outcome {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(Cause::now(step::PIPE));
    }
    let [end, _] = ends;
    timer::start(job)?;
    loop {
        // SAFETY: calls that touch no memory.
        unsafe {
            let copy = libc::dup(end);
            if libc::close(copy) != 0 {
                return Err(Cause::now(step::SYSCALL));
            }
            // Older C libraries cache getpid(3).
            libc::syscall(libc::SYS_getpid);
            libc::getuid();
            libc::umask(0o022);
        }
        timer::count();
    }
}
