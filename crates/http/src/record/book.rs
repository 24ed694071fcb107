//! All that is known of a run, of one thread or of many.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Failure};
use super::fairness::Fairness;
use super::histogram::Histogram;
use super::interval::Intervals;
use super::{Begun, Record};
use crate::engine::parse::Malformed;

/// The record of a run. The histograms of latency hold the requests that were to be sent within the window: answers as expected, also those
/// that came behind the window, and timeouts at their full age. Other failures are apart, so that fast ones do not flatter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Book {
    /// Outcomes by kind.
    pub counts: Counts,
    /// From the intended start to the end of the answer. In a closed loop the same as `uncorrected`.
    pub latency: Histogram,
    /// From the sending to the end of the answer.
    pub uncorrected: Histogram,
    /// Requests that failed otherwise than by timeout, from the sending.
    pub failures: Histogram,
    /// How long a request was kept from being sent because no connection was free.
    pub lag_busy: Histogram,
    /// How long a request was not sent though a connection was free: the client's own lateness.
    pub lag_late: Histogram,
    /// From the return of a wait to the reading of one of its events.
    pub residence: Histogram,
    /// How long connecting took.
    pub connect: Histogram,
    /// Ages of what had no answer at the end, from the intended start: latencies are at least that.
    pub censored: Histogram,
    /// Seconds of the window.
    pub intervals: Intervals,
    /// Answers of the window by connection.
    pub fairness: Fairness,
    /// When the window began, in nanoseconds of CLOCK_MONOTONIC; `None` before it.
    pub begin: Option<u64>,
    /// When it ended.
    pub end: Option<u64>,
}

impl Book {
    /// Adds that of another thread or process, of the same window.
    pub fn merge(&mut self, other: &Book) {
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

    /// Seconds of the window; `None` while it has no end.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end?.checked_sub(self.begin?)? as f64 * 1e-9)
    }

    /// Answers as expected for each second of the window.
    pub fn rate(&self) -> Option<f64> {
        self.seconds().filter(|seconds| *seconds > 0.0).map(|seconds| self.counts.answered as f64 / seconds)
    }

    /// How far the window has come at a moment, if it has begun.
    #[inline]
    fn within(&self, now: u64) -> Option<u64> {
        now.checked_sub(self.begin?)
    }

    #[inline]
    fn is_over(&self, now: u64) -> bool {
        self.end.is_some_and(|end| now >= end)
    }
}

impl Record for Book {
    fn begin(&mut self, window: u64) {
        *self = Book { begin: Some(window), ..Book::default() };
    }

    fn end(&mut self, window: u64) {
        self.end = Some(window);
    }

    #[inline]
    fn answer(&mut self, request: &Begun, now: u64) {
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

    fn failure(&mut self, kind: Failure, request: &Begun, now: u64) {
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
    fn batch(&mut self, events: usize, most: usize) {
        self.counts.waits += 1;
        self.counts.full_waits += u64::from(events >= most);
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

    fn begun(intended: u64, sent: u64) -> Begun {
        Begun { intended, sent }
    }

    #[test]
    fn what_belongs_to_the_window() {
        let mut book = Book::default();
        book.answer(&begun(1, 1), 2);
        book.connect(5);
        book.begin(100 * MS);
        assert_eq!(book.counts, Counts::default());
        book.end(1100 * MS);
        // Begun in the warm-up: work of the window, and no latency of it.
        book.answer(&begun(99 * MS, 99 * MS), 101 * MS);
        book.answer(&begun(100 * MS, 110 * MS), 130 * MS);
        // Begun in the window, and answered behind it: a latency, and no work.
        book.answer(&begun(1000 * MS, 1000 * MS), 1200 * MS);
        book.failure(Failure::Status, &begun(200 * MS, 200 * MS), 201 * MS);
        book.failure(Failure::Timeout, &begun(200 * MS, 300 * MS), 700 * MS);
        assert_eq!((book.counts.answered, book.counts.answered_late), (2, 1));
        assert_eq!((book.latency.count(), book.uncorrected.count(), book.failures.count()), (3, 3, 1));
        assert!(book.latency.longest().unwrap() >= 500 * MS);
        assert!(book.uncorrected.longest().unwrap() < 401 * MS);
        assert_eq!(book.counts.of(Failure::Timeout), 1);
        assert_eq!((book.seconds(), book.rate()), (Some(1.0), Some(2.0)));
    }

    #[test]
    fn a_book_of_two_threads_is_their_sum() {
        let mut one = Book::default();
        one.begin(0);
        let mut two = one.clone();
        one.answer(&begun(1, 1), 2 * MS);
        two.answer(&begun(1, 1), 3 * MS);
        two.censored(true, 9 * MS);
        two.end(10 * MS);
        one.merge(&two);
        assert_eq!((one.counts.answered, one.latency.count(), one.censored.count()), (2, 2, 1));
        assert_eq!((one.begin, one.end), (Some(0), Some(10 * MS)));
    }
}
