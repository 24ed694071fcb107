//! Is the interval narrow enough for the value to mean something?

use figure::check::PRECISION;
use figure::evidence::audit::TOOL;
use figure::evidence::{NOISE, WATCHED};
use figure::format::{number, percent};
use figure::{Basis, Unit};

use crate::check::{Answer, Check, Subject, always, page};

/// Half the interval may be this share of the value: a figure known to a quarter is not known (`rounds-agree` fails there too).
const OF_VALUE: f64 = 0.25;
/// The same of the time that CPUs lose to others: its distribution has a heavy tail, and its order of magnitude is the answer.
const OF_NOISE: f64 = 1.0;
/// A share of all page faults or calls that was sampled may be this far off, in parts of the whole, unless it is smaller itself: no
/// conclusion hangs on less than a fortieth of them.
const OF_WHOLE: f64 = 0.025;
/// More rounds than these are not advised: what disturbs them must go.
const MOST_ROUNDS: f64 = 1000.0;

/// The 95 % interval, by what the value is of. No interval is wider to either side than its value where this passes.
pub const CHECK: Check = Check {
    id: PRECISION,
    page: page!("precision"),
    applies: |subject| subject.figure.interval.is_some(),
    essential: always,
    rule,
};

/// Half of the interval that the value may have, in its unit.
fn allowed(subject: &Subject) -> f64 {
    let figure = subject.figure;
    let value = figure.value.unwrap_or(0.0).abs();
    if subject.condition(NOISE).is_some() {
        value * OF_NOISE
    } else if figure.basis == Basis::Observations && figure.unit == Unit::ONE {
        (value * OF_VALUE).max(value.min(OF_WHOLE))
    } else {
        value * OF_VALUE
    }
}

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let (Some(value), Some(interval)) = (figure.value, &figure.interval) else {
        return Answer::unknown("no interval");
    };
    let (half, allowed) = ((interval.high - interval.low) / 2.0, allowed(subject));
    let unit = if figure.unit == Unit::ONE { String::new() } else { format!(" {}", figure.unit.symbol()) };
    let range = format!("{} to {}{unit}", number(interval.low), number(interval.high));
    if half <= allowed {
        return Answer::pass(format!("the interval is {range}"));
    }
    let width = match value == 0.0 {
        true => "around 0".to_owned(),
        false => format!("±{} of {}", percent(half / value.abs()), number(value)),
    };
    let limit = match value == 0.0 {
        true => String::new(),
        false => format!("; at most ±{} is worth a value", percent(allowed / value.abs())),
    };
    // The width shrinks with the square root of the number of rounds.
    let rounds = (interval.rounds as f64 * (half / allowed).powi(2)).ceil();
    let is_repeated = subject.condition(TOOL).is_none() && subject.condition(WATCHED).is_none();
    let fix = match is_repeated && rounds <= MOST_ROUNDS {
        true => format!("more rounds: --rounds {rounds} and a larger --max-time"),
        false if subject.condition(WATCHED).is_some() => "watch the program for longer".to_owned(),
        false => "leave the machine to it, and measure again".to_owned(),
    };
    Answer { fix: Some(fix), ..Answer::unknown(format!("the interval is {range}, {width}{limit}")) }
}
