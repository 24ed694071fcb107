//! Outcomes of the requests: counts by kind, latencies, the client's lateness, fairness. Nothing is judged
//! here.

pub mod counts;
pub mod fairness;
pub mod histogram;
pub mod interval;
pub mod run_stats;

use crate::engine::message::Malformed;
pub use counts::{Counts, Failure};
pub use fairness::Fairness;
pub use histogram::Histogram;
pub use run_stats::RunStats;

/// What the load loop reports about each request. All moments are nanoseconds of CLOCK_MONOTONIC.
pub trait Record {
    /// Starts the window at this moment and discards what was recorded before: that was warm-up.
    fn begin(&mut self, window: u64);
    /// Sets the end of the window. Answers after it are not work of the window, but their latency counts
    /// if the request was due within it.
    fn end(&mut self, window: u64);
    fn answer(&mut self, request: &RequestTimes, now: u64);
    /// A request without such an answer.
    fn failure(&mut self, kind: Failure, request: &RequestTimes, now: u64);
    /// Why the bytes of a [`Failure::Malformed`] are no response.
    fn malformed(&mut self, kind: Malformed);
    /// A request of a schedule was sent late: for `busy` ns no connection was free, for `late` ns one was.
    fn lag(&mut self, busy: u64, late: u64);
    /// Time from the return of a wait to the handling of one of its events.
    fn residence(&mut self, nanoseconds: u64);
    fn connect(&mut self, nanoseconds: u64);
    fn no_connect(&mut self, kind: Failure);
    /// The server closed a connection: after announcing it with an answer, or while the connection was idle.
    fn server_closed(&mut self, announced: bool);
    /// Bytes followed a response without a request for them.
    fn surplus(&mut self);
    /// A wait returned `events` events of at most `max_events`.
    fn batch(&mut self, events: usize, max_events: usize);
    /// A request was still in flight at the end, or not yet sent; `age` counts from its intended start.
    fn censored(&mut self, was_sent: bool, age: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTimes {
    /// When it was due; in a closed loop, when it was sent.
    pub intended: u64,
    /// When it was sent; without keep-alive, when its connection was begun.
    pub sent: u64,
}
