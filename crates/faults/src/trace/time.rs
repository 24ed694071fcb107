//! The clock that the kernel writes into records.

use rustix::time::{ClockId, clock_gettime};

/// The end of a trace that was not asked to end.
pub const NEVER: u64 = u64::MAX;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

pub fn nanoseconds(time: rustix::time::Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
