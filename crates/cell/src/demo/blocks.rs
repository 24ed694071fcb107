//! Blocks of malloc(3): taken, touched, and given back or kept.

use core::ffi::{CStr, c_int, c_void};

use super::pace::Pace;
use super::{Failure, touch};
use crate::{opaque, sys};

/// An iteration: so many blocks are taken, touched, and given back, the last first, as local variables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes of each.
    pub size: usize,
    /// How many there are at the same time, at most [`MOST`].
    pub live: usize,
    /// Which pages are written to.
    pub touch: Touch,
    /// Whether they are asked for zeroed: calloc(3).
    pub zeroed: bool,
    /// Whether a thread does it, which in the GNU C library has an arena of its own.
    pub thread: bool,
    /// Whether the program has called mallopt(M_TOP_PAD, 64 KiB) before, as programs do that once were tuned: from then on the
    /// thresholds of the GNU C library no longer move.
    pub frozen: bool,
    /// Turns of a loop that computes, besides.
    pub compute: u64,
    /// Whether blocks are kept for ever.
    pub kept: bool,
}

/// Blocks at the same time, at most.
pub const MOST: usize = 8;

/// Which pages of a block are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// All.
    All,
    /// One of so many.
    OneOf(usize),
    /// So many, equally far apart.
    Few(usize),
}

impl Blocks {
    /// Blocks of which all pages are touched, by the main thread, and nothing else.
    pub const fn of(live: usize, size: usize) -> Blocks {
        Blocks {
            size,
            live,
            touch: Touch::All,
            zeroed: false,
            thread: false,
            frozen: false,
            compute: 0,
            kept: false,
        }
    }

    /// Does the iterations.
    ///
    /// # Errors
    /// No mallopt, no memory.
    pub fn run(&self, pace: Pace) -> Result<(), Failure> {
        if self.frozen {
            freeze()?;
        }
        // Of a block of few pages, a page is a whole share of it.
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
            let mut blocks = [core::ptr::null_mut::<u8>(); MOST];
            for block in blocks.iter_mut().take(self.live) {
                // SAFETY: any size may be asked for.
                let given =
                    unsafe { if self.zeroed { libc::calloc(1, self.size) } else { libc::malloc(self.size) } };
                *block = opaque::address(given.cast());
                if block.is_null() {
                    return Err(c"truebench-cell: malloc gave no memory\n");
                }
                // SAFETY: a block of at least so many bytes.
                unsafe { touch(*block, bytes, step) };
            }
            compute(self.compute);
            if !self.kept {
                for block in blocks.iter().take(self.live).rev() {
                    // SAFETY: from malloc, and not used any more.
                    unsafe { libc::free(block.cast::<c_void>()) };
                }
            }
            Ok(())
        })
    }
}

/// mallopt(M_TOP_PAD, 64 KiB).
fn freeze() -> Result<(), Failure> {
    /// As malloc.h of the GNU C library has it.
    const M_TOP_PAD: c_int = -2;
    const NAME: &CStr = c"mallopt";
    // Looked up, as there are C libraries that have none.
    // SAFETY: a name that lives.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
    if found.is_null() {
        return Err(c"truebench-cell: this C library has no mallopt, so there is no threshold to freeze\n");
    }
    // SAFETY: mallopt(3), which is declared so wherever there is one.
    let mallopt = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn(c_int, c_int) -> c_int>(found) };
    if mallopt(M_TOP_PAD, 64 << 10) == 1 {
        Ok(())
    } else {
        Err(c"truebench-cell: mallopt(M_TOP_PAD) was refused\n")
    }
}

/// Computes for so many turns, each waiting for the one before.
fn compute(turns: u64) {
    let mut state = turns;
    for _ in 0..turns {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    core::hint::black_box(state);
}
