//! Handles events of connections.

use super::{Phase, Thread};
use crate::engine::conn::State;
use crate::engine::io::{Io, IoEvent};
use crate::engine::parse::{End, Outcome, Response};
use crate::pace::Pace;
use crate::record::{Failure, Record};
use crate::stop::Stop;

/// Whether an unrequested response only explains why the server closes the connection: 408 after a long idle
/// time, 503 with too many connections (RFC 9110, 15.5.9 and 15.6.4). It is no second answer.
fn is_notice(bytes: &[u8]) -> bool {
    const VERSION: &[u8] = b"HTTP/1.";
    bytes.starts_with(VERSION)
        && matches!(bytes.get(VERSION.len() + 2..VERSION.len() + 5), Some(b"408" | b"503"))
}

impl<I: Io, P: Pace, S: Stop, R: Record> Thread<'_, I, P, S, R> {
    pub(super) fn handle(&mut self, connection: u32, event: IoEvent, now: u64) {
        match event {
            IoEvent::Received => self.received(connection, now),
            IoEvent::Connected => self.connected(connection, now),
            IoEvent::Closed => self.closed(connection, now),
            IoEvent::Failed(kind) => match self.connections[connection as usize].state {
                State::Connecting { .. } => self.unconnected(connection, kind, now),
                State::Busy | State::Proving => self.fail(connection, kind, now),
                State::Free => self.lose(connection, now),
                State::Down => {}
            },
            // Handled by `Secure`, which asked for it.
            IoEvent::Writable => {}
        }
    }

    fn connected(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        let took = now.saturating_sub(state.since);
        let State::Connecting { with_request } = state.state else { return };
        if self.phase == Phase::Ramp {
            self.ramp.connect.record(took);
            if !state.is_proven {
                self.prove(connection, now);
                return;
            }
        } else {
            self.record.connect(took);
        }
        if with_request {
            state.state = State::Busy;
            self.send(connection, now);
        } else {
            self.set_free(connection, now);
        }
    }

    fn received(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        if !matches!(state.state, State::Busy | State::Proving) {
            if state.state == State::Free {
                if !is_notice(self.io.received()) {
                    self.record.surplus();
                }
                self.lose(connection, now);
            }
            return;
        }
        let bytes = self.io.received();
        let mut carry = self.carries.take(state.carry);
        let outcome = if state.is_hashed {
            state.parser.advance(bytes, &mut carry, self.bodies.hash_of(connection))
        } else {
            state.parser.advance(bytes, &mut carry, &mut ())
        };
        state.carry = self.carries.keep(carry);
        match outcome {
            Outcome::More => {}
            Outcome::Complete { response, used } => {
                let behind = &bytes[used..];
                let (more, has_surplus) = (!behind.is_empty(), !behind.is_empty() && !is_notice(behind));
                if has_surplus {
                    self.record.surplus();
                }
                self.answered(connection, response, more, now);
            }
            Outcome::Malformed(kind) => {
                self.record.malformed(kind);
                self.ramp.malformed.get_or_insert_with(|| kind.text().to_owned());
                self.fail(connection, Failure::Malformed, now);
            }
        }
    }

    /// A complete answer. A connection with more bytes after it is not used again.
    fn answered(&mut self, connection: u32, response: Response, has_more: bool, now: u64) {
        let mut answer = self.load.expect.check(&response);
        let state = &mut self.connections[connection as usize];
        if state.is_hashed && answer.is_ok() {
            answer = self.bodies.check(connection);
        }
        if state.state == State::Proving {
            self.busy -= 1;
            state.state = State::Free;
            if answer == Err(Failure::Status) {
                self.ramp.status.get_or_insert(response.status);
            }
            if !self.proved(connection, answer, now) {
                return;
            }
        } else {
            self.busy -= 1;
            match answer {
                Ok(()) => {
                    state.served += u64::from(self.phase == Phase::Running);
                    self.record.answer(&state.times, now);
                }
                Err(kind) => self.record.failure(kind, &state.times, now),
            }
        }
        if response.keeps_alive && self.load.keeps_alive && !has_more {
            self.set_free(connection, now);
            return;
        }
        self.io.close(connection);
        if !self.load.keeps_alive {
            self.set_free(connection, now);
            return;
        }
        if !response.keeps_alive {
            self.record.server_closed(true);
        }
        self.renew(connection, now);
    }

    fn closed(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        match state.state {
            State::Busy | State::Proving => {
                let mut carry = self.carries.take(state.carry);
                let end = state.parser.end(&mut carry);
                state.carry = self.carries.keep(carry);
                match end {
                    End::Complete(response) => self.answered(connection, response, false, now),
                    End::NoAnswer => self.fail(connection, Failure::ClosedBefore, now),
                    End::Truncated => self.fail(connection, Failure::ClosedWithin, now),
                }
            }
            State::Connecting { .. } => self.unconnected(connection, Failure::Connect, now),
            State::Free => self.lose(connection, now),
            State::Down => {}
        }
    }

    pub(super) fn fail(&mut self, connection: u32, kind: Failure, now: u64) {
        let state = &mut self.connections[connection as usize];
        let mut carry = self.carries.take(state.carry);
        state.parser.end(&mut carry);
        state.carry = self.carries.keep(carry);
        self.busy -= 1;
        if state.state == State::Proving {
            state.state = State::Free;
            if self.phase == Phase::Ramp {
                self.unconnected(connection, kind, now);
                return;
            }
        } else {
            let times = state.times;
            self.record.failure(kind, &times, now);
        }
        self.io.close(connection);
        self.reconnect(connection, now);
    }

    fn lose(&mut self, connection: u32, now: u64) {
        if !self.load.keeps_alive {
            // Without keep-alive there is no connection between requests.
            return;
        }
        self.record.server_closed(false);
        self.io.close(connection);
        self.renew(connection, now);
    }

    /// Replaces an established connection. During the ramp it stays established and is only made again.
    fn renew(&mut self, connection: u32, now: u64) {
        if self.phase == Phase::Ramp {
            self.connections[connection as usize].since = now;
            self.connections[connection as usize].state = State::Down;
            return;
        }
        self.reconnect(connection, now);
    }
}
