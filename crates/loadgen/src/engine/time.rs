//! The engine's clock: CLOCK_MONOTONIC, the same in all processes of a machine, read without a system call. In nanoseconds.

use rustix::time::{ClockId, clock_gettime};

#[inline]
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
