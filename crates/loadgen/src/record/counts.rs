//! Outcomes by kind.

use serde::{Deserialize, Serialize};

use crate::engine::message::Malformed;
use crate::kinds::kinds;

kinds! {
    /// Why a request had no answer as expected, or a connection was not made.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    Failure {
        Status = "another status than expected",
        Length = "another length than expected",
        Malformed = "malformed",
        /// While waiting for an answer, or the answer could not be read.
        Reset = "reset",
        ClosedBefore = "closed before the answer",
        ClosedWithin = "closed in the middle of the answer",
        Timeout = "timed out",
        /// ECONNREFUSED.
        Refused = "refused",
        ConnectTimeout = "not connected in time",
        /// EADDRNOTAVAIL or EADDRINUSE.
        NoPort = "no local port left",
        Connect = "not connected",
        /// Or the server ended the session with an alert.
        Tls = "TLS handshake failed",
        Body = "another body than the first",
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Answers as expected within the window: the only ones that count as work.
    pub answered: u64,
    /// Requests that failed within the window, in the order of [`Failure::ALL`].
    pub failed: [u64; Failure::ALL.len()],
    /// Bytes that are no response, in the order of [`Malformed::ALL`].
    pub malformed: [u64; Malformed::ALL.len()],
    /// Answers as expected after the window, to requests of the window.
    pub answered_late: u64,
    /// Requests of the window that failed after it.
    pub failed_late: u64,
    /// Requests without an answer when the engine gave up.
    pub in_flight: u64,
    /// Requests of a schedule that were due within the window and were not sent.
    pub unsent: u64,
    /// Connections made within the window; 0 is expected with keep-alive.
    pub connects: u64,
    /// Connections that could not be made within the window, in the order of [`Failure::ALL`].
    pub unconnected: [u64; Failure::ALL.len()],
    /// Connections that the server closed as announced.
    pub closed_announced: u64,
    /// Connections that the server closed while they were idle.
    pub closed_idle: u64,
    /// Answers followed by bytes without a request.
    pub surplus: u64,
    pub waits: u64,
    /// Waits that filled the list of events: more events may have been pending.
    pub full_waits: u64,
}

impl Counts {
    pub fn failed_by(&self, kind: Failure) -> u64 {
        self.failed[kind as usize]
    }

    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    pub fn merge(&mut self, other: &Counts) {
        let add = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.failed, &other.failed);
        add(&mut self.malformed, &other.malformed);
        add(&mut self.unconnected, &other.unconnected);
        self.answered += other.answered;
        self.answered_late += other.answered_late;
        self.failed_late += other.failed_late;
        self.in_flight += other.in_flight;
        self.unsent += other.unsent;
        self.connects += other.connects;
        self.closed_announced += other.closed_announced;
        self.closed_idle += other.closed_idle;
        self.surplus += other.surplus;
        self.waits += other.waits;
        self.full_waits += other.full_waits;
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn kinds_are_in_order() {
        for (index, kind) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
        for (index, kind) in Malformed::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }
}
