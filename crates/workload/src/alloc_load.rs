//! The load of alloc-test on malloc(3): each step picks a slot. A full slot is read and freed; an empty one
//! gets a block of some size, which is filled.
//!
//! The process allocates nothing else, so its allocator calls and its memory are those of the load.
//! LD_PRELOAD decides which allocator serves; the process writes the addresses of its functions as a proof.
//! Random numbers, slots and sizes are bit for bit those of alloc-test.

pub mod access;
pub mod choice;
pub mod draw;
mod heap;
mod mailbox;
mod meter;
pub mod parameters;
pub mod random;
pub mod sizes;
mod thread;
mod usable;

use core::ffi::c_void;
use core::mem::MaybeUninit;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::{Outcome, libc_parts, sys, timer};
pub use access::Access;
use mailbox::Mailbox;
use parameters::{FUNCTIONS, Parameters, fields};
use thread::Thread;

pub const NAME: &str = "load";
const MOST_THREADS: u32 = 4096;

/// Starts the threads and waits for them.
///
/// # Safety
/// Called once in a process of one thread.
pub unsafe fn run(job: &Job) -> Outcome {
    // SAFETY: written before this process was started.
    let parameters = unsafe { &*Parameters::in_memory(&job.shared) };
    let (_, first) = job.descriptor_and_slot().ok_or(Cause::wrong(step::ARGUMENTS, 0))?;
    if parameters.threads == 0 || parameters.threads > MOST_THREADS || parameters.access().is_none() {
        return Err(Cause::wrong(step::ARGUMENTS, u64::from(parameters.threads)));
    }
    write_function_addresses(job);
    let count = parameters.threads as usize;
    // Mapped, not allocated: memory of the harness must not be part of the load.
    // SAFETY: zeros are valid: threads that are not initialised, empty mailboxes, handles of no thread.
    let (threads, mailboxes, handles) = unsafe {
        (array::<MaybeUninit<Thread>>(count)?, array::<Mailbox>(count)?, array::<libc::pthread_t>(count)?)
    };
    let mailbox = |index| mailboxes.get(index).ok_or(Cause::wrong(step::ARGUMENTS, 0));
    for (index, thread) in threads.iter_mut().enumerate() {
        let slot = job.shared.slot((first as usize).wrapping_add(index));
        let slot = slot.ok_or(Cause::wrong(step::ARGUMENTS, index as u64))?;
        thread.write(Thread {
            parameters,
            shared: job.shared,
            slot,
            number: first.wrapping_add(index as u64),
            inbox: mailbox(index)?,
            outbox: mailbox(index.wrapping_add(1) % count)?,
            phase: 0,
        });
    }
    for (thread, handle) in threads.iter_mut().zip(handles.iter_mut()) {
        // A single thread too: upstream never measures the main thread, which has its own arena in glibc.
        // SAFETY: a body that takes a `Thread`, which outlives it; default attributes.
        let failed = unsafe { libc_parts::pthread_create(handle, body, thread.as_mut_ptr().cast()) };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 0 });
        }
    }
    for handle in handles.iter() {
        // SAFETY: a thread that was created joinable.
        let failed = unsafe { libc_parts::pthread_join(*handle) };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 1 });
        }
    }
    // Waits while truebench reads the memory that remains after the last free.
    timer::signal_ready(job);
    sys::wait_for_count(&job.shared.head().go, parameters::PHASES.len() as u32 + 1);
    Ok(())
}

extern "C" fn body(thread: *mut c_void) -> *mut c_void {
    // SAFETY: as `run` passes it.
    let thread = unsafe { &mut *thread.cast::<Thread>() };
    if let Err(cause) = thread.run() {
        thread.slot.fail(cause);
        // The other threads wait for this one.
        // SAFETY: ends the process.
        unsafe { libc::_exit(crate::exit::FAILED) };
    }
    core::ptr::null_mut()
}

fn write_function_addresses(job: &Job) {
    for (index, name) in FUNCTIONS.iter().enumerate() {
        job.slot.set(fields::FUNCTIONS.wrapping_add(index), libc_parts::symbol(name) as u64);
    }
}

/// Maps an array of zeros.
///
/// # Safety
/// Zeros are a valid element.
unsafe fn array<T>(count: usize) -> Result<&'static mut [T], Cause> {
    let base = sys::fresh(count.wrapping_mul(size_of::<T>())).ok_or_else(|| Cause::now(step::MEMORY))?;
    // SAFETY: the caller's; fresh, aligned to a page, large enough, and never unmapped.
    Ok(unsafe { core::slice::from_raw_parts_mut(base.cast(), count) })
}

#[cfg(test)]
mod tests;
