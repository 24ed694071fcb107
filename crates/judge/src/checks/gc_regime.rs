//! Does the figure include enough garbage collections, or none?

use figure::evidence::http::{GC_CPU, GC_CYCLES, GC_PAUSE, GOGC, SERVER_SYSTEM, SERVER_USER};

use crate::load::of_server;
use crate::prelude::*;

/// Collections over all rounds of which their share in the figure is known: the number that falls into the windows by chance is then off by a
/// tenth of itself at most.
const ENOUGH: f64 = 10.0;
/// Of the server's CPU time in a window what one collection more or less takes, up to which its number does not matter.
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
    let is_slight = each.is_some_and(|share| share <= SLIGHT);
    let gogc = subject.fact(GOGC).into_value().map(Count);
    let (cycles, typical) = (Counted(cycles, "collection"), Number(typical));
    let (pause, each) = (pause.map(Seconds), each.map(Share));
    Answer::warn_if(is_rare && !is_slight, Loads::Collections { cycles, typical, gogc, pause, each })
}

/// What a collection takes of the server's CPU time in a window.
fn of_one(subject: &Subject, cycles: f64) -> Option<f64> {
    let [collecting, user, system] = subject.sums([GC_CPU, SERVER_USER, SERVER_SYSTEM]).into_value()?;
    let window = (user + system) / subject.figure.used_rounds().count().max(1) as f64;
    Some(collecting / cycles / window).filter(|share| share.is_finite())
}
