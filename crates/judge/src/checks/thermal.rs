//! Did thermal throttling slow the CPUs during the measurement?

use figure::evidence::THERMAL_THROTTLES;
use figure::{Outcome, format};

use super::frequency;
use crate::check::{Answer, Check, Subject, never, observed, of_work, page};

/// Share of the kept rounds with an event from which on the median rests on them.
const MANY_ROUNDS: f64 = 0.25;

/// thermal_throttle/core_throttle_count and package_throttle_count of the CPUs in use (Intel only:
/// arch/x86/kernel/cpu/mce/therm_throt.c).
pub const CHECK: Check =
    Check { id: "thermal", page: page!("thermal"), applies: of_work, essential: never, rule };

fn rule(subject: &Subject) -> Answer {
    let events = observed!(subject.figure.over_rounds(THERMAL_THROTTLES));
    let hit = events.iter().filter(|events| **events > 0.0).count();
    if hit == 0 {
        return Answer::pass("no thermal throttle event");
    }
    // What an event did to the clock, the canary tells.
    let change = frequency::change(subject).into_value();
    let by_clock = change.map_or(Outcome::Warn, |change| frequency::CHANGE.outcome(change));
    let by_count =
        if hit as f64 >= MANY_ROUNDS * events.len() as f64 { Outcome::Warn } else { Outcome::Pass };
    let seen = match change {
        Some(change) => format!("the clock frequency changed by {}", format::percent(change)),
        None => "what it did to the clock frequency is not known".to_owned(),
    };
    Answer::of(
        by_clock.max(by_count),
        format!(
            "{} in {hit} of {}; {seen}",
            format::quantity(events.iter().sum(), "thermal throttle event"),
            format::counted(events.len(), "round")
        ),
        "let it cool down, improve cooling, or switch boost off so that it stays below the limit",
    )
}
