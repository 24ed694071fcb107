//! What the null responder does wrong, on demand. Pure: which request meets which fault is counted, and not drawn.

use std::num::NonZeroU64;
use std::time::Duration;

/// One request in so many: the last of each so many.
pub type OneIn = NonZeroU64;

/// It answers nothing for `length`, at the beginning of each `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From one to the next.
    pub every: Duration,
    /// How long.
    pub length: Duration,
}

/// One answer in so many comes so much later; with 1 in 1, the server waits and does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// How much later. With 40 ms, a delayed acknowledgement that meets Nagle's algorithm.
    pub length: Duration,
    /// One in so many.
    pub share: OneIn,
}

/// Answers come later and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// How much later they come.
    pub growth: Duration,
    /// After each so much time since it began to serve.
    pub every: Duration,
}

/// Some connections are served as they should be, and the others are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neglect {
    /// How much later all answers but the first come on the others.
    pub length: Duration,
    /// The first so many connections of each thread are served.
    pub served: u64,
}

/// All that it can do wrong; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// It stands still, all threads at the same time.
    pub stall: Option<Stall>,
    /// One in so many gets 503.
    pub unavailable: Option<OneIn>,
    /// One in so many gets no answer, and its connection stays.
    pub silent: Option<OneIn>,
    /// One in so many gets a reset instead of an answer.
    pub reset: Option<OneIn>,
    /// One in so many is answered twice.
    pub twice: Option<OneIn>,
    /// One in so many gets half an answer, then the end of the connection.
    pub cut: Option<OneIn>,
    /// One in so many is answered with another body, a byte longer.
    pub other: Option<OneIn>,
    /// Some answers come later.
    pub delay: Option<Delay>,
    /// Answers come later and later.
    pub drift: Option<Drift>,
    /// Most connections are hardly served.
    pub neglect: Option<Neglect>,
    /// Connections are accepted one by one, with so much between: the backlog fills up.
    pub accept: Option<Duration>,
    /// After so many answers a connection is closed; the last one says so.
    pub close_after: Option<OneIn>,
    /// After so many answers a connection is closed, and nothing says so.
    pub drop_after: Option<OneIn>,
    /// Answers come in two pieces, the second so much later.
    pub split: Option<Duration>,
    /// Answers come byte by byte, with so much between.
    pub trickle: Option<Duration>,
    /// Answers have bodies that never end.
    pub is_endless: bool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is answered.
    None,
    /// 503.
    Unavailable,
    /// Nothing.
    Silent,
    /// A reset.
    Reset,
    /// Two answers.
    Twice,
    /// Half an answer.
    Cut,
    /// Another body.
    Other,
}

/// Of which request a wait is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, of its thread from 1.
    pub request: u64,
    /// The number of its connection, of its thread from 1.
    pub connection: u64,
    /// Its number on its connection, from 1.
    pub answer: u64,
    /// When it came, in nanoseconds since the thread began to serve.
    pub since: u64,
}

impl Faults {
    /// What becomes of the request of that number (from 1) of a thread. The first that fits, in the order of [`Fault`].
    pub fn of(&self, number: u64) -> Fault {
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

    /// Whether any answer waits.
    pub fn has_waits(&self) -> bool {
        self.delay.is_some() || self.drift.is_some() || self.neglect.is_some()
    }

    /// How many nanoseconds an answer waits before it is sent.
    pub fn wait(&self, place: Place) -> u64 {
        let delay = self.delay.filter(|delay| place.request.is_multiple_of(delay.share.get()));
        let neglect = self.neglect.filter(|neglect| place.connection > neglect.served && place.answer > 1);
        let lengths = [delay.map(|delay| delay.length), neglect.map(|neglect| neglect.length)];
        let fixed: Duration = lengths.into_iter().flatten().sum();
        fixed.as_nanos() as u64 + self.drift.map_or(0, |drift| drift.after(place.since))
    }
}

impl Stall {
    /// How many nanoseconds it still stands still, so many nanoseconds after it began to serve.
    pub fn left(&self, since: u64) -> u64 {
        let (every, length) = (self.every.as_nanos().max(1) as u64, self.length.as_nanos() as u64);
        length.saturating_sub(since % every)
    }
}

impl Drift {
    /// How many nanoseconds later answers come, so many nanoseconds after it began to serve.
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
        let count = |fault| (1..=1000).filter(|number| faults.of(*number) == fault).count();
        assert_eq!([Fault::Unavailable, Fault::Silent, Fault::None].map(count), [100, 20, 880]);
        assert_eq!(Faults::default().of(7), Fault::None);
    }

    #[test]
    fn stalls_come_back() {
        let stall = Stall { every: Duration::from_nanos(1000), length: Duration::from_nanos(100) };
        assert_eq!([0, 99, 100, 999, 1000, 1060].map(|since| stall.left(since)), [100, 1, 0, 0, 100, 40]);
    }

    #[test]
    fn waits_add_up() {
        let place = Place { request: 20, connection: 3, answer: 2, since: 5_000_000_000 };
        let delay = Delay { length: Duration::from_nanos(7), share: OneIn::new(10).unwrap() };
        let faults = Faults { delay: Some(delay), ..Faults::default() };
        assert_eq!([20, 21].map(|request| faults.wait(Place { request, ..place })), [7, 0]);
        let drift = Drift { growth: Duration::from_millis(2), every: Duration::from_secs(1) };
        let faults = Faults { drift: Some(drift), ..faults };
        assert_eq!(faults.wait(place), 7 + 10_000_000);
        let neglect = Neglect { length: Duration::from_secs(1), served: 2 };
        let faults = Faults { neglect: Some(neglect), ..Faults::default() };
        let of = |connection, answer| faults.wait(Place { connection, answer, ..place });
        assert_eq!([of(2, 9), of(3, 1), of(3, 2)], [0, 0, 1_000_000_000]);
        assert!(faults.has_waits() && !Faults::default().has_waits());
        assert_eq!(Faults::default().wait(place), 0);
    }
}
