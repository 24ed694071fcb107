//! Does the figure hold the server's garbage collection?

use figure::evidence::http::{GC_CYCLES, GC_PAUSE, GOGC, SUBJECT, WHAT};
use figure::format::{number, seconds};

use crate::check::{Answer, Check, Subject, never, observed};
use crate::load::of_server;

/// Collections over all rounds of which their share in the figure is known: the number that falls into the windows by chance is then off by a
/// tenth of itself at most.
const ENOUGH: f64 = 10.0;

/// /gc/cycles/total of runtime/metrics. A rate of some seconds with one collection, or none, is not the one of an hour.
pub const CHECK: Check = Check {
    id: "gc-regime",
    question: "Are there collections enough in the figure, or none?",
    reads: &[WHAT.name, SUBJECT.name, GC_CYCLES.name, GC_PAUSE.name, GOGC.name],
    page: include_str!("../../../../docs/checks/gc-regime.md"),
    applies: of_server,
    essential: never,
    rule,
};

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
    Answer::warn(
        format!("{told}: by chance a window holds one more or less"),
        "measure longer: -d, --rounds; or leave collection out of it and say so (GOGC=off with a GOMEMLIMIT)",
    )
}
