//! When requests are due. Pure: moments in and out, in nanoseconds of CLOCK_MONOTONIC.
//!
//! - [`Closed`]: a connection sends again as soon as it is answered. Its latency follows from the load:
//!   connections divided by rate.
//! - [`Constant`] and [`Poisson`]: requests are due at a rate, answered or not, so that a stalled server
//!   shows (Schroeder, Wierman and Harchol-Balter, "Open Versus Closed", NSDI 2006).

mod closed;
mod constant;
mod poisson;

pub use closed::Closed;
pub use constant::Constant;
pub use poisson::Poisson;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Due since this moment, its intended start.
    Now(u64),
    At(u64),
}

pub trait Pace {
    /// Whether requests are due by schedule, and not whenever a connection is free.
    const IS_OPEN: bool;

    fn begin(&mut self, start: u64);

    /// Whether a request is due. The answer stays the same until [`take`](Pace::take).
    fn due(&self, now: u64) -> Due;

    fn take(&mut self);
}
