//! Outcomes by kind.

use serde::{Deserialize, Serialize};

use crate::engine::parse::Malformed;

/// Why a request got no answer as it was expected, or a connection was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// An answer, with another status than expected.
    Status,
    /// An answer, with another length of body than expected.
    Length,
    /// Bytes that are no response.
    Malformed,
    /// The connection was reset while it waited for an answer, or the answer could not be read.
    Reset,
    /// The connection ended before a byte of the answer came.
    ClosedBefore,
    /// The connection ended in the middle of the answer.
    ClosedWithin,
    /// No whole answer within the time that was allowed.
    Timeout,
    /// Nobody listens (ECONNREFUSED).
    Refused,
    /// The connection was not made within the time that was allowed.
    ConnectTimeout,
    /// No local port was left (EADDRNOTAVAIL).
    NoPort,
    /// The connection was not made, for another reason.
    Connect,
    /// TLS: the handshake failed, or the server ended the session by an alert.
    Tls,
    /// An answer, with another body than the first of the run.
    Body,
}

impl Failure {
    /// All of them, in the order of [`Counts::failed`].
    pub const ALL: [Failure; 13] = [
        Failure::Status,
        Failure::Length,
        Failure::Malformed,
        Failure::Reset,
        Failure::ClosedBefore,
        Failure::ClosedWithin,
        Failure::Timeout,
        Failure::Refused,
        Failure::ConnectTimeout,
        Failure::NoPort,
        Failure::Connect,
        Failure::Tls,
        Failure::Body,
    ];

    /// In words, for people.
    pub const fn text(self) -> &'static str {
        match self {
            Failure::Status => "another status than expected",
            Failure::Length => "another length than expected",
            Failure::Malformed => "malformed",
            Failure::Reset => "reset",
            Failure::ClosedBefore => "closed before the answer",
            Failure::ClosedWithin => "closed in the middle of the answer",
            Failure::Timeout => "timed out",
            Failure::Refused => "refused",
            Failure::ConnectTimeout => "not connected in time",
            Failure::NoPort => "no local port left",
            Failure::Connect => "not connected",
            Failure::Tls => "TLS handshake failed",
            Failure::Body => "another body than the first",
        }
    }
}

/// How many there were of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Answers as expected that came within the window: the only ones that are work.
    pub answered: u64,
    /// Requests that failed within the window, by kind in the order of [`Failure::ALL`].
    pub failed: [u64; Failure::ALL.len()],
    /// What was no response, by kind in the order of [`Malformed::ALL`].
    pub malformed: [u64; Malformed::ALL.len()],
    /// Answers as expected that came behind the window, to requests of the window.
    pub answered_late: u64,
    /// Requests of the window that failed behind it.
    pub failed_late: u64,
    /// Requests that had no answer when the engine gave up waiting for them.
    pub in_flight: u64,
    /// Requests of a rate that should have been sent within the window, and were not.
    pub unsent: u64,
    /// Connections made within the window. With connections that stay, there should be none.
    pub connects: u64,
    /// Connections that could not be made within the window, by kind in the order of [`Failure::ALL`].
    pub unconnected: [u64; Failure::ALL.len()],
    /// Connections that the server ended and said so.
    pub closed_announced: u64,
    /// Connections that the server ended while no request was on them.
    pub closed_idle: u64,
    /// Answers behind which there were bytes that nobody had asked for.
    pub surplus: u64,
    /// Waits for events.
    pub waits: u64,
    /// Those that filled the whole list of events: more may have been waiting.
    pub full_waits: u64,
}

impl Counts {
    /// Requests that failed within the window by this kind.
    pub fn of(&self, kind: Failure) -> u64 {
        self.failed[kind as usize]
    }

    /// All requests that failed within the window.
    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Adds those of another thread or process.
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
    fn every_kind_has_its_place() {
        for (place, kind) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
        for (place, kind) in Malformed::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
