//! Seconds after which a worker counts as hung. The rates are far below any that was measured: a deadline
//! ends what hangs, and never what is only slow.

/// Bytes a second of first touch at least: a hypervisor that backs pages on first touch reached 0.6 GB/s.
pub const SLOWEST_TOUCH: f64 = 0.1e9;
/// Bandwidth below which a round counts as hung, in bytes a second.
pub const SLOWEST_PASS: f64 = 0.05e9;
/// Seconds that every deadline adds: a machine may be suspended or swamped.
pub const GRACE: f64 = 60.0;

pub fn touch(bytes: f64) -> f64 {
    GRACE + bytes / SLOWEST_TOUCH
}

pub fn pass(bytes: f64) -> f64 {
    GRACE + bytes / SLOWEST_PASS
}
