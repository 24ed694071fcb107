//! Closed loop: a request is due whenever a connection is free.

use super::{Due, Pace};

#[derive(Clone, Copy, Debug)]
pub struct Closed;

impl Pace for Closed {
    const IS_OPEN: bool = false;

    fn begin(&mut self, _start: u64) {}

    #[inline]
    fn due(&self, now: u64) -> Due {
        Due::Now(now)
    }

    #[inline]
    fn take(&mut self) {}
}
