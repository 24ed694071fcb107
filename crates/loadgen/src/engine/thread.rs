//! One thread of the engine: connections, schedule, record. Threads share only the hash of the run's first
//! body.

mod answers;
mod bodies;
mod carry;
mod ramp;
mod ramp_outcome;
mod usage;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::conn::{Connection, State};
use super::io::Io;
use super::load::Load;
use super::time;
use crate::pace::{Due, Pace};
use crate::record::{Failure, Fairness, Record, RequestTimes};
use crate::stop::Stop;
use bodies::BodyHashes;
pub use bodies::FirstHash;
use carry::Carries;
pub use ramp_outcome::RampOutcome;
pub use usage::Usage;

/// How long before a request is due the thread polls instead of sleeping: about the wake-up latency.
/// Nanoseconds.
const SPIN: u64 = 40_000;
/// Delay before a failed connection is tried again, in nanoseconds.
const RETRY: u64 = 100_000_000;
/// Longest time between two sweeps for timeouts, in nanoseconds.
const MAX_SWEEP_INTERVAL: u64 = 100_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ramp,
    Running,
    Draining,
}

pub struct WindowResult<R> {
    pub record: R,
    pub fairness: Fairness,
    pub usage: Usage,
}

/// What persists from window to window.
pub struct ConnectionSet<I> {
    io: I,
    connections: Vec<Connection>,
    free: VecDeque<u32>,
    carries: Carries,
    bodies: BodyHashes,
}

impl<I: Io> ConnectionSet<I> {
    pub fn new(load: &Load, count: u32, io: I, first: &Arc<FirstHash>) -> ConnectionSet<I> {
        ConnectionSet {
            io,
            connections: vec![Connection::new(load.request.is_head); count as usize],
            free: VecDeque::with_capacity(count as usize),
            carries: Carries::default(),
            bodies: BodyHashes::new(load.expect.same_body.then(|| first.clone())),
        }
    }
}

pub struct Thread<'a, I, P, S, R> {
    load: &'a Load,
    abort: &'a AtomicBool,
    io: I,
    pace: P,
    stop: S,
    record: R,
    connections: Vec<Connection>,
    /// Connections that wait for a request, the longest wait first.
    free: VecDeque<u32>,
    /// Since when the first of them waits.
    free_since: u64,
    carries: Carries,
    bodies: BodyHashes,
    phase: Phase,
    window: u64,
    busy: u32,
    sweep_at: u64,
    ramp: RampOutcome,
    /// Since when there is no connection at all.
    dead_since: Option<u64>,
}

impl<'a, I: Io, P: Pace, S: Stop, R: Record> Thread<'a, I, P, S, R> {
    pub fn new(
        load: &'a Load,
        abort: &'a AtomicBool,
        set: ConnectionSet<I>,
        pace: P,
        stop: S,
        record: R,
    ) -> Self {
        Thread {
            load,
            abort,
            io: set.io,
            pace,
            stop,
            record,
            connections: set.connections,
            free: set.free,
            free_since: 0,
            carries: set.carries,
            bodies: set.bodies,
            phase: Phase::Ramp,
            window: u64::MAX,
            busy: 0,
            sweep_at: 0,
            ramp: RampOutcome::default(),
            dead_since: None,
        }
    }

    /// Sends requests from `start` to the end of the window, and waits for their answers.
    pub fn run(mut self, start: u64) -> io::Result<(WindowResult<R>, ConnectionSet<I>)> {
        self.phase = Phase::Running;
        self.pace.begin(start);
        self.window = start.saturating_add(self.load.warm_up.as_nanos() as u64);
        self.stop.begin(self.window);
        let end = self.stop.end();
        let (mut before, mut usage, mut drained) = (None::<Usage>, None, u64::MAX);
        loop {
            let now = time::now();
            if now < start {
                self.turn(start)?;
                continue;
            }
            if before.is_none() && now >= self.window {
                before = Some(Usage::now());
                self.begin(end);
            }
            let is_over = end.is_some_and(|end| now >= end);
            if is_over && usage.is_none() {
                usage = Some(Usage::since(before));
                drained = now.saturating_add(self.load.drain.as_nanos() as u64);
            }
            if is_over && (self.is_caught_up(end) || now >= drained) || self.is_aborted(now) {
                self.phase = Phase::Draining;
            }
            let due = self.dispatch(now);
            if self.phase == Phase::Draining && usage.is_none() {
                usage = Some(Usage::since(before));
                drained = now.saturating_add(self.load.drain.as_nanos() as u64);
            }
            if self.phase == Phase::Draining && (self.busy == 0 || now >= drained) {
                break;
            }
            if now >= self.sweep_at {
                self.sweep(now);
                self.give_up_on_the_dead(now);
            }
            let until = due.map_or(u64::MAX, |due| due.saturating_sub(SPIN)).min(self.sweep_at).min(drained);
            let ahead = if now < self.window { self.window } else { end.unwrap_or(u64::MAX) };
            self.turn(until.min(if usage.is_some() { u64::MAX } else { ahead }))?;
        }
        Ok(self.finish(end, usage.unwrap_or_default()))
    }

