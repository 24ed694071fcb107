//! What is known of each connection.

use super::epoll;
use super::parse::Parser;
use crate::record::RequestTimes;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none. It is made at the moment that `since` tells.
    Down,
    /// It is being made, since `since`; whether a request waits for it.
    Connecting {
        /// The request counts as begun.
        with_request: bool,
    },
    /// Its first request, by which the server shows that it serves it.
    Proving,
    /// It waits for a request.
    Free,
    /// It waits for an answer.
    Busy,
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Where it stands.
    pub state: State,
    /// Of its answers.
    pub parser: Parser,
    /// The request that waits for an answer.
    pub times: RequestTimes,
    /// Of [`State::Down`] and [`State::Connecting`].
    pub since: u64,
    /// Answers as expected in the window.
    pub served: u64,
    /// Where a part of a head is kept, and whether one is.
    pub carry: Option<std::num::NonZeroU32>,
    /// It was answered once.
    pub is_proven: bool,
    /// It stands in the queue of those that wait for a request, or did when it was lost.
    pub is_queued: bool,
    /// The body of the answer that it waits for is hashed.
    pub is_hashed: bool,
}

// What a connection costs the client's caches.
const _: () = assert!(size_of::<Connection>() + size_of::<epoll::Slot>() <= 128);

impl Connection {
    /// Not connected yet.
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

    /// Whether a request is on it.
    pub fn has_request(&self) -> bool {
        matches!(self.state, State::Busy | State::Proving | State::Connecting { with_request: true })
    }
}
