//! Does the rate stay the same with twice as many client threads?

use figure::evidence::THREADS;
use figure::evidence::http::{CLIENT_CPUS, CONNECTIONS, GOAL, KEEPS_ALIVE, SUBJECT, WHAT};
use figure::{Figure, format};

use super::partner;
use crate::cases::Loads;
use crate::check::{Answer, Check, Levels, Subject, never, page};
use crate::load::{DOUBLED, RATE, SATURATION, list, of_server};
use crate::values::RatioTo;

/// What the rate gains by twice the client's threads. Two runs of one load differ by as much as the lower level; a tenth is what a
/// saturated client loses.
const GAIN: Levels = Levels { warn: 0.03, fail: 0.10 };

/// The doubling relation of loads.
pub const CHECK: Check = Check {
    id: "client-doubled",
    page: page!("client-doubled"),
    applies: |subject| of_server(subject) && pair(subject).is_some(),
    essential: never,
    rule,
};

/// The load with the client's usual threads, and the one with twice as many.
fn pair<'a>(subject: &Subject<'a>) -> Option<[&'a Figure; 2]> {
    let of = &subject.figure.conditions;
    let other = |goal: &str| {
        subject.record.figures.iter().find(|other| {
            let theirs = &other.conditions;
            other.value.is_some()
                && theirs.get(WHAT).as_deref() == Some(RATE)
                && theirs.get(GOAL).as_deref() == Some(goal)
                && theirs.get(SUBJECT) == of.get(SUBJECT)
                && theirs.get(CONNECTIONS) == of.get(CONNECTIONS)
                && theirs.get(KEEPS_ALIVE) == of.get(KEEPS_ALIVE)
        })
    };
    match of.get(GOAL)?.as_str() {
        SATURATION => Some([subject.figure, other(DOUBLED)?]),
        DOUBLED => Some([other(SATURATION)?, subject.figure]),
        _ => None,
    }
}

fn rule(subject: &Subject) -> Answer {
    let Some([once, twice]) = pair(subject) else {
        return Answer::unknown("not measured with twice the threads");
    };
    let ratio = match partner::ratio(twice, once) {
        Ok(ratio) => ratio,
        Err(reason) => return Answer::unknown(reason),
    };
    let gain = if ratio.low > 1.0 { (ratio.value - 1.0).max(0.0) } else { 0.0 };
    let cpus = list(&twice.conditions.get(CLIENT_CPUS).unwrap_or_default()).len() as f64;
    let crowded = cpus > 0.0 && twice.conditions.get(THREADS).is_some_and(|threads| threads > cpus);
    if gain < GAIN.warn && crowded {
        return Answer::unknown(format!(
            "twice the client's threads share {}",
            format::quantity(cpus, "CPU")
        ));
    }
    GAIN.answer(gain, Loads::ClientDoubled { ratio: RatioTo::new(&ratio, once) })
}
