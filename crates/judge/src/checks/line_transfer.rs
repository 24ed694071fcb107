//! Did the cache lines really come from the other core?

use figure::evidence::{C2C_CLOCK_SHARE, C2C_FRESH, C2C_MEMORY, C2C_OWN, KERNEL, PAIR};

use crate::prelude::*;

/// The kernel of hand-overs from core to core.
pub(crate) const HAND_OVER: &str = "c2c";
/// The class of pairs that share the first-level cache: nothing has to move.
pub(crate) const SIBLINGS: &str = "smt";

/// A line from another core, against one of the requester's own cache. Even cores that share an L2 find a line of
/// the other core three times as late as one of their own L1; below twice nothing was moved.
const LEAST: f64 = 2.0;
/// What reading the clock takes of a walk, and is taken off: an error of a fifth in it moves the figure by these
/// shares.
const CLOCK: Levels = Levels { warn: 0.10, fail: 0.50 };

/// What the requester read, and how long its own cache takes for the same walk.
pub const CHECK: Check = Check::essential(
    page!("line-transfer"),
    |subject| measured(subject) && subject.is(KERNEL, HAND_OVER),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let fresh = observed!(subject.least(C2C_FRESH));
    if fresh < 1.0 {
        return Answer::fail(Rounds::LinesStale { share: Share(1.0 - fresh) });
    }
    let own = observed!(subject.typical(C2C_OWN));
    let value = subject.figure.value.unwrap_or(0.0);
    let times = value / own.max(f64::MIN_POSITIVE);
    let nanoseconds = |time: f64| Seconds(time * 1e-9);
    let memory = subject.typical(C2C_MEMORY).into_value().map(nanoseconds);
    let (line, own) = (nanoseconds(value), nanoseconds(own));
    let case = Rounds::LineTransfer { line, own, times: Times(times), memory };
    if times < LEAST && !subject.is(PAIR, SIBLINGS) {
        return Answer::fail(case);
    }
    let clock = observed!(subject.typical(C2C_CLOCK_SHARE));
    match CLOCK.outcome(clock) {
        Outcome::Pass => Answer::pass(case),
        _ => CLOCK.answer(clock, Rounds::ClockInWalk { share: Share(clock) }),
    }
}
