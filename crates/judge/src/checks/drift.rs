//! Did the figure rise or fall over the run?

use figure::format;

use crate::prelude::*;

/// How often a series without trend may look like one and be called so.
const SIGNIFICANT: f64 = 0.01;
/// Change from the first to the last round. Below 5 % a trend, though real, is within the usual interval of a shared machine; a
/// figure that lost a quarter on the way is that of no moment.
const TREND: Levels = Levels { warn: 0.05, fail: 0.25 };

/// Theil-Sen slope and Mann-Kendall test over the kept rounds.
pub const CHECK: Check =
    Check::new(page!("drift"), |subject| of_work(subject) || is_difference(subject), rule);

fn rule(subject: &Subject) -> Answer {
    let values = subject.round_values();
    let Some(drift) = stats::drift(&values) else {
        return Answer::unknown(format!("{} cannot show a trend", format::counted(values.len(), "round")));
    };
    let size = if drift.p < SIGNIFICANT { drift.total.abs() } else { 0.0 };
    TREND.answer(size, Rounds::Drift { change: Share(drift.total), p: Number(drift.p) })
}
