//! Was the rate steady during the window?

use figure::evidence::http::TREND;

use crate::load::of_load;
use crate::prelude::*;

/// Change of the rate over the window, by the end of its 95 % interval that is nearer to none: what half of the rounds show at least.
/// Two per cent is what is aimed at for the figure's interval; a load that changed by a quarter is at rest at no moment.
const CHANGE: Levels = Levels { warn: 0.02, fail: 0.25 };

/// The same of another tool that prints its rate by the way. Less is a warm-up that most runs have; and a mean of what changed is still
/// the mean of its time.
const PRINTED: Levels = Levels { warn: 0.10, fail: f64::INFINITY };

/// A line through the rate of each second: least squares, Student's t.
/// Windows of less than 6 s have no trend; `drift` compares rounds.
pub const CHECK: Check = Check::new(
    page!("trend"),
    |subject| of_load(subject) && (!is_audited(subject) || subject.rounds(TREND).into_value().is_some()),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let intervals = observed!(subject.rounds(TREND));
    let least: Option<Vec<f64>> = intervals
        .iter()
        .map(|interval| match interval.as_slice() {
            [low, high] if *low > 0.0 && high >= low => Some(*low),
            [low, high] if *high < 0.0 && high >= low => Some(*high),
            [_, _] => Some(0.0),
            _ => None,
        })
        .collect();
    let Some(change) = least.and_then(|least| stats::median(&least)) else {
        return Answer::unknown("recorded with too few numbers");
    };
    let levels = if is_audited(subject) { PRINTED } else { CHANGE };
    levels.answer(change.abs(), Loads::Trend { change: Share(change) })
}
