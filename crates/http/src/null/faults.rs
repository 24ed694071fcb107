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
}

impl Faults {
    /// What becomes of the request of that number (from 1) of a thread. The first that fits, in the order of [`Fault`].
    pub fn of(&self, number: u64) -> Fault {
        let hits = |share: Option<OneIn>| share.is_some_and(|one_in| number.is_multiple_of(one_in.get()));
        match () {
            () if hits(self.unavailable) => Fault::Unavailable,
            () if hits(self.silent) => Fault::Silent,
            () if hits(self.reset) => Fault::Reset,
            () if hits(self.twice) => Fault::Twice,
            () if hits(self.cut) => Fault::Cut,
            () => Fault::None,
        }
    }
}

impl Stall {
    /// How many nanoseconds it still stands still, so many nanoseconds after it began to serve.
    pub fn left(&self, since: u64) -> u64 {
        let (every, length) = (self.every.as_nanos().max(1) as u64, self.length.as_nanos() as u64);
        length.saturating_sub(since % every)
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
}
