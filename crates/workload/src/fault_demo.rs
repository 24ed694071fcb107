//! Programs that fault, each in one way: demonstrations and tests of `truebench faults`.
//!
//! `truebench-workload demo SHAPE [ITERATIONS | RATE SECONDS]` is a plain program. It shares no memory with
//! truebench, prints one line at its end, and can be watched like any other. With ITERATIONS it does fixed
//! work as fast as it can; with RATE and SECONDS it starts RATE iterations per second for SECONDS.
//!
//! The C library or a preloaded allocator serves its malloc(3), so a shape faults differently under each.
//! [`SHAPES`] describes the GNU C library with its default settings.

pub mod blocks;
mod failure;
mod file;
mod kernel;
mod numa;
mod pace;
pub mod pages;
mod processes;
pub mod shapes;
mod thread;
pub mod trim;
mod userfault;

use core::ffi::{CStr, c_char, c_int, c_long, c_void};

use crate::{exit, opaque, sys};
pub use failure::Failure;
pub use pace::Pace;
pub use shapes::{SHAPE_INFO, SHAPES, Shape, ShapeInfo, Work};
use thread::in_thread;

pub const NAME: &str = "demo";
const USAGE: &CStr =
    c"truebench-workload: demo SHAPE [ITERATIONS | RATE SECONDS]; truebench faults demo lists the shapes\n";
/// Iterations per second.
const MOST_RATE: u64 = 1_000_000;
const MOST_SECONDS: u64 = 86_400;

/// Runs the shape that the arguments name. Returns the exit code.
///
/// # Safety
/// Called once in a process of one thread.
pub unsafe fn main(argument: impl Fn(usize) -> Option<&'static CStr>) -> c_int {
    let find = |name: &CStr| SHAPES.iter().find(|shape| shape.name.as_bytes() == name.to_bytes());
    let usage = || {
        sys::print_error(USAGE);
        exit::USAGE
    };
    let Some(shape) = argument(0).and_then(find) else { return usage() };
    let numbers = (argument(1).map(sys::number), argument(2).map(sys::number), argument(3));
    let pace = match numbers {
        (None, None, None) => shape.pace,
        (Some(Some(iterations)), None, None) => Pace::work(iterations),
        (Some(Some(rate @ 1..=MOST_RATE)), Some(Some(seconds @ 1..=MOST_SECONDS)), None) => {
            Pace::rate(rate, seconds)
        }
        _ => return usage(),
    };
    let before = sys::usage(libc::RUSAGE_SELF);
    // SAFETY: the caller's.
    match unsafe { run(shape, pace) } {
        Ok(()) => {
            report(shape, pace, &before);
            exit::DONE
        }
        Err(failure) => {
            sys::print_error(failure);
            exit::FAILED
        }
    }
}

/// Runs the iterations, in a thread if the shape wants one.
///
/// # Safety
/// Called once in a process of one thread.
unsafe fn run(shape: &'static Shape, pace: Pace) -> Result<(), Failure> {
    let mut arguments = ThreadArguments { shape, pace, outcome: Ok(()) };
    if !matches!(shape.work, Work::Blocks(blocks) if blocks.thread) {
        return shape.work.run(pace);
    }
    // SAFETY: the arguments outlive the call.
    unsafe { in_thread(body, (&raw mut arguments).cast()) }?;
    opaque::memory();
    arguments.outcome
}

struct ThreadArguments {
    shape: &'static Shape,
    pace: Pace,
    outcome: Result<(), Failure>,
}

extern "C" fn body(arguments: *mut c_void) -> *mut c_void {
    // SAFETY: as `run` passes them.
    let arguments = unsafe { &mut *arguments.cast::<ThreadArguments>() };
    arguments.outcome = arguments.shape.work.run(arguments.pace);
    core::ptr::null_mut()
}

/// Prints the iterations, the faults of this process, and the CPU time of it and its children.
fn report(shape: &Shape, pace: Pace, before: &libc::rusage) {
    let after = sys::usage(libc::RUSAGE_SELF);
    let children = sys::usage(libc::RUSAGE_CHILDREN);
    let faults =
        |count: fn(&libc::rusage) -> c_long| (count(&after) as u64).wrapping_sub(count(before) as u64);
    let milliseconds = |time: libc::timeval| sys::microseconds(time) / 1000;
    let cpu = |time: fn(&libc::rusage) -> libc::timeval| {
        let total = milliseconds(time(&after)).wrapping_add(milliseconds(time(&children)));
        total.wrapping_sub(milliseconds(time(before)))
    };
    let line = || {
        sys::Text::<256>::new()
            .and(shape.name.as_bytes())?
            .and(b": ")?
            .and_number(pace.iterations)?
            .and(b" iterations, ")?
            .and_quotient(faults(|usage| usage.ru_minflt), pace.iterations)?
            .and(b" minor and ")?
            .and_quotient(faults(|usage| usage.ru_majflt), pace.iterations)?
            .and(b" major faults each; CPU ")?
            .and_number(cpu(|usage| usage.ru_utime))?
            .and(b" ms user, ")?
            .and_number(cpu(|usage| usage.ru_stime))?
            .and(b" ms system\n")
    };
    if let Some(line) = line() {
        let text: *const c_char = line.as_ptr();
        // SAFETY: a string that ends with zero.
        unsafe { libc::write(1, text.cast(), libc::strlen(text)) };
    }
}

impl<const N: usize> sys::Text<N> {
    /// Appends a quotient with two decimals.
    fn and_quotient(self, dividend: u64, divisor: u64) -> Option<Self> {
        let hundredths = dividend.checked_mul(100)?.checked_div(divisor.max(1))?;
        let decimals = hundredths % 100;
        let zero: &[u8] = if decimals < 10 { b"0" } else { b"" };
        self.and_number(hundredths / 100)?.and(b".")?.and(zero)?.and_number(decimals)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn quotients_have_two_decimals() {
        let text = |dividend, divisor| {
            let text = sys::Text::<32>::new().and_quotient(dividend, divisor).unwrap();
            // SAFETY: ends with zero.
            unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap().to_owned()
        };
        assert_eq!(text(198_420, 200), "992.10");
        assert_eq!(text(5, 100), "0.05");
        assert_eq!(text(0, 0), "0.00");
        assert_eq!(text(512, 1), "512.00");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let with = |words: &'static [&'static CStr]| {
            // SAFETY: nothing is run.
            unsafe { main(|index| words.get(index).copied()) }
        };
        for wrong in [
            &[][..],
            &[c"no-such-shape"],
            &[c"two-blocks", c"x"],
            &[c"two-blocks", c"0", c"1"],
            &[c"two-blocks", c"10", c"0"],
            &[c"two-blocks", c"1", c"1", c"1"],
        ] {
            assert_eq!(with(wrong), exit::USAGE, "{wrong:?}");
        }
    }
}
