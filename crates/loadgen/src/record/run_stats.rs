//! Everything recorded about a run, for one thread or for many.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Failure};
use super::fairness::Fairness;
use super::histogram::Histogram;
use super::interval::Intervals;
use super::{Record, RequestTimes};
use crate::engine::message::Malformed;

/// The latency histograms hold the requests that were due within the window: answers as expected, also after
/// the window, and timeouts at their full age. Other failures are stored separately: fast ones would flatter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStats {
    pub counts: Counts,
    /// From the intended start to the end of the answer. Equals `uncorrected` in a closed loop.
    pub latency: Histogram,
    /// From sending to the end of the answer.
    pub uncorrected: Histogram,
    /// Requests that failed other than by timeout, from sending.
    pub failures: Histogram,
    /// How long no connection was free for a request that was due.
    pub lag_busy: Histogram,
    /// How long a request that was due was not sent although a connection was free: the client's own
    /// lateness.
    pub lag_late: Histogram,
    /// From the return of a wait to the handling of one of its events.
    pub residence: Histogram,
    pub connect: Histogram,
    /// Ages at the end of requests without an answer, from the intended start: a lower bound of their
    /// latency.
    pub censored: Histogram,
    pub intervals: Intervals,
    pub fairness: Fairness,
    /// Start of the window, in nanoseconds of CLOCK_MONOTONIC; `None` during warm-up.
    pub begin: Option<u64>,
    pub end: Option<u64>,
}

impl RunStats {
    pub fn merge(&mut self, other: &RunStats) {
        self.counts.merge(&other.counts);
        self.latency.merge(&other.latency);
        self.uncorrected.merge(&other.uncorrected);
        self.failures.merge(&other.failures);
        self.lag_busy.merge(&other.lag_busy);
        self.lag_late.merge(&other.lag_late);
        self.residence.merge(&other.residence);
        self.connect.merge(&other.connect);
        self.censored.merge(&other.censored);
        self.intervals.merge(&other.intervals);
        self.fairness.merge(&other.fairness);
        self.begin = [self.begin, other.begin].into_iter().flatten().min();
        self.end = self.end.max(other.end);
    }

    /// Length of the window in seconds; `None` before its end.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end?.checked_sub(self.begin?)? as f64 * 1e-9)
    }

    pub fn rate(&self) -> Option<f64> {
        self.seconds().filter(|seconds| *seconds > 0.0).map(|seconds| self.counts.answered as f64 / seconds)
    }

    /// Nanoseconds since the start of the window; `None` before it.
    #[inline]
    fn within(&self, now: u64) -> Option<u64> {
        now.checked_sub(self.begin?)
    }

    #[inline]
    fn is_over(&self, now: u64) -> bool {
        self.end.is_some_and(|end| now >= end)
    }
}

impl Record for RunStats {
    fn begin(&mut self, window: u64) {
        *self = RunStats { begin: Some(window), ..RunStats::default() };
    }

    fn end(&mut self, window: u64) {
        self.end = Some(window);
    }

    #[inline]
    fn answer(&mut self, request: &RequestTimes, now: u64) {
        let Some(at) = self.within(now) else { return };
        let is_over = self.is_over(now);
        let latency = now.saturating_sub(request.intended);
        if !is_over {
            self.counts.answered += 1;
            self.intervals.answer(at, latency);
        }
        if self.within(request.intended).is_some() {
            self.counts.answered_late += u64::from(is_over);
            self.latency.record(latency);
            self.uncorrected.record(now.saturating_sub(request.sent));
        }
    }

    fn failure(&mut self, kind: Failure, request: &RequestTimes, now: u64) {
        let Some(at) = self.within(now) else { return };
        let is_over = self.is_over(now);
        if !is_over {
            self.counts.failed[kind as usize] += 1;
            self.intervals.failure(at);
        }
        if self.within(request.intended).is_none() {
            return;
        }
        self.counts.failed_late += u64::from(is_over);
        if kind == Failure::Timeout {
            self.latency.record(now.saturating_sub(request.intended));
            self.uncorrected.record(now.saturating_sub(request.sent));
        } else {
            self.failures.record(now.saturating_sub(request.sent));
        }
    }

    fn malformed(&mut self, kind: Malformed) {
        self.counts.malformed[kind as usize] += 1;
    }

    #[inline]
    fn lag(&mut self, busy: u64, late: u64) {
        self.lag_busy.record(busy);
        self.lag_late.record(late);
    }

    #[inline]
    fn residence(&mut self, nanoseconds: u64) {
        self.residence.record(nanoseconds);
    }

    fn connect(&mut self, nanoseconds: u64) {
        self.counts.connects += 1;
        self.connect.record(nanoseconds);
    }

    fn no_connect(&mut self, kind: Failure) {
        self.counts.unconnected[kind as usize] += 1;
    }

    fn server_closed(&mut self, announced: bool) {
        if announced {
            self.counts.closed_announced += 1;
        } else {
            self.counts.closed_idle += 1;
        }
    }

    fn surplus(&mut self) {
        self.counts.surplus += 1;
    }

    #[inline]
    fn batch(&mut self, events: usize, max_events: usize) {
        self.counts.waits += 1;
        self.counts.full_waits += u64::from(events >= max_events);
    }

    fn censored(&mut self, was_sent: bool, age: u64) {
        if was_sent {
            self.counts.in_flight += 1;
        } else {
            self.counts.unsent += 1;
        }
        self.censored.record(age);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const MS: u64 = 1_000_000;

    fn request(intended: u64, sent: u64) -> RequestTimes {
        RequestTimes { intended, sent }
    }

    #[test]
    fn only_the_window_counts() {
        let mut stats = RunStats::default();
        stats.answer(&request(1, 1), 2);
        stats.connect(5);
        stats.begin(100 * MS);
        assert_eq!(stats.counts, Counts::default());
        stats.end(1100 * MS);
        // Due in the warm-up: counts as work of the window, not as latency.
        stats.answer(&request(99 * MS, 99 * MS), 101 * MS);
        stats.answer(&request(100 * MS, 110 * MS), 130 * MS);
        // Due in the window and answered after it: counts as latency, not as work.
        stats.answer(&request(1000 * MS, 1000 * MS), 1200 * MS);
        stats.failure(Failure::Status, &request(200 * MS, 200 * MS), 201 * MS);
        stats.failure(Failure::Timeout, &request(200 * MS, 300 * MS), 700 * MS);
        assert_eq!((stats.counts.answered, stats.counts.answered_late), (2, 1));
        assert_eq!((stats.latency.count(), stats.uncorrected.count(), stats.failures.count()), (3, 3, 1));
        assert!(stats.latency.longest().unwrap() >= 500 * MS);
        assert!(stats.uncorrected.longest().unwrap() < 401 * MS);
        assert_eq!(stats.counts.failed_by(Failure::Timeout), 1);
        assert_eq!((stats.seconds(), stats.rate()), (Some(1.0), Some(2.0)));
    }

    #[test]
    fn stats_of_two_threads_are_their_sum() {
        let mut stats = RunStats::default();
        stats.begin(0);
        let mut other = stats.clone();
        stats.answer(&request(1, 1), 2 * MS);
        other.answer(&request(1, 1), 3 * MS);
        other.censored(true, 9 * MS);
        other.end(10 * MS);
        stats.merge(&other);
        assert_eq!((stats.counts.answered, stats.latency.count(), stats.censored.count()), (2, 2, 1));
        assert_eq!((stats.begin, stats.end), (Some(0), Some(10 * MS)));
    }
}
