//! When requests are to be sent. Pure: moments in, moments out, in nanoseconds of CLOCK_MONOTONIC.
//!
//! - [`Closed`]: each connection sends again as soon as it was answered. Its latencies are those that the load makes
//!   (connections divided by rate).
//! - [`Constant`] and [`Poisson`]: at a rate, whether answers come or not, so that a server that stalls is seen to
//!   (Schroeder, Wierman and Harchol-Balter, "Open Versus Closed", NSDI 2006).

mod closed;
mod constant;
mod poisson;

pub use closed::Closed;
pub use constant::Constant;
pub use poisson::Poisson;

/// Whether a request is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// One is, since this moment: its intended start.
    Now(u64),
    /// The next one will be at this moment.
    At(u64),
}

/// A schedule of requests.
pub trait Pace {
    /// Whether requests are due at moments of their own, and not when a connection is free.
    const IS_OPEN: bool;

    /// The schedule begins at this moment.
    fn begin(&mut self, start: u64);

    /// Whether a request is due. Ask again, and it still is: [`take`](Pace::take) takes it.
    fn due(&self, now: u64) -> Due;

    /// The request that was due is sent; the next one is waited for.
    fn take(&mut self);
}
