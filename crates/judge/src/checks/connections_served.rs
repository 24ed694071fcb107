//! Were all connections established and served?

use figure::evidence::http::{
    ANSWERED, CONNECTIONS, ESTABLISHED, JAIN, RAMP_FAILURES, SERVED_LEAST, SERVED_MOST, UNSERVED,
};
use figure::format::{number, percent, quantity};
use figure::{Outcome, Reading};

use crate::check::{Answer, Check, Levels, Subject, always, observed, page};
use crate::load::{REFUSAL, aims_at, of_load};

/// Connections that were asked for and never made. The load is of fewer.
const MISSING: Levels = Levels { warn: f64::MIN_POSITIVE, fail: 0.01 };
/// What Jain's index misses of 1, beyond what counting whole answers explains. At 0.1 connections differ by a third from the mean, at 0.5
/// half of them could as well not be there.
const UNFAIR: Levels = Levels { warn: 0.10, fail: 0.50 };
/// The share of connections without an answer, beyond what chance explains. They are in no latency of the window.
const STARVED: Levels = Levels { warn: 0.001, fail: 0.05 };

/// Jain's index (Jain, Chiu, Hawe, DEC TR-301, 1984) and the share without any answer, of the connections.
pub const CHECK: Check = Check {
    id: "connections-served",
    page: page!("connections-served"),
    // Where a server is to refuse, it serves those that it accepted.
    applies: |subject| of_load(subject) && !aims_at(subject, &[REFUSAL]),
    essential: always,
    rule,
};

const FIX: &str = "read the figure as one of fewer connections; see how the server hands connections to its threads, and \
                   whether a bounded pool holds each until it ends";

fn rule(subject: &Subject) -> Answer {
    let Some(asked) = subject.condition(CONNECTIONS).filter(|asked| *asked > 0.0) else {
        return Answer::unknown("the figure does not tell its connections");
    };
    let made = observed!(subject.figure.evidence.get(ESTABLISHED));
    let missing = MISSING.outcome(((asked - made) / asked).max(0.0));
    if missing > Outcome::Pass {
        let failed = match subject.figure.evidence.get(RAMP_FAILURES) {
            Reading::Value(kinds) => format!("; {} failed", quantity(kinds.iter().sum(), "attempt")),
            Reading::Unknown(_) => String::new(),
        };
        return Answer::of(
            missing,
            format!("made {} of {}{failed}", number(made), quantity(asked, "connection")),
            "see ports, files-and-memory and listen-overflow; or ask for fewer: -c N",
        );
    }
    let jain = observed!(subject.typical(JAIN));
    let unserved = observed!(subject.typical(UNSERVED));
    let each = observed!(subject.typical(ANSWERED)) / asked;
    let unfair = 1.0 - fairness_beyond_chance(jain, each);
    let starved = (unserved - (-each).exp()).max(0.0);
    let outcome = UNFAIR.outcome(unfair).max(STARVED.outcome(starved));
    let range = match (subject.typical(SERVED_LEAST), subject.typical(SERVED_MOST)) {
        (Reading::Value(least), Reading::Value(most)) => {
            format!(", from {} to {} answers", number(least), number(most))
        }
        _ => String::new(),
    };
    Answer::of(
        outcome,
        format!(
            "{} made; in a round {} got no answer, Jain's index {jain:.3}{range}",
            quantity(made, "connection"),
            percent(unserved)
        ),
        FIX,
    )
}

/// Jain's index without the part that is counting: with `each` answers on average, whole answers that come by chance (Poisson) vary by
/// 1/each of the square of their mean, and 1/index is 1 plus that variation.
fn fairness_beyond_chance(jain: f64, each: f64) -> f64 {
    let variation = 1.0 / jain.max(f64::MIN_POSITIVE) - 1.0;
    1.0 / (1.0 + (variation - 1.0 / each.max(f64::MIN_POSITIVE)).max(0.0))
}
