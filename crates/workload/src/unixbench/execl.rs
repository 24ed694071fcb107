//! Execl Throughput: a process that executes itself again and again.
//!
//! The arguments carry everything to the next image, as many as UnixBench gives and of the same kind:
//! descriptor and slot, the count, and the end. Only the last image maps the shared memory; its descriptor
//! stays open. The end is a time of CLOCK_MONOTONIC in nanoseconds, because passes may last less than a
//! second; UnixBench uses time(2), in whole seconds. UnixBench's program has 8 KiB of uninitialised data;
//! here [`file_copy`](super::file_copy) has them.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::shared::{Cause, Shared, Slot, step};
use crate::sys::{self, Text};
use crate::unixbench::{Class, Needs, Test};
use crate::{Outcome, exit, timer};

pub const TEST: Test = Test {
    name: "execl",
    title: "Execl Throughput",
    baseline: 43.0,
    class: Class::Process,
    counts: "a process replaced by the same program",
    needs: Needs::Program,
    run,
    ..Test::LPS
};

/// First argument of every image but the first.
pub const NEXT_IMAGE: &CStr = c"0";
/// Low bits of a packed descriptor and slot that hold the slot.
const SLOT_BITS: u32 = 17;

type Argument = Text<24>;

unsafe fn run(job: &Job) -> Outcome {
    let missing = Cause::wrong(step::ARGUMENTS, 0);
    let path = job.argument(0).ok_or(missing)?;
    let (descriptor, slot) = job.descriptor_and_slot().ok_or(missing)?;
    let packed = (descriptor << SLOT_BITS) | slot;
    timer::wait_for_start(job);
    let started = sys::now();
    job.slot.started.store(started, Ordering::Relaxed);
    let end = started.wrapping_add(job.milliseconds.wrapping_mul(1_000_000));
    Err(execute(path.as_ptr(), packed, 0, end))
}

/// Executes the program at `path`. Returns only if that failed.
fn execute(path: *const c_char, packed: u64, count: u64, end: u64) -> Cause {
    let text = |number| Argument::new().and_number(number);
    let (Some(packed), Some(count), Some(end)) = (text(packed), text(count), text(end)) else {
        return Cause::wrong(step::ARGUMENTS, 0);
    };
    // SAFETY: strings that live, and a null at the end.
    unsafe {
        libc::execl(
            path,
            path,
            NEXT_IMAGE.as_ptr(),
            packed.as_ptr(),
            count.as_ptr(),
            end.as_ptr(),
            core::ptr::null::<c_char>(),
        )
    };
    Cause::now(step::EXEC)
}

/// The body of every image but the first.
///
/// # Safety
/// `argv` begins with the path of this program.
pub unsafe fn next_image(
    argv: *const *const c_char,
    packed: Option<&CStr>,
    count: Option<&CStr>,
    end: Option<&CStr>,
) -> c_int {
    let number = |text: Option<&CStr>| text.and_then(sys::number);
    let (Some(packed), Some(count), Some(end)) = (number(packed), number(count), number(end)) else {
        return exit::USAGE;
    };
    let count = count.wrapping_add(1);
    let cause = if sys::now() < end {
        // SAFETY: the caller's.
        Some(execute(unsafe { *argv }, packed, count, end))
    } else {
        None
    };
    let Some(slot) = slot(packed) else { return exit::USAGE };
    match cause {
        Some(cause) => {
            slot.fail(cause);
            exit::FAILED
        }
        None => {
            timer::COUNT.store(count, Ordering::Relaxed);
            timer::done(slot);
            exit::DONE
        }
    }
}

fn slot(packed: u64) -> Option<&'static Slot> {
    let shared = Shared::map((packed >> SLOT_BITS) as c_int)?;
    shared.slot((packed & ((1 << SLOT_BITS) - 1)) as usize)
}
