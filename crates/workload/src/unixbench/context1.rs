//! Pipe-based Context Switching: a number goes from a process to another and back, over two pipes.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::unixbench::{Class, Test};
use crate::{Outcome, sys, timer};

pub const TEST: Test = Test {
    name: "context1",
    title: "Pipe-based Context Switching",
    baseline: 4000.0,
    class: Class::Switching,
    counts: "a round trip of 8 B to another process and back: four system calls, two switches as a rule",
    run,
    ..Test::LONG
};

const BYTES: usize = size_of::<u64>();

unsafe fn run(job: &Job) -> Outcome {
    let (mut there, mut back): ([c_int; 2], [c_int; 2]) = ([-1; 2], [-1; 2]);
    // SAFETY: room for two descriptors each.
    if unsafe { libc::pipe(there.as_mut_ptr()) != 0 || libc::pipe(back.as_mut_ptr()) != 0 } {
        return Err(Cause::now(step::PIPE));
    }
    let ([there_from, there_to], [back_from, back_to]) = (there, back);
    // SAFETY: one thread.
    match unsafe { libc::fork() } {
        -1 => Err(Cause::now(step::FORK)),
        0 => {
            // SAFETY: this process's copies of the parent's ends.
            unsafe { (libc::close(there_to), libc::close(back_from)) };
            let result = echo(there_from, back_to);
            if let Err(cause) = result {
                job.slot.fail(cause);
            }
            // SAFETY: ends the child.
            unsafe { libc::_exit(c_int::from(result.is_err())) }
        }
        _ => {
            // SAFETY: as above.
            unsafe { (libc::close(there_from), libc::close(back_to)) };
            ECHO_PIPE.store(there_to, Ordering::Relaxed);
            timer::check(end_child);
            timer::start(job)?;
            ping(there_to, back_from)
        }
    }
}

/// The end of the pipe that the other process reads from.
static ECHO_PIPE: AtomicI32 = AtomicI32::new(-1);

/// Ends the other process and waits for it, so that its CPU time is counted. It writes its own failure to the
/// slot.
fn end_child(_: u64) -> Outcome {
    // SAFETY: a descriptor that is not used any more, and a wait for the only child.
    unsafe {
        libc::close(ECHO_PIPE.load(Ordering::Relaxed));
        while libc::waitpid(-1, core::ptr::null_mut(), 0) < 0 && sys::errno() == libc::EINTR {}
    }
    Ok(())
}

/// Sends one number after another and verifies that each comes back.
fn ping(to: c_int, from: c_int) -> Outcome {
    loop {
        let number = timer::COUNT.load(Ordering::Relaxed);
        send(to, number)?;
        match receive(from)? {
            Some(received) if received == number => timer::count(),
            Some(received) => return Err(Cause::wrong(step::SEQUENCE, received)),
            None => return Err(Cause::wrong(step::READ, 0)),
        }
    }
}

/// Verifies and sends back each number until the other end is closed.
fn echo(from: c_int, to: c_int) -> Outcome {
    let mut expected: u64 = 0;
    while let Some(received) = receive(from)? {
        if received != expected {
            return Err(Cause::wrong(step::SEQUENCE, received));
        }
        expected = expected.wrapping_add(1);
        if let Err(cause) = send(to, received) {
            // The other process has exited in the middle of a round trip.
            return if cause.errno == libc::EPIPE { Ok(()) } else { Err(cause) };
        }
    }
    Ok(())
}

#[inline(always)]
fn send(to: c_int, number: u64) -> Outcome {
    // SAFETY: eight bytes.
    let written = unsafe { libc::write(to, (&raw const number).cast(), BYTES) };
    if written == BYTES as isize { Ok(()) } else { Err(Cause::now(step::WRITE)) }
}

/// The next number; `None` once the other end is closed.
#[inline(always)]
fn receive(from: c_int) -> Result<Option<u64>, Cause> {
    let mut number: u64 = 0;
    // SAFETY: eight bytes.
    match unsafe { libc::read(from, (&raw mut number).cast(), BYTES) } {
        0 => Ok(None),
        read if read == BYTES as isize => Ok(Some(number)),
        _ => Err(Cause::now(step::READ)),
    }
}
