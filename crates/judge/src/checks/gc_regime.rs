//! Does the figure include enough garbage collections, or none?

use figure::Figure;
use figure::evidence::http::{GC_CPU, GC_CYCLES, GC_PAUSE, GOGC, SERVER_SYSTEM, SERVER_USER};
use figure::format::{number, percent, seconds};

use crate::check::{Answer, Check, Subject, never, observed, page};
use crate::load::of_server;

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
    let gogc = match figure.evidence.get(GOGC).into_value() {
        Some(0.0) => " (collection is switched off)".to_owned(),
        Some(gogc) => format!(" (GOGC {})", number(gogc)),
        None => String::new(),
    };
    let pause = match figure.largest(GC_PAUSE).into_value() {
        Some(pause) if cycles > 0.0 => format!(", the longest pause {}", seconds(pause)),
        _ => String::new(),
    };
    // The value is the median of the rounds: it is that of rounds without.
    if typical == 0.0 {
        return Answer::pass(format!("free of collections: {cycles} in all rounds{gogc}{pause}"));
    }
    let told =
        format!("{cycles} collections in all rounds, {} in the median one{gogc}{pause}", number(typical));
    if cycles >= ENOUGH {
        return Answer::pass(told);
    }
    let one = of_one(figure, cycles);
    let told = match one {
        Some(share) => format!("{told}; one takes {} of the server's CPU time in a window", percent(share)),
        None => told,
    };
    if one.is_some_and(|share| share <= SLIGHT) {
        return Answer::pass(told);
    }
    Answer::warn(
        format!("{told}: by chance a window holds one more or less"),
        "measure longer: -d, --rounds; or leave collection out of it and say so (GOGC=off with a GOMEMLIMIT)",
    )
}

/// What a collection takes of the server's CPU time in a window.
fn of_one(figure: &Figure, cycles: f64) -> Option<f64> {
    let collecting = figure.sum(GC_CPU).into_value()?;
    let used = figure.sum(SERVER_USER).into_value()? + figure.sum(SERVER_SYSTEM).into_value()?;
    let window = used / figure.kept().count().max(1) as f64;
    Some(collecting / cycles / window).filter(|share| share.is_finite())
}
