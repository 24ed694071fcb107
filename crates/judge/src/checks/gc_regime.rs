//! Does the figure include enough garbage collections, or none?

use figure::evidence::http::{GC_CPU, GC_CYCLES, GC_PAUSE, GOGC, SERVER_SYSTEM, SERVER_USER};
use figure::{Figure, Outcome};

use crate::cases::Loads;
use crate::check::{Answer, Check, Subject, never, observed, page};
use crate::load::of_server;
use crate::values::{Count, Counted, Number, Seconds, Share};

/// Collections over all rounds of which their share in the figure is known: the number that falls into the windows by chance is then off by a
/// tenth of itself at most.
const ENOUGH: f64 = 10.0;
/// Of the server's CPU time in a window what one collection more or less takes, up to which its number does not matter.
const SLIGHT: f64 = 0.01;

/// /gc/cycles/total of runtime/metrics. A rate of some seconds with one collection, or none, is not the one of an hour.
pub const CHECK: Check =
    Check { id: "gc-regime", page: page!("gc-regime"), applies: of_server, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    let cycles = observed!(figure.sum(GC_CYCLES));
    let typical = observed!(subject.typical(GC_CYCLES));
    let pause = figure.largest(GC_PAUSE).into_value().filter(|_| cycles > 0.0);
    // The value is the median of the rounds: where that has none, it is of rounds without.
    let is_rare = typical > 0.0 && cycles < ENOUGH;
    let each = if is_rare { of_one(figure, cycles) } else { None };
    let is_slight = each.is_some_and(|share| share <= SLIGHT);
    Answer::of(
        if is_rare && !is_slight { Outcome::Warn } else { Outcome::Pass },
        Loads::Collections {
            cycles: Counted(cycles, "collection"),
            typical: Number(typical),
            gogc: figure.evidence.get(GOGC).into_value().map(Count),
            pause: pause.map(Seconds),
            each: each.map(Share),
        },
    )
}

/// What a collection takes of the server's CPU time in a window.
fn of_one(figure: &Figure, cycles: f64) -> Option<f64> {
    let collecting = figure.sum(GC_CPU).into_value()?;
    let used = figure.sum(SERVER_USER).into_value()? + figure.sum(SERVER_SYSTEM).into_value()?;
    let window = used / figure.kept().count().max(1) as f64;
    Some(collecting / cycles / window).filter(|share| share.is_finite())
}