    /// Whether all requests that were due within the window are sent. Those without a free connection are
    /// sent after the window; otherwise their long latencies would be missing.
    fn is_caught_up(&self, end: Option<u64>) -> bool {
        !P::IS_OPEN || end.is_none_or(|end| matches!(self.pace.due(end.saturating_sub(1)), Due::At(_)))
    }

    fn begin(&mut self, end: Option<u64>) {
        self.record.begin(self.window);
        if let Some(end) = end {
            self.record.end(end);
        }
        self.connections.iter_mut().for_each(|connection| connection.served = 0);
    }

    /// Ends a window that a number of requests would end, if the server accepts no connection for as long
    /// as a timeout: it will answer nothing more. Allows for at least one more attempt.
    fn give_up_on_the_dead(&mut self, now: u64) {
        if self.busy > 0 || self.has_free() {
            self.dead_since = None;
            return;
        }
        let since = *self.dead_since.get_or_insert(now);
        let patience = (self.load.timeout.as_nanos() as u64).max(2 * RETRY);
        if now - since >= patience && self.stop.end().is_none() {
            self.phase = Phase::Draining;
        }
    }

    fn is_aborted(&self, now: u64) -> bool {
        now >= self.sweep_at && self.abort.load(Ordering::Relaxed)
    }

    /// Records the age of everything that has not ended.
    fn finish(mut self, end: Option<u64>, usage: Usage) -> (WindowResult<R>, ConnectionSet<I>) {
        let now = time::now();
        let end = end.filter(|end| *end <= now).unwrap_or(now);
        self.record.end(end);
        for connection in self.connections.iter().filter(|connection| connection.has_request()) {
            if connection.state != State::Proving {
                self.record.censored(true, now.saturating_sub(connection.times.intended));
            }
        }
        if P::IS_OPEN {
            while let Due::Now(at) = self.pace.due(end.saturating_sub(1)) {
                if at >= self.window && !self.stop.admit(at) {
                    break;
                }
                if at >= self.window {
                    self.record.censored(false, end - at);
                }
                self.pace.take();
            }
        }
        let fairness = Fairness::from_served(self.connections.iter().map(|connection| connection.served));
        self.abandon(now);
        let set = ConnectionSet {
            io: self.io,
            connections: self.connections,
            free: self.free,
            carries: self.carries,
            bodies: self.bodies,
        };
        (WindowResult { record: self.record, fairness, usage }, set)
    }

    /// Closes connections with unanswered requests. They, and all lost connections, are made again in the
    /// next window.
    fn abandon(&mut self, now: u64) {
        for index in 0..self.connections.len() as u32 {
            let state = &mut self.connections[index as usize];
            if state.has_request() || matches!(state.state, State::Connecting { .. }) {
                let mut carry = self.carries.take(state.carry);
                state.parser.end(&mut carry);
                carry.clear();
                state.carry = self.carries.keep(carry);
                state.state = State::Down;
                self.io.close(index);
            }
            let state = &mut self.connections[index as usize];
            if state.state == State::Down {
                state.since = now;
            }
        }
    }

    fn turn(&mut self, until: u64) -> io::Result<()> {
        let count = self.io.wait(Some(until))?;
        if count == 0 {
            return Ok(());
        }
        let returned = time::now();
        self.record.batch(count, self.io.max_events());
        while let Some((connection, event)) = self.io.next() {
            let now = time::now();
            self.record.residence(now.saturating_sub(returned));
            self.handle(connection, event, now);
            if self.phase == Phase::Running {
                self.dispatch(now);
            }
        }
        Ok(())
    }

