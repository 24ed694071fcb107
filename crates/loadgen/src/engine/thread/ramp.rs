//! Makes the connections: no more at a time than the server's backlog takes. A connection counts once it has
//! answered.

use std::io;
use std::sync::atomic::Ordering;

use super::ramp_outcome::RampOutcome;
use super::{ConnectionSet, Phase, Thread, Usage};
use crate::engine::conn::State;
use crate::engine::io::Io;
use crate::engine::time;
use crate::pace::Pace;
use crate::record::{Failure, Record};
use crate::stop::Stop;

/// Attempts end after this time without a new connection: wrong answers, a missing server or exhausted ports
/// do not change within a minute. Nanoseconds.
const VAIN: u64 = 5_000_000_000;

impl<I: Io, P: Pace, S: Stop, R: Record> Thread<'_, I, P, S, R> {
    pub fn ramp(mut self) -> io::Result<(RampOutcome, ConnectionSet<I>)> {
        let began = time::now();
        let deadline = began + self.load.ramp.patience.as_nanos() as u64;
        let max_in_flight = (self.load.ramp.in_flight / self.load.threads).max(1);
        let interval = self.load.ramp.rate.map_or(0.0, |rate| 1e9 / rate * f64::from(self.load.threads));
        let (count, mut started) = (self.connections.len() as u32, 0u32);
        let (mut last_established, mut last_failures, mut failing_since) = (0, 0, None);
        loop {
            let now = time::now();
            let failures = self.ramp.failures.iter().sum::<u64>();
            if self.ramp.established > last_established {
                (last_established, last_failures, failing_since) = (self.ramp.established, failures, None);
            } else if failures > last_failures {
                failing_since.get_or_insert(now);
            }
            let is_vain = failing_since.is_some_and(|since| now - since >= VAIN);
            let is_over = now >= deadline || is_vain || self.abort.load(Ordering::Relaxed);
            if self.ramp.established >= count || is_over {
                self.ramp.length = now - began;
                self.ramp.tls_error = self.io.tls_error().map(str::to_owned);
                let ramp = std::mem::take(&mut self.ramp);
                return Ok((ramp, self.finish(None, Usage::default()).1));
            }
            let mut next = u64::MAX;
            while started < count && started - self.ramp.established - self.ramp.down < max_in_flight {
                next = began + (interval * f64::from(started)) as u64;
                if next > now {
                    break;
                }
                self.reconnect(started, now);
                started += 1;
            }
            if now >= self.sweep_at {
                self.sweep(now);
            }
            let wake = if next > now { next } else { u64::MAX };
            self.turn(deadline.min(self.sweep_at).min(wake))?;
        }
    }

    pub(super) fn prove(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        state.times = crate::record::RequestTimes { intended: now, sent: now };
        state.state = State::Proving;
        state.is_hashed = self.bodies.begin(connection, true);
        self.busy += 1;
        self.send(connection, now);
    }

    /// Handles the answer to the first request; false if the connection failed.
    pub(super) fn proved(&mut self, connection: u32, answer: Result<(), Failure>, now: u64) -> bool {
        match answer {
            Ok(()) => {
                self.connections[connection as usize].is_proven = true;
                self.ramp.established += 1;
                true
            }
            Err(kind) if self.phase == Phase::Ramp => {
                self.unconnected(connection, kind, now);
                false
            }
            Err(_) => true,
        }
    }
}
