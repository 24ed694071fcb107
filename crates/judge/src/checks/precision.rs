//! Is the interval narrow enough for the value to mean something?

use figure::evidence::audit::{DIGITS, MOMENTS, TOOL};
use figure::evidence::{CURVE, CURVE_SPAN, NOISE, WATCHED};
use figure::{Basis, Interval};

use crate::prelude::*;

/// Half the interval may be this share of the value: a figure known to a quarter is not known (`rounds-agree` fails there too).
const OF_VALUE: f64 = 0.25;
/// The same of the time that CPUs lose to others: its distribution has a heavy tail, and its order of magnitude is the answer.
const OF_NOISE: f64 = 1.0;
/// A share of all page faults or calls that was sampled may be this far off, in parts of the whole, unless it is smaller itself: no
/// conclusion hangs on less than a fortieth of them.
const OF_WHOLE: f64 = 0.025;
/// A slope of latency over bandwidth may be so far off that over its points it makes this share of the idle latency: a flat curve
/// has no slope that could be known to a share of itself.
const OF_IDLE: f64 = 0.05;
/// More rounds than these are not advised: what disturbs them must go.
const MOST_ROUNDS: f64 = 1000.0;

/// The 95 % interval, by what the value is of. No interval is wider to either side than its value where this passes.
pub const CHECK: Check = Check::essential(
    page!("precision"),
    |subject| interval(subject).is_some() || is_audited(subject) && digits(subject).is_some(),
    rule,
)
.audited();

/// The interval of what is one value; moments of what was watched need not agree.
fn interval<'a>(subject: &'a Subject) -> Option<&'a Interval> {
    subject.figure.interval.as_ref().filter(|_| subject.condition(MOMENTS) != Some(true))
}

/// By what share of itself a printed number may be off.
fn digits(subject: &Subject) -> Option<f64> {
    subject.fact(DIGITS).into_value()
}

/// Half of the interval that the value may have, in its unit.
fn allowed(subject: &Subject) -> f64 {
    let figure = subject.figure;
    let value = figure.value.unwrap_or(0.0).abs();
    if subject.condition(NOISE).is_some() {
        value * OF_NOISE
    } else if figure.basis == Basis::Observations && figure.unit == Unit::ONE {
        (value * OF_VALUE).max(value.min(OF_WHOLE))
    } else {
        (value * OF_VALUE).max(allowed_slope(subject).unwrap_or(0.0))
    }
}

/// The same, for the slope of a curve of latency under load.
fn allowed_slope(subject: &Subject) -> Option<f64> {
    subject.condition(CURVE).filter(|property| property == "slope")?;
    let idle = subject.record.figure(subject.figure.derived_from.first()?)?.value?;
    let span = subject.figure.evidence.get(CURVE_SPAN).into_value()?;
    (span > 0.0).then(|| OF_IDLE * idle / span)
}

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    if let Some(share) = digits(subject)
        && (share > OF_VALUE || interval(subject).is_none())
    {
        return Answer::warn_if(share > OF_VALUE, Texts::Digits { share: Share(share) });
    }
    let (Some(value), Some(interval)) = (figure.value, interval(subject)) else {
        return Answer::unknown("no interval");
    };
    let (half, allowed) = ((interval.high - interval.low) / 2.0, allowed(subject));
    let (low, high) = (Number(interval.low), subject.amount(interval.high));
    if half <= allowed {
        return Answer::pass(Rounds::Interval { low, high, width: None, allowed: None, rounds: None });
    }
    // The width shrinks with the square root of the number of rounds.
    let rounds = (interval.rounds as f64 * (half / allowed).powi(2)).ceil();
    let is_repeated = subject.condition(TOOL).is_none() && subject.condition(WATCHED).is_none();
    let rounds = (is_repeated && rounds <= MOST_ROUNDS).then_some(Count(rounds));
    let share = |half: f64| (value != 0.0).then(|| Share(half / value.abs()));
    let (width, allowed) = (share(half), share(allowed));
    Answer::of(Outcome::Unknown, Rounds::Interval { low, high, width, allowed, rounds })
}
