//! Does a context switch with data take at least as long as one without?

use figure::evidence::audit::BARE_SWITCH;

use crate::prelude::*;

/// Of a bare switch: what a switch with more to do may be less by imprecision, and what it cannot be. lmbench takes the median of
/// eleven, and its runs of the same differ by some per cent.
const LESS: f64 = 0.9;
const IMPOSSIBLE: f64 = 0.5;

/// A switch with data against the one without, of the same run.
///
/// lmbench subtracts what the same work takes without switching (`lat_ctx.c`); what is left of two large times may be anything, even nothing.
pub const CHECK: Check =
    Check::new(page!("switch-sizes"), |subject| prints(subject, BARE_SWITCH), rule).audited();

fn rule(subject: &Subject) -> Answer {
    let bare = observed!(subject.typical(BARE_SWITCH));
    let value = subject.figure.value.unwrap_or(0.0);
    // lmbench subtracts what the same work takes without switching; a switch with data does the same and more.
    let outcome = match value / bare.max(f64::MIN_POSITIVE) {
        ..IMPOSSIBLE => Outcome::Fail,
        ..LESS => Outcome::Warn,
        _ => Outcome::Pass,
    };
    let (with_data, bare) = (Seconds(value * 1e-6), Seconds(bare * 1e-6));
    Answer::of(outcome, Texts::SwitchSizes { with_data, bare })
}
