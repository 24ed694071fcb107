//! Pipe Throughput: 512 bytes through a pipe within one process, without a context switch.

use core::ffi::c_int;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::unixbench::{Class, Test};
use crate::{Outcome, timer};

pub const TEST: Test = Test {
    name: "pipe",
    title: "Pipe Throughput",
    baseline: 12440.0,
    class: Class::Syscall,
    counts: "512 B written to a pipe and read again by the same process",
    run,
    ..Test::LONG
};

const MESSAGE: usize = 512;

unsafe fn run(job: &Job) -> Outcome {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(Cause::now(step::PIPE));
    }
    let [from, to] = ends;
    let mut message = [0u8; MESSAGE];
    timer::start(job)?;
    loop {
        // SAFETY: a buffer of this length.
        if unsafe { libc::write(to, message.as_ptr().cast(), MESSAGE) } != MESSAGE as isize {
            return Err(Cause::now(step::WRITE));
        }
        // SAFETY: likewise.
        if unsafe { libc::read(from, message.as_mut_ptr().cast(), MESSAGE) } != MESSAGE as isize {
            return Err(Cause::now(step::READ));
        }
        timer::count();
    }
}