    /// Sends every request that is due and has a connection. Returns the moment of the next one, if a
    /// connection waits for it.
    fn dispatch(&mut self, mut now: u64) -> Option<u64> {
        while self.phase == Phase::Running && self.has_free() {
            let intended = match self.pace.due(now) {
                Due::At(moment) => return Some(moment),
                Due::Now(intended) => intended,
            };
            if intended >= self.window && !self.stop.admit(intended) {
                self.phase = Phase::Draining;
                return None;
            }
            self.pace.take();
            let connection = self.free.pop_front()?;
            self.connections[connection as usize].is_queued = false;
            if P::IS_OPEN {
                now = time::now();
                if intended >= self.window {
                    let free = self.free_since.max(intended).min(now);
                    self.record.lag(free - intended, now - free);
                }
            }
            self.request(connection, RequestTimes { intended, sent: now });
        }
        None
    }

    fn request(&mut self, connection: u32, times: RequestTimes) {
        let state = &mut self.connections[connection as usize];
        state.times = times;
        state.is_hashed = self.bodies.begin(connection, false);
        self.busy += 1;
        if self.load.keeps_alive {
            state.state = State::Busy;
            self.send(connection, times.sent);
            return;
        }
        state.state = State::Connecting { with_request: true };
        state.since = times.sent;
        if let Err(kind) = self.io.connect(connection) {
            self.unconnected(connection, kind, times.sent);
        }
    }

    fn send(&mut self, connection: u32, now: u64) {
        if let Err(kind) = self.io.send(connection) {
            self.fail(connection, kind, now);
        }
    }

    fn set_free(&mut self, connection: u32, now: u64) {
        if !self.has_free() {
            self.free_since = now;
        }
        let state = &mut self.connections[connection as usize];
        state.state = State::Free;
        if !std::mem::replace(&mut state.is_queued, true) {
            self.free.push_back(connection);
        }
    }

    /// Whether a connection waits for a request. Removes lost connections from the queue.
    #[inline]
    fn has_free(&mut self) -> bool {
        while let Some(first) = self.free.front() {
            let state = &mut self.connections[*first as usize];
            if state.state == State::Free {
                return true;
            }
            state.is_queued = false;
            self.free.pop_front();
        }
        false
    }

    fn reconnect(&mut self, connection: u32, now: u64) {
        let state = &mut self.connections[connection as usize];
        (state.state, state.since) = (State::Down, u64::MAX);
        if self.phase == Phase::Draining {
            return;
        }
        if !self.load.keeps_alive && self.phase == Phase::Running {
            self.set_free(connection, now);
            return;
        }
        (state.state, state.since) = (State::Connecting { with_request: false }, now);
        if let Err(kind) = self.io.connect(connection) {
            self.unconnected(connection, kind, now);
        }
    }

    /// A connection could not be made; schedules another attempt.
    fn unconnected(&mut self, connection: u32, kind: Failure, now: u64) {
        self.io.close(connection);
        let state = &mut self.connections[connection as usize];
        let had_request = state.has_request();
        (state.state, state.since) = (State::Down, now.saturating_add(RETRY));
        let (times, is_proven) = (state.times, state.is_proven);
        if had_request {
            self.busy -= 1;
            self.record.failure(kind, &times, now);
        }
        if self.phase == Phase::Ramp {
            self.ramp.failed(kind, is_proven);
        } else {
            self.record.no_connect(kind);
        }
    }

    /// Handles timeouts, and connections that are to be tried again.
    fn sweep(&mut self, now: u64) {
        let patience = self.load.timeout.as_nanos() as u64;
        self.sweep_at = now + (patience / 10).clamp(1_000_000, MAX_SWEEP_INTERVAL);
        for index in 0..self.connections.len() as u32 {
            let connection = &self.connections[index as usize];
            let age = |since: u64| now.saturating_sub(since);
            match connection.state {
                State::Busy | State::Proving if age(connection.times.sent) >= patience => {
                    self.fail(index, Failure::Timeout, now);
                }
                State::Connecting { .. } if age(connection.since) >= patience => {
                    self.unconnected(index, Failure::ConnectTimeout, now);
                }
                State::Down if connection.since <= now => {
                    let is_missing = self.phase == Phase::Ramp && !connection.is_proven;
                    self.ramp.again(is_missing);
                    self.reconnect(index, now);
                }
                _ => {}
            }
        }
    }
}
