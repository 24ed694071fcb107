//! Did thermal throttling slow the CPUs during the measurement?

use figure::evidence::THERMAL_THROTTLES;

use super::frequency;
use crate::prelude::*;

/// Share of the kept rounds with an event from which on the median rests on them.
const MANY_ROUNDS: f64 = 0.25;

/// thermal_throttle/core_throttle_count and package_throttle_count of the CPUs in use (Intel only:
/// arch/x86/kernel/cpu/mce/therm_throt.c).
pub const CHECK: Check = Check::new(page!("thermal"), of_work, rule);

fn rule(subject: &Subject) -> Answer {
    let events = observed!(subject.rounds(THERMAL_THROTTLES));
    let hit = events.iter().filter(|events| **events > 0.0).count();
    // What an event did to the clock, the canary shows.
    let change = if hit > 0 { frequency::change(subject).into_value() } else { None };
    let by_clock = change.map_or(Outcome::Warn, |change| frequency::CHANGE.outcome(change));
    let is_often = hit as f64 >= MANY_ROUNDS * events.len() as f64;
    let outcome = match hit {
        0 => Outcome::Pass,
        _ if is_often => by_clock.max(Outcome::Warn),
        _ => by_clock,
    };
    let (rounds, hit) = (Counted(events.len() as f64, "round"), Count(hit as f64));
    let events = Counted(events.iter().sum(), "thermal throttle event");
    Answer::of(outcome, Cpus::ThermalThrottles { events, hit, rounds, change: change.map(Share) })
}
