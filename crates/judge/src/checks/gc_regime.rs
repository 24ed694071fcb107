//! Does the figure include enough garbage collections, or none?

use figure::evidence::http::{GC_CPU, GC_CYCLES, GC_PAUSE, GOGC, SERVER_SYSTEM, SERVER_USER};

use crate::load::of_server;
use crate::prelude::*;

/// Collections over all rounds of which their share in the figure is known: the number that falls into the windows by chance is then off by a
/// tenth of itself at most.
const ENOUGH: f64 = 10.0;
/// What the number of collections may move the value by, up to which it does not matter where the printed interval is narrower.
const SLIGHT: f64 = 0.01;

/// /gc/cycles/total of runtime/metrics. A rate of some seconds with one collection, or none, is not the one of an hour.
pub const CHECK: Check = Check::new(page!("gc-regime"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let cycles = observed!(subject.sum(GC_CYCLES));
    let typical = observed!(subject.typical(GC_CYCLES));
    let pause = subject.largest(GC_PAUSE).into_value().filter(|_| cycles > 0.0);
    // The value is the median of the rounds: where that has none, it is of rounds without.
    let is_rare = typical > 0.0 && cycles < ENOUGH;
    let each = if is_rare { of_one(subject, cycles) } else { None };
    let off = each.map(|share| share * uncertain(subject, cycles, typical));
    let printed = subject.figure.interval.as_ref().zip(subject.figure.value);
    let printed = printed.map_or(0.0, |(interval, value)| interval.relative_half_width(value));
    let is_slight = off.is_some_and(|off| off <= SLIGHT.max(printed));
    let gogc = subject.fact(GOGC).into_value().map(Count);
    let (cycles, typical) = (Counted(cycles, "collection"), Number(typical));
    let (pause, each, off) = (pause.map(Seconds), each.map(Share), off.map(Share));
    Answer::warn_if(is_rare && !is_slight, Loads::Collections { cycles, typical, gogc, pause, each, off })
}

/// By how many collections the median round may differ from a window of the long run: from the mean of the rounds by what both show, and that
/// from the long run by two standard errors, as a window at a random moment has one more or less (variance at most 1/4).
fn uncertain(subject: &Subject, cycles: f64, typical: f64) -> f64 {
    let rounds = subject.figure.used_rounds().count().max(1) as f64;
    (cycles / rounds - typical).abs() + 1.0 / rounds.sqrt()
}

/// What a collection takes of the server's CPU time in a window.
fn of_one(subject: &Subject, cycles: f64) -> Option<f64> {
    let [collecting, user, system] = subject.sums([GC_CPU, SERVER_USER, SERVER_SYSTEM]).into_value()?;
    let window = (user + system) / subject.figure.used_rounds().count().max(1) as f64;
    Some(collecting / cycles / window).filter(|share| share.is_finite())
}
