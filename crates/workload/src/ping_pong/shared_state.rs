//! Memory that the two tasks share in addition to their link.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::cache_padded::CachePadded;
use crate::shared::{Cause, step};
use crate::sys;

#[derive(Debug)]
#[repr(C)]
pub struct SharedState {
    /// [`PINNING`], then [`PINNED`] or [`PIN_FAILED`]: the affinity of the echo task.
    pub echo_pinned: CachePadded<AtomicU32>,
    /// The number on its way to the echo task, for futexes.
    pub out: CachePadded<AtomicU32>,
    pub back: CachePadded<AtomicU32>,
    /// When the ping task sent its last timed wake-up, in ns of CLOCK_MONOTONIC.
    pub woken_at: CachePadded<AtomicU64>,
    pub echo_cpu: CachePadded<AtomicU32>,
}

pub const PINNING: u32 = 0;
pub const PINNED: u32 = 1;
/// The echo task could not set its affinity; the slot has the cause.
pub const PIN_FAILED: u32 = 2;

impl SharedState {
    /// Maps a zeroed one for the rest of the process.
    pub fn map() -> Result<&'static SharedState, Cause> {
        let base = sys::share(size_of::<SharedState>()).ok_or_else(|| Cause::now(step::SHARE))?;
        // SAFETY: page-aligned, of this size, zeroed, never unmapped; all fields are atomic.
        Ok(unsafe { &*base.cast::<SharedState>() })
    }
}
