//! What became of the requests: counts by outcome, latencies, the client's own lateness, fairness. Nothing is judged here.
//!
//! - [`counts`] are the outcomes by kind.
//! - [`histogram`] keeps durations, without loss of a count, and is merged by adding.
//! - [`interval`] is what each second of the window brought.
//! - [`fairness`] tells whether all connections were served.
//! - [`book`] puts them together, for each thread, and merges those of threads and processes.

pub mod book;
pub mod counts;
pub mod fairness;
pub mod histogram;
pub mod interval;

use crate::engine::parse::Malformed;
pub use book::Book;
pub use counts::{Counts, Failure};
pub use fairness::Fairness;
pub use histogram::Histogram;

/// What the loop tells of each request. All moments are nanoseconds of CLOCK_MONOTONIC.
pub trait Record {
    /// From here on everything is of the window: what was told before was warm-up. Seconds are counted from here.
    fn begin(&mut self, window: u64);
    /// Nothing that ends at this moment or later is work of the window; its latency counts if it was begun before.
    fn end(&mut self, window: u64);
    /// An answer as it was expected.
    fn answer(&mut self, request: &Begun, now: u64);
    /// A request that got no such answer.
    fn failure(&mut self, kind: Failure, request: &Begun, now: u64);
    /// What was wrong with the bytes of a failure of kind [`Failure::Malformed`].
    fn malformed(&mut self, kind: Malformed);
    /// A request was sent that was to be sent at another moment: `busy` nanoseconds no connection was free, `late`
    /// nanoseconds one was.
    fn lag(&mut self, busy: u64, late: u64);
    /// From the return of the wait to the reading of one of its events, in nanoseconds.
    fn residence(&mut self, nanoseconds: u64);
    /// A connection was made, in so many nanoseconds.
    fn connect(&mut self, nanoseconds: u64);
    /// A connection could not be made.
    fn no_connect(&mut self, kind: Failure);
    /// The server ended a connection, as it said with an answer (`announced`), or while no request was on it.
    fn server_closed(&mut self, announced: bool);
    /// Bytes came behind a response that no request asked for.
    fn surplus(&mut self);
    /// A wait returned so many events, of at most so many.
    fn batch(&mut self, events: usize, most: usize);
    /// Something had not ended at the end: in flight, or not even sent. Its age then.
    fn censored(&mut self, was_sent: bool, age: u64);
}

/// When a request was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// When it was to be sent; in a closed loop, when it was.
    pub intended: u64,
    /// When it was sent (with a connection for each request: when that was begun).
    pub sent: u64,
}
