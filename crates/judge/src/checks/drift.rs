//! Did the figure rise or fall over the run?

use figure::evidence::audit::SIDES;
use figure::format;

use crate::prelude::*;

/// How often a series without trend may look like one and be called so.
const SIGNIFICANT: f64 = 0.01;
/// Change from the first to the last round. Below 5 % a trend, though real, is within the usual interval of a shared machine; a
/// figure that lost a quarter on the way is that of no moment.
const TREND: Levels = Levels { warn: 0.05, fail: 0.25 };

/// `audit.sides` of two sets of runs of the same code.
const SAME: &str = "same";

/// Theil-Sen slope and Mann-Kendall test over the kept rounds. Of another tool's ratio of two sets of runs: whether drift from one to the
/// other explains it, where they did not run in turn.
pub const CHECK: Check = Check::new(
    page!("drift"),
    |subject| match is_audited(subject) {
        true => sides(subject).is_some(),
        false => of_work(subject) || is_difference(subject),
    },
    rule,
)
.essential_where(is_audited)
.audited();

fn sides(subject: &Subject) -> Option<String> {
    subject.fact(SIDES).into_value()
}

/// A ratio of two sets of runs: identical code has been 13 % apart with p = 0.000, as a test of significance knows the scatter within each
/// set and nothing of what changed between them.
fn between(subject: &Subject, is_same: bool) -> Answer {
    let change = subject.figure.value.map_or(0.0, |ratio| ratio - 1.0);
    if is_same {
        return Answer::warn(Texts::SameCode { change: Share(change) });
    }
    if change.abs() >= TREND.fail {
        return Answer::pass(Texts::FarApart { change: Share(change) });
    }
    Answer::unknown(
        "the text does not show whether both ran in turn: drift between the two explains less than 25 %, \
         whatever p is",
    )
}

fn rule(subject: &Subject) -> Answer {
    if is_audited(subject) {
        return between(subject, observed!(subject.fact(SIDES)) == SAME);
    }
    let values = subject.round_values();
    let Some(drift) = stats::drift(&values) else {
        return Answer::unknown(format!("{} cannot show a trend", format::counted(values.len(), "round")));
    };
    let size = if drift.p < SIGNIFICANT { drift.total.abs() } else { 0.0 };
    TREND.answer(size, Rounds::Drift { change: Share(drift.total), p: Number(drift.p) })
}
