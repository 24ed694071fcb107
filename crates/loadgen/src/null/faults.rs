//! Faults of the null responder. Pure: counted, not random, so that every run has the same.

use std::num::NonZeroU64;
use std::time::Duration;

/// One request in this many: the last of each group.
pub type OneIn = NonZeroU64;

/// No answers for `length`, at the start of each `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    pub every: Duration,
    pub length: Duration,
}

/// One answer in `share` is delayed by `length`. With a share of 1 the server waits without using CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// 40 ms imitates a delayed ACK that meets Nagle's algorithm.
    pub length: Duration,
    pub share: OneIn,
}

/// Answers are delayed by `growth` more after each `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    pub growth: Duration,
    pub every: Duration,
}

/// Only the first connections are served well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neglect {
    /// Delay of all answers but the first on the other connections.
    pub length: Duration,
    /// Number of connections per thread that are served well.
    pub served: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Stalls all threads at the same time.
    pub stall: Option<Stall>,
    pub unavailable: Option<OneIn>,
    /// No answer; the connection stays open.
    pub silent: Option<OneIn>,
    /// A reset instead of an answer.
    pub reset: Option<OneIn>,
    pub twice: Option<OneIn>,
    /// Half an answer, then the end of the connection.
    pub cut: Option<OneIn>,
    /// A body that is one byte longer.
    pub other: Option<OneIn>,
    pub delay: Option<Delay>,
    pub drift: Option<Drift>,
    pub neglect: Option<Neglect>,
    /// Accepts one connection per interval, so that the backlog fills up.
    pub accept: Option<Duration>,
    /// Closes a connection after this many answers, announced by the last one.
    pub close_after: Option<OneIn>,
    /// Closes a connection after this many answers, unannounced.
    pub drop_after: Option<OneIn>,
    /// Sends each answer in two pieces with this delay.
    pub split: Option<Duration>,
    /// Sends each answer byte by byte with this delay.
    pub trickle: Option<Duration>,
    pub is_endless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    Unavailable,
    Silent,
    Reset,
    Twice,
    Cut,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPosition {
    /// From 1, in its thread.
    pub request: u64,
    /// From 1, in its thread.
    pub connection: u64,
    /// From 1, on its connection.
    pub answer: u64,
    /// Nanoseconds since the thread started to serve.
    pub since: u64,
}

impl Faults {
    /// The fault of a thread's request `number` (from 1): the first that applies, in the order of [`Fault`].
    pub fn fault(&self, number: u64) -> Fault {
        let hits = |share: Option<OneIn>| share.is_some_and(|share| number.is_multiple_of(share.get()));
        match () {
            () if hits(self.unavailable) => Fault::Unavailable,
            () if hits(self.silent) => Fault::Silent,
            () if hits(self.reset) => Fault::Reset,
            () if hits(self.twice) => Fault::Twice,
            () if hits(self.cut) => Fault::Cut,
            () if hits(self.other) => Fault::Other,
            () => Fault::None,
        }
    }

    pub fn has_waits(&self) -> bool {
        self.delay.is_some() || self.drift.is_some() || self.neglect.is_some()
    }

    /// In nanoseconds.
    pub fn wait(&self, position: RequestPosition) -> u64 {
        let delay = self.delay.filter(|delay| position.request.is_multiple_of(delay.share.get()));
        let neglect = self.neglect.filter(|neglect| position.connection > neglect.served);
        let neglect = neglect.filter(|_| position.answer > 1);
        let lengths = [delay.map(|delay| delay.length), neglect.map(|neglect| neglect.length)];
        let fixed: Duration = lengths.into_iter().flatten().sum();
        fixed.as_nanos() as u64 + self.drift.map_or(0, |drift| drift.after(position.since))
    }
}

impl Stall {
    /// Rest of the current stall in nanoseconds, `since` nanoseconds after the start.
    pub fn left(&self, since: u64) -> u64 {
        let (every, length) = (self.every.as_nanos().max(1) as u64, self.length.as_nanos() as u64);
        length.saturating_sub(since % every)
    }
}

impl Drift {
    /// Delay in nanoseconds, `since` nanoseconds after the start.
    pub fn after(&self, since: u64) -> u64 {
        let share = self.growth.as_secs_f64() / self.every.as_secs_f64();
        (since as f64 * share) as u64
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn one_in_so_many_is_exact() {
        let faults = Faults { unavailable: OneIn::new(10), silent: OneIn::new(25), ..Faults::default() };
        let count = |fault| (1..=1000).filter(|number| faults.fault(*number) == fault).count();
        assert_eq!([Fault::Unavailable, Fault::Silent, Fault::None].map(count), [100, 20, 880]);
        assert_eq!(Faults::default().fault(7), Fault::None);
    }

    #[test]
    fn stalls_come_back() {
        let stall = Stall { every: Duration::from_nanos(1000), length: Duration::from_nanos(100) };
        assert_eq!([0, 99, 100, 999, 1000, 1060].map(|since| stall.left(since)), [100, 1, 0, 0, 100, 40]);
    }

    #[test]
    fn waits_add_up() {
        let position = RequestPosition { request: 20, connection: 3, answer: 2, since: 5_000_000_000 };
        let delay = Delay { length: Duration::from_nanos(7), share: OneIn::new(10).unwrap() };
        let faults = Faults { delay: Some(delay), ..Faults::default() };
        assert_eq!([20, 21].map(|request| faults.wait(RequestPosition { request, ..position })), [7, 0]);
        let drift = Drift { growth: Duration::from_millis(2), every: Duration::from_secs(1) };
        let faults = Faults { drift: Some(drift), ..faults };
        assert_eq!(faults.wait(position), 7 + 10_000_000);
        let neglect = Neglect { length: Duration::from_secs(1), served: 2 };
        let faults = Faults { neglect: Some(neglect), ..Faults::default() };
        let wait = |connection, answer| faults.wait(RequestPosition { connection, answer, ..position });
        assert_eq!([wait(2, 9), wait(3, 1), wait(3, 2)], [0, 0, 1_000_000_000]);
        assert!(faults.has_waits() && !Faults::default().has_waits());
        assert_eq!(Faults::default().wait(position), 0);
    }
}
