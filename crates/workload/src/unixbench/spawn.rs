//! Process Creation: a child that ends at once, again and again.

use core::ffi::c_int;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::unixbench::{Class, Test};
use crate::{Outcome, timer};

pub const TEST: Test = Test {
    name: "spawn",
    title: "Process Creation",
    baseline: 126.0,
    class: Class::Process,
    counts: "a child forked, ended by exit(0) and waited for",
    run,
    ..Test::LPS
};

unsafe fn run(job: &Job) -> Outcome {
    timer::start(job)?;
    loop {
        // SAFETY: one thread. A timer is not inherited.
        match unsafe { libc::fork() } {
            -1 => return Err(Cause::now(step::FORK)),
            // exit(3), not _exit(2): the exit handlers and the page copies that they cause are part of the
            // test.
            // SAFETY: ends the child.
            0 => unsafe { libc::exit(0) },
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
        timer::count();
    }
}
