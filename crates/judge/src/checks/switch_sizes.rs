//! Does a context switch with data take at least as long as one without?

use figure::Outcome;
use figure::evidence::audit::BARE_SWITCH;

use crate::audited::is_audited;
use crate::cases::Texts;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};
use crate::values::Seconds;

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
    // lmbench subtracts what the same work takes without switching; a switch with data does the same and more.
    let outcome = match value / bare.max(f64::MIN_POSITIVE) {
        share if share < IMPOSSIBLE => Outcome::Fail,
        share if share < LESS => Outcome::Warn,
        _ => Outcome::Pass,
    };
    let (with_data, bare) = (Seconds(value * 1e-6), Seconds(bare * 1e-6));
    Answer::of(outcome, Texts::SwitchSizes { with_data, bare })
}
