//! The load of alloc-test: slots, of which each step picks one. A full one is read and freed, an empty one gets a block of
//! some size, which is filled.
//!
//! The cell allocates nothing but by the load, so that what an allocator does is the load's, and its memory too. Which
//! allocator that is was decided by whoever started the process (LD_PRELOAD); where its functions lie is told, so that it can
//! be proved.
//!
//! - [`order`] is what the load is told, and where its results are.
//! - [`random`], [`choice`] and [`sizes`] are the numbers, the slots and the sizes: those of alloc-test, bit for bit.
//! - [`draw`] puts them together: what the next step is.
//! - [`heap`] gives the blocks, [`touch`] is what is done with one.
//! - [`thread`] is what each thread does, [`meter`] what it uses up, [`remote`] how it leaves blocks to another.

pub mod choice;
pub mod draw;
mod heap;
mod meter;
pub mod order;
pub mod random;
mod remote;
pub mod sizes;
mod thread;
pub mod touch;

use core::ffi::c_void;
use core::sync::atomic::Ordering;

use crate::shared::{Cause, step};
use crate::sys;
use crate::test::Job;
use crate::{Outcome, timer};
use order::{FUNCTIONS, Order, note};
use remote::Mailbox;
use thread::Thread;

/// The cell's word for it.
pub const NAME: &str = "load";
/// Threads of a cell at most.
const MOST_THREADS: u32 = 4096;

/// Starts the threads and waits for them.
///
/// # Errors
/// What failed first.
///
/// # Safety
/// Called once in a process of one thread.
pub unsafe fn run(job: &Job) -> Outcome {
    // SAFETY: written before this process was started.
    let order = unsafe { &*Order::of(&job.shared) };
    let (_, first) = job.place().ok_or(Cause::wrong(step::ARGUMENTS, 0))?;
    if order.threads == 0 || order.threads > MOST_THREADS || order.access().is_none() {
        return Err(Cause::wrong(step::ARGUMENTS, u64::from(order.threads)));
    }
    functions(job);
    let count = order.threads as usize;
    // The library's own memory for a thread is not the load's, and nor is this.
    let threads = array::<Thread>(count)?;
    let mailboxes = array::<Mailbox>(count)?;
    for (index, thread) in threads.iter_mut().enumerate() {
        let slot = job.shared.slot((first as usize).wrapping_add(index));
        let slot = slot.ok_or(Cause::wrong(step::ARGUMENTS, index as u64))?;
        thread.write(Thread {
            order,
            shared: job.shared,
            slot,
            number: first.wrapping_add(index as u64),
            // SAFETY: each is initialised by being zero.
            own: unsafe { mailboxes.get(index).ok_or(Cause::wrong(step::ARGUMENTS, 0))?.assume_init_ref() },
            // SAFETY: likewise.
            next: unsafe {
                let next = mailboxes.get(index.wrapping_add(1) % count);
                next.ok_or(Cause::wrong(step::ARGUMENTS, 0))?.assume_init_ref()
            },
            phase: 0,
        });
    }
    let started = array::<libc::pthread_t>(count)?;
    for (thread, handle) in threads.iter_mut().zip(started.iter_mut()) {
        // Even a single one: what upstream measures is never the main thread, which has an arena of its own in glibc.
        // SAFETY: a body that takes a `Thread`, which outlives it; default attributes.
        let failed = unsafe {
            libc::pthread_create(
                handle.as_mut_ptr(),
                core::ptr::null(),
                body,
                thread.as_mut_ptr().cast::<c_void>(),
            )
        };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 0 });
        }
    }
    for handle in started.iter() {
        // SAFETY: a thread that was created joinable.
        let failed = unsafe { libc::pthread_join(handle.assume_init(), core::ptr::null_mut()) };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 1 });
        }
    }
    // What remains when all has been given back: truebench looks once more.
    timer::is_ready(job);
    sys::wait_for_count(&job.shared.head().go, order::PHASES.len() as u32 + 1);
    Ok(())
}

extern "C" fn body(thread: *mut c_void) -> *mut c_void {
    // SAFETY: as `run` started it.
    let thread = unsafe { &mut *thread.cast::<Thread>() };
    if let Err(cause) = thread.run() {
        thread.slot.fail(cause);
        // Others wait for this one.
        // SAFETY: ends the process.
        unsafe { libc::_exit(crate::exit::FAILED) };
    }
    core::ptr::null_mut()
}

/// Tells where the allocator's functions are.
fn functions(job: &Job) {
    for (index, name) in FUNCTIONS.iter().enumerate() {
        // SAFETY: a name that lives.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as u64;
        if let Some(note) = job.slot.note(note::FUNCTIONS.wrapping_add(index)) {
            note.store(address, Ordering::Relaxed);
        }
    }
}

/// Fresh memory for so many, zero.
fn array<T>(count: usize) -> Result<&'static mut [core::mem::MaybeUninit<T>], Cause> {
    let base = sys::fresh(count.wrapping_mul(size_of::<T>())).ok_or_else(|| Cause::now(step::MEMORY))?;
    // SAFETY: fresh, aligned to a page, large enough, and never unmapped.
    Ok(unsafe { core::slice::from_raw_parts_mut(base.cast(), count) })
}

#[cfg(test)]
mod unit;
