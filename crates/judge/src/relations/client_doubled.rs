//! Does the rate stay the same with twice as many client threads?

use figure::evidence::THREADS;
use figure::evidence::http::{CLIENT_CPUS, GOAL, SUBJECT};
use figure::format;

use super::partner;
use crate::load::{DOUBLED, SATURATION, list, of_same_connections, of_server};
use crate::prelude::*;

/// What the rate gains by twice the client's threads. Two runs of one load differ by as much as the lower level; a tenth is what a
/// saturated client loses.
const GAIN: Levels = Levels { warn: 0.03, fail: 0.10 };

pub const CHECK: Check =
    Check::new(page!("client-doubled"), |subject| of_server(subject) && pair(subject).is_some(), rule);

/// The load with the client's usual threads, and the one with twice as many.
fn pair<'a>(subject: &Subject<'a>) -> Option<[&'a Figure; 2]> {
    let other = |goal: &str| {
        let fits = |other: &Subject| other.is(GOAL, goal) && other.same(subject, SUBJECT);
        of_same_connections(*subject).find(fits).map(|other| other.figure)
    };
    match subject.condition(GOAL)?.as_str() {
        SATURATION => Some([subject.figure, other(DOUBLED)?]),
        DOUBLED => Some([other(SATURATION)?, subject.figure]),
        _ => None,
    }
}

fn rule(subject: &Subject) -> Answer {
    let Some([once, twice]) = pair(subject) else {
        return Answer::unknown("not measured with twice the threads");
    };
    let ratio = observed!(partner::paired(twice, once));
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
