//! Programs that fault, each in one way: what `truebench faults` is shown and tested with.
//!
//! `truebench-cell demo SHAPE [ITERATIONS | RATE SECONDS]` is a plain program: it has no memory in common with truebench,
//! prints one line at its end, and can be watched like anybody's. ITERATIONS make it fixed work, done as fast as it goes;
//! with RATE and SECONDS it starts so many iterations a second, by the clock, for so long.
//!
//! What it asks of malloc(3) is served by whoever was loaded first: the C library, or what is preloaded. So the shapes
//! differ by what an allocator makes of them; [`SHAPES`] says what the GNU C library of today does unless it is told otherwise.
//!
//! - [`shapes`] is the list; [`blocks`] are the shapes of malloc, [`pages`] those that ask the kernel themselves, and
//!   [`file`](mod@file) those of a file; [`pace`] is when an iteration begins.

pub mod blocks;
mod file;
mod pace;
pub mod pages;
pub mod shapes;

use core::ffi::{CStr, c_char, c_int, c_long, c_void};

use crate::{exit, opaque, sys};
pub use pace::Pace;
pub use shapes::{SHAPES, Shape, TOLD, Told, Work};

/// The first argument.
pub const NAME: &str = "demo";
/// What is wrong with the arguments.
const USAGE: &CStr =
    c"truebench-cell: demo SHAPE [ITERATIONS | RATE SECONDS]; the shapes are told by truebench faults demo\n";
/// Iterations a second, at most.
const MOST_RATE: u64 = 1_000_000;
/// Seconds, at most: a day.
const MOST_SECONDS: u64 = 86_400;

/// Why a shape cannot be had here: a line for standard error.
pub type Failure = &'static CStr;

/// Runs what the arguments say, from the shape's name on; the exit code.
///
/// # Safety
/// Called once in a process of one thread.
pub unsafe fn main(argument: impl Fn(usize) -> Option<&'static CStr>) -> c_int {
    let named = |name: &CStr| SHAPES.iter().find(|shape| shape.name.as_bytes() == name.to_bytes());
    let wrong = || {
        sys::say(USAGE);
        exit::USAGE
    };
    let Some(shape) = argument(0).and_then(named) else { return wrong() };
    let numbers = (argument(1).map(sys::number), argument(2).map(sys::number), argument(3));
    let pace = match numbers {
        (None, None, None) => shape.pace,
        (Some(Some(iterations)), None, None) => Pace::work(iterations),
        (Some(Some(rate @ 1..=MOST_RATE)), Some(Some(seconds @ 1..=MOST_SECONDS)), None) => {
            Pace::rate(rate, seconds)
        }
        _ => return wrong(),
    };
    let before = sys::usage(libc::RUSAGE_SELF);
    // SAFETY: the caller's.
    match unsafe { run(shape, pace) } {
        Ok(()) => {
            report(shape, pace, &before);
            exit::DONE
        }
        Err(failure) => {
            sys::say(failure);
            exit::FAILED
        }
    }
}

/// Does the iterations, in a thread where the shape wants one.
///
/// # Safety
/// Called once in a process of one thread.
unsafe fn run(shape: &'static Shape, pace: Pace) -> Result<(), Failure> {
    let mut order = Order { shape, pace, outcome: Ok(()) };
    if !matches!(shape.work, Work::Blocks(blocks) if blocks.thread) {
        return shape.work.run(pace);
    }
    let mut thread = core::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: a body that takes an order, which outlives it as it is joined here; default attributes.
    let failed = unsafe {
        let order = (&raw mut order).cast::<c_void>();
        libc::pthread_create(thread.as_mut_ptr(), core::ptr::null(), body, order) != 0
            || libc::pthread_join(thread.assume_init(), core::ptr::null_mut()) != 0
    };
    opaque::memory();
    if failed { Err(c"truebench-cell: no thread could be started\n") } else { order.outcome }
}

struct Order {
    shape: &'static Shape,
    pace: Pace,
    outcome: Result<(), Failure>,
}

extern "C" fn body(order: *mut c_void) -> *mut c_void {
    // SAFETY: as `run` started it.
    let order = unsafe { &mut *order.cast::<Order>() };
    order.outcome = order.shape.work.run(order.pace);
    core::ptr::null_mut()
}

/// Says what was done and what it took: faults of this process, CPU time with that of its children.
fn report(shape: &Shape, pace: Pace, before: &libc::rusage) {
    let after = sys::usage(libc::RUSAGE_SELF);
    let children = sys::usage(libc::RUSAGE_CHILDREN);
    let since = |of: fn(&libc::rusage) -> c_long| (of(&after) as u64).wrapping_sub(of(before) as u64);
    let cpu = |of: fn(&libc::rusage) -> libc::timeval| {
        let all = milliseconds(of(&after)).wrapping_add(milliseconds(of(&children)));
        all.wrapping_sub(milliseconds(of(before)))
    };
    let line = || {
        sys::Text::<256>::new()
            .and(shape.name.as_bytes())?
            .and(b": ")?
            .and_number(pace.iterations)?
            .and(b" iterations, ")?
            .each(since(|usage| usage.ru_minflt), pace.iterations)?
            .and(b" minor and ")?
            .each(since(|usage| usage.ru_majflt), pace.iterations)?
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

fn milliseconds(time: libc::timeval) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1000).wrapping_add(time.tv_usec as u64 / 1000)
}

impl<const N: usize> sys::Text<N> {
    /// Adds a quotient with two decimals.
    fn each(self, count: u64, of: u64) -> Option<Self> {
        let hundredths = count.checked_mul(100)?.checked_div(of.max(1))?;
        let rest = hundredths % 100;
        let zero: &[u8] = if rest < 10 { b"0" } else { b"" };
        self.and_number(hundredths / 100)?.and(b".")?.and(zero)?.and_number(rest)
    }
}

/// Writes one byte to every `step`th page of a memory, or to all for 1; nobody can leave that out.
///
/// # Safety
/// `base` begins so many bytes that may be written.
unsafe fn touch(base: *mut u8, bytes: usize, step: usize) {
    let step = sys::page().wrapping_mul(step.max(1));
    let mut at = 0;
    while at < bytes {
        // SAFETY: within the memory.
        unsafe { base.wrapping_add(at).write_volatile(1) };
        at = at.wrapping_add(step);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn quotients_have_two_decimals() {
        let text = |count, of| {
            let text = sys::Text::<32>::new().each(count, of).unwrap();
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
