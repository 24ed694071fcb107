//! Making the connections: not more at a time than the server takes, and each is answered before it counts.

use std::io;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::{Kept, Phase, Thread, Usage};
use crate::engine::conn::State;
use crate::engine::io::Io;
use crate::engine::load::Expect;
use crate::engine::time;
use crate::pace::Pace;
use crate::record::{Failure, Histogram, Record};
use crate::stop::Stop;

/// After which attempts that fail, without one more connection, are given up: a server that answers otherwise than expected, that is not
/// there, or ports that have run out will be no better in a minute. Nanoseconds.
const VAIN: u64 = 5_000_000_000;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ramped {
    /// Connections that were answered once as expected.
    pub established: u32,
    /// Attempts that failed, by kind in the order of [`Failure::ALL`].
    pub failures: [u64; Failure::ALL.len()],
    /// How long connecting took. Modes at 1, 3 and 7 s are those of a backlog that overflowed.
    pub connect: Histogram,
    /// How long it took as a whole, in nanoseconds.
    pub length: u64,
    /// What the first failure of kind [`Failure::Tls`] was, for people.
    #[serde(default)]
    pub trouble: Option<String>,
    /// The status of the first answer with another one than expected.
    #[serde(default)]
    pub status: Option<u16>,
    /// What was wrong with the first answer that is none.
    #[serde(default)]
    pub malformed: Option<String>,
    /// Connections that wait to be tried again.
    #[serde(skip)]
    down: u32,
}

impl Ramped {
    pub(super) fn failed(&mut self, kind: Failure, is_proven: bool) {
        self.failures[kind as usize] += 1;
        self.down += u32::from(!is_proven);
    }

    pub(super) fn again(&mut self, is_missing: bool) {
        if is_missing {
            self.down = self.down.saturating_sub(1);
        }
    }

    /// Adds those of another thread or process.
    pub fn merge(&mut self, other: &Ramped) {
        self.established += other.established;
        self.failures.iter_mut().zip(other.failures).for_each(|(to, from)| *to += from);
        self.connect.merge(&other.connect);
        self.length = self.length.max(other.length);
        self.trouble = self.trouble.take().or_else(|| other.trouble.clone());
        self.status = self.status.or(other.status);
        self.malformed = self.malformed.take().or_else(|| other.malformed.clone());
    }

    /// What failed, how often, and what the first of a kind was.
    pub fn failures(&self, expect: &Expect) -> String {
        let kinds = Failure::ALL.iter().zip(self.failures).filter(|(_, count)| *count > 0);
        let text = |(kind, count): (&Failure, u64)| {
            let detail = match kind {
                Failure::Status => self.status.map(|status| expect.deviation(status)),
                Failure::Tls => self.trouble.clone(),
                Failure::Malformed => self.malformed.clone(),
                _ => None,
            };
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
            format!("{} ({times}){detail}", kind.text())
        };
        let all: Vec<String> = kinds.map(text).collect();
        if all.is_empty() { "no answer".to_owned() } else { all.join("; ") }
    }
}

impl<I: Io, P: Pace, S: Stop, R: Record> Thread<'_, I, P, S, R> {
    /// Makes all connections, or as many as there can be in time.
    ///
    /// # Errors
    /// What the system answered to a wait.
    pub fn ramp(mut self) -> io::Result<(Ramped, Kept<I>)> {
        let began = time::now();
        let deadline = began + self.load.ramp.patience.as_nanos() as u64;
        let most = (self.load.ramp.in_flight / self.load.threads).max(1);
        let interval = self.load.ramp.rate.map_or(0.0, |rate| 1e9 / rate * f64::from(self.load.threads));
        let (count, mut started) = (self.connections.len() as u32, 0u32);
        let (mut made, mut failed, mut failing_since) = (0, 0, None);
        loop {
            let now = time::now();
            let failures = self.ramped.failures.iter().sum::<u64>();
            if self.ramped.established > made {
                (made, failed, failing_since) = (self.ramped.established, failures, None);
            } else if failures > failed {
                failing_since.get_or_insert(now);
            }
            let is_vain = failing_since.is_some_and(|since| now - since >= VAIN);
            let is_over = now >= deadline || is_vain || self.abort.load(Ordering::Relaxed);
            if self.ramped.established >= count || is_over {
                self.ramped.length = now - began;
                self.ramped.trouble = self.io.trouble().map(str::to_owned);
                let ramped = std::mem::take(&mut self.ramped);
                return Ok((ramped, self.finish(None, Usage::default()).1));
            }
            let mut next = u64::MAX;
            while started < count && started - self.ramped.established - self.ramped.down < most {
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

    /// The first request on a connection.
    pub(super) fn prove(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        state.times = crate::record::RequestTimes { intended: now, sent: now };
        state.state = State::Proving;
        state.is_hashed = self.bodies.begin(connection, true);
        self.busy += 1;
        self.send(connection, now);
    }

    /// It was answered, as expected or not.
    pub(super) fn proved(&mut self, connection: u32, answer: Result<(), Failure>, now: u64) -> bool {
        match answer {
            Ok(()) => {
                self.connections[connection as usize].is_proven = true;
                self.ramped.established += 1;
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
