//! Blocks of malloc(3): allocated, touched, and freed or leaked.

use core::ffi::{c_int, c_void};

use super::failure::Failure;
use super::pace::Pace;
use crate::libc_parts;
use crate::opaque;
use crate::sys::{self, touch};

/// An iteration: allocates and touches the blocks, then frees them in reverse order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub size: usize,
    /// Blocks that live at the same time, at most [`MOST_LIVE`].
    pub live: usize,
    pub touch: Touch,
    pub zeroed: bool,
    /// Whether a thread allocates, which has its own arena in the GNU C library.
    pub thread: bool,
    /// Whether the program calls mallopt(M_TOP_PAD, 64 KiB) first, as tuned programs do. From then on the
    /// thresholds of the GNU C library no longer adapt.
    pub frozen: bool,
    /// Steps of a computation in each iteration.
    pub compute: u64,
    pub leaked: bool,
}

pub const MOST_LIVE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    All,
    OneOf(usize),
    /// This many, at equal distances.
    Few(usize),
}

impl Blocks {
    /// Blocks that the main thread touches on all pages, with no other option.
    pub const fn new(live: usize, size: usize) -> Blocks {
        let (zeroed, thread, frozen, leaked) = (false, false, false, false);
        Blocks { size, live, touch: Touch::All, zeroed, thread, frozen, compute: 0, leaked }
    }

    /// Runs the iterations.
    pub fn run(&self, pace: Pace) -> Result<(), Failure> {
        if self.frozen {
            freeze()?;
        }
        let step = match self.touch {
            Touch::All => 1,
            Touch::OneOf(step) => step,
            Touch::Few(count) => (self.size / sys::page()).checked_div(count).unwrap_or(1),
        };
        let bytes = match self.touch {
            Touch::Few(count) => step.max(1).wrapping_mul(sys::page()).wrapping_mul(count).min(self.size),
            _ => self.size,
        };
        pace.each(|| {
            let mut blocks = [core::ptr::null_mut::<u8>(); MOST_LIVE];
            for block in blocks.iter_mut().take(self.live) {
                // SAFETY: any size may be asked for.
                let allocated =
                    unsafe { if self.zeroed { libc::calloc(1, self.size) } else { libc::malloc(self.size) } };
                *block = opaque::address(allocated.cast());
                if block.is_null() {
                    return Err(c"truebench-workload: malloc gave no memory\n");
                }
                // SAFETY: a block of at least this size.
                unsafe { touch(*block, bytes, step) };
            }
            compute(self.compute);
            if !self.leaked {
                for block in blocks.iter().take(self.live).rev() {
                    // SAFETY: from malloc, and not used any more.
                    unsafe { libc::free(block.cast::<c_void>()) };
                }
            }
            Ok(())
        })
    }
}

fn freeze() -> Result<(), Failure> {
    /// As malloc.h of the GNU C library has it.
    const M_TOP_PAD: c_int = -2;
    // Resolved at run time: other C libraries lack it.
    let address = libc_parts::symbol(c"mallopt");
    if address.is_null() {
        return Err(c"truebench-workload: this C library has no mallopt: there is no threshold to freeze\n");
    }
    // SAFETY: mallopt(3) has this type.
    let mallopt =
        unsafe { core::mem::transmute::<*mut c_void, extern "C" fn(c_int, c_int) -> c_int>(address) };
    let is_set = mallopt(M_TOP_PAD, 64 << 10) == 1;
    if is_set { Ok(()) } else { Err(c"truebench-workload: mallopt(M_TOP_PAD) was refused\n") }
}

/// Computes steps of which each depends on the one before.
fn compute(steps: u64) {
    let mut state = steps;
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    core::hint::black_box(state);
}
