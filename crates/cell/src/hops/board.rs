//! What the two tasks of a hop share besides their link.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::shared::{Cause, step};
use crate::sys;

/// Something on cache lines of its own, and on those that a prefetcher would bring with it.
#[derive(Debug)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// The board: shared memory of these two tasks alone.
#[derive(Debug)]
#[repr(C)]
pub struct Board {
    /// [`WAITING`] until the other task is where it belongs; then [`THERE`], or [`LOST`].
    pub placed: Apart<AtomicU32>,
    /// The number on its way out, for futexes.
    pub out: Apart<AtomicU32>,
    /// The number on its way back.
    pub back: Apart<AtomicU32>,
    /// When the waker woke, in ns of CLOCK_MONOTONIC.
    pub woken_at: Apart<AtomicU64>,
    /// The CPU on which the other task last looked.
    pub echo_cpu: Apart<AtomicU32>,
}

/// See [`Board::placed`].
pub const WAITING: u32 = 0;
/// The other task is where it belongs.
pub const THERE: u32 = 1;
/// It could not be put there; the slot has the cause.
pub const LOST: u32 = 2;

impl Board {
    /// A new one, all zero, for the rest of the process.
    ///
    /// # Errors
    /// What the system answered.
    pub fn map() -> Result<&'static Board, Cause> {
        let base = sys::share(size_of::<Board>()).ok_or_else(|| Cause::now(step::SHARE))?;
        // SAFETY: page-aligned, as large, zeroed, never unmapped; all fields are atomic.
        Ok(unsafe { &*base.cast::<Board>() })
    }
}
