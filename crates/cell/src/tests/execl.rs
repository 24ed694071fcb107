//! Execl Throughput: a process that executes itself, again and again.
//!
//! All that the next image must know goes through its arguments, as many as UnixBench gives and of the same kind: where the
//! result belongs, the count and the end. So the shared memory is not mapped before the end; its descriptor stays open. The
//! end is a time of CLOCK_MONOTONIC in nanoseconds: UnixBench looks at time(2), in whole seconds, which a pass of a part of
//! a second could not do. Its 8 KiB of data without initial value are those of [`file_copy`](crate::file_copy) here.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, Shared, Slot, step};
use crate::sys::{self, Text};
use crate::test::{Class, Job, Needs, Test};
use crate::{Outcome, exit, timer};

/// The test.
pub const TEST: Test = Test {
    name: "execl",
    title: "Execl Throughput",
    unit: "lps",
    baseline: 43.0,
    timebase: 1.0,
    scale: 1.0,
    seconds: 30.0,
    is_long: false,
    class: Class::Process,
    counts: "a process replaced by the same program",
    groups: &["system", "oldsystem"],
    needs: Needs::Cell,
    run,
};

/// First argument of an image that was executed by the one before.
pub const AGAIN: &CStr = c"0";
/// Bits of the slot's number beside the descriptor's.
const SLOT_BITS: u32 = 17;

/// A number as an argument.
type Argument = Text<24>;

unsafe fn run(job: &Job) -> Outcome {
    let missing = Cause::wrong(step::ARGUMENTS, 0);
    let path = job.argument(0).ok_or(missing)?;
    let place = job.place().ok_or(missing)?;
    let place = (place.0 << SLOT_BITS) | place.1;
    timer::ready(job);
    let started = sys::now();
    job.slot.started.store(started, Ordering::Relaxed);
    let end = started.wrapping_add(job.milliseconds.wrapping_mul(1_000_000));
    Err(execute(path.as_ptr(), place, 0, end))
}

/// Executes the program at `path`. Comes back only if that failed.
fn execute(path: *const c_char, place: u64, count: u64, end: u64) -> Cause {
    let text = |number| Argument::new().and_number(number);
    let (Some(place), Some(count), Some(end)) = (text(place), text(count), text(end)) else {
        return Cause::wrong(step::ARGUMENTS, 0);
    };
    // SAFETY: strings that live, and a null at the end.
    unsafe {
        libc::execl(
            path,
            path,
            AGAIN.as_ptr(),
            place.as_ptr(),
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
pub unsafe fn again(
    argv: *const *const c_char,
    place: Option<&CStr>,
    count: Option<&CStr>,
    end: Option<&CStr>,
) -> c_int {
    let number = |text: Option<&CStr>| text.and_then(sys::number);
    let (Some(place), Some(count), Some(end)) = (number(place), number(count), number(end)) else {
        return exit::USAGE;
    };
    let count = count.wrapping_add(1);
    let cause = if sys::now() < end {
        // SAFETY: the caller's.
        Some(execute(unsafe { *argv }, place, count, end))
    } else {
        None
    };
    let Some(slot) = slot(place) else { return exit::USAGE };
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

fn slot(place: u64) -> Option<&'static Slot> {
    let shared = Shared::map((place >> SLOT_BITS) as c_int)?;
    shared.slot((place & ((1 << SLOT_BITS) - 1)) as usize)
}
