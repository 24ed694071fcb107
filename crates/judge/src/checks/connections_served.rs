//! Were all connections established and served?

use figure::evidence::http::{
    ANSWERED, CONNECTIONS, ESTABLISHED, JAIN, RAMP_FAILURES, SERVED_LEAST, SERVED_MOST, UNSERVED,
};

use crate::load::{REFUSAL, aims_at, of_load};
use crate::prelude::*;

/// Connections that were asked for and never made. The load is of fewer.
const MISSING: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.01 };
/// What Jain's index misses of 1, beyond what counting whole answers explains. At 0.1 connections differ by a third from the mean, at 0.5
/// half of them could as well not be there.
const UNFAIR: Levels = Levels { warn: 0.10, fail: 0.50 };
/// The share of connections without an answer, beyond what chance explains. They are in no latency of the window.
const STARVED: Levels = Levels { warn: 0.001, fail: 0.05 };

/// Jain's index (Jain, Chiu, Hawe, DEC TR-301, 1984) and the share without any answer, of the connections.
/// Not where a server is to refuse connections: it serves those that it accepted.
pub const CHECK: Check = Check::essential(
    page!("connections-served"),
    |subject| of_load(subject) && !aims_at(subject, &[REFUSAL]),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let Some(asked) = subject.condition(CONNECTIONS).filter(|asked| *asked > 0.0) else {
        return Answer::unknown("the number of connections is unknown");
    };
    let made = observed!(subject.fact(ESTABLISHED));
    let missing = MISSING.outcome(((asked - made) / asked).max(0.0));
    if missing > Outcome::Pass {
        let failed =
            subject.fact(RAMP_FAILURES).map(|kinds| Counted(kinds.iter().sum(), "attempt")).into_value();
        let (made, asked) = (Count(made), Counted(asked, "connection"));
        return Answer::of(missing, Loads::ConnectionsMissing { made, asked, failed });
    }
    let [jain, unserved, answered] = observed!(subject.typicals([JAIN, UNSERVED, ANSWERED]));
    let each = answered / asked;
    let unfair = 1.0 - fairness_beyond_chance(jain, each);
    let starved = (unserved - (-each).exp()).max(0.0);
    let outcome = UNFAIR.outcome(unfair).max(STARVED.outcome(starved));
    let [least, most] = [SERVED_LEAST, SERVED_MOST].map(|key| subject.typical(key).into_value().map(Number));
    let (made, unserved, jain) = (Counted(made, "connection"), Share(unserved), Number(jain));
    Answer::of(outcome, Loads::ConnectionsServed { made, unserved, jain, least, most })
}

/// Jain's index without the part that is counting: with `each` answers on average, whole answers that come by chance (Poisson) vary by
/// 1/each of the square of their mean, and 1/index is 1 plus that variation.
fn fairness_beyond_chance(jain: f64, each: f64) -> f64 {
    let variation = 1.0 / jain.max(f64::MIN_POSITIVE) - 1.0;
    1.0 / (1.0 + (variation - 1.0 / each.max(f64::MIN_POSITIVE)).max(0.0))
}
