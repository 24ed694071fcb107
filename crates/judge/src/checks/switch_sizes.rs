//! Does a context switch with data take at least as long as one without?

use figure::Outcome;
use figure::evidence::audit::BARE_SWITCH;
use figure::format::number;

use crate::audited::is_audited;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};

/// Of a bare switch: what a switch with more to do may be less for want of precision, and what it cannot be. lmbench takes the median of
/// eleven, and its runs of the same differ by some per cent.
const LESS: f64 = 0.9;
const IMPOSSIBLE: f64 = 0.5;

/// A switch with data against the one without, of the same run.
///
/// lmbench subtracts what the same work takes without switching (`lat_ctx.c`); what is left of two large times may be anything, even nothing.
pub const CHECK: Check = Check {
    id: "switch-sizes",
    page: page!("switch-sizes"),
    applies: |subject| {
        is_audited(subject) && measured(subject) && subject.figure.over_rounds(BARE_SWITCH).value().is_some()
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let bare = observed!(subject.typical(BARE_SWITCH));
    let value = subject.figure.value.unwrap_or(0.0);
    let told = format!(
        "{} us, and a switch between two tasks without data takes {} us",
        number(value),
        number(bare)
    );
    let outcome = match value / bare.max(f64::MIN_POSITIVE) {
        share if share < IMPOSSIBLE => Outcome::Fail,
        share if share < LESS => Outcome::Warn,
        _ => return Answer::pass(told),
    };
    Answer::of(
        outcome,
        format!(
            "{told}: it does the same and more. lmbench subtracts what the work takes without switching, and too much was subtracted"
        ),
        "run lat_ctx again with more repetitions (-N) on a quiet machine; a result that comes and goes is none",
    )
}
