//! The state of each connection.

use super::epoll;
use super::parse::Parser;
use crate::record::RequestTimes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected. `since` is the moment of the next attempt.
    Down,
    /// Being made, since `since`.
    Connecting {
        with_request: bool,
    },
    /// Its first request: the server shows that it serves the connection.
    Proving,
    Free,
    Busy,
}

#[derive(Clone, Debug)]
pub struct Connection {
    pub state: State,
    pub parser: Parser,
    /// Of the request in flight.
    pub times: RequestTimes,
    /// Of [`State::Down`] and [`State::Connecting`], in nanoseconds of CLOCK_MONOTONIC.
    pub since: u64,
    /// Answers as expected in the window.
    pub served: u64,
    pub carry: Option<std::num::NonZeroU32>,
    pub is_proven: bool,
    /// In the queue of free connections; stays set when a queued connection is lost.
    pub is_queued: bool,
    pub is_hashed: bool,
}

// Connections compete for the client's caches.
const _: () = assert!(size_of::<Connection>() + size_of::<epoll::Slot>() <= 128);

impl Connection {
    pub fn new(is_head: bool) -> Connection {
        Connection {
            state: State::Down,
            parser: Parser::new(is_head),
            times: RequestTimes { intended: 0, sent: 0 },
            since: u64::MAX,
            served: 0,
            carry: None,
            is_proven: false,
            is_queued: false,
            is_hashed: false,
        }
    }

    pub fn has_request(&self) -> bool {
        matches!(self.state, State::Busy | State::Proving | State::Connecting { with_request: true })
    }
}
