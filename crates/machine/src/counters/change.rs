//! The change of a counter between two readings.

use std::fmt::Display;
use std::ops::Sub;

use figure::Reading;

/// Compares two readings, or returns the reason why one is unknown.
pub fn both<T, U>(
    before: &Reading<T>,
    after: &Reading<T>,
    compare: impl FnOnce(&T, &T) -> Reading<U>,
) -> Reading<U> {
    match (before, after) {
        (Reading::Value(before), Reading::Value(after)) => compare(before, after),
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::unknown(reason),
    }
}

/// The growth of a monotonic counter. Unknown if it fell, because then it was reset: a driver was reloaded, a
/// counter cleared, a CPU switched off, or a guest moved to another host.
pub fn grown<T>(what: &str, before: T, after: T) -> Reading<T>
where
    T: Copy + Display + PartialOrd + Sub<Output = T>,
{
    if after < before {
        return Reading::Unknown(format!("{what} went backwards: {before}, then {after}"));
    }
    Reading::Value(after - before)
}
