//! Do two ways of subtracting the harness agree?

use figure::evidence::{ALLOCATOR, HARNESS, TEAM};
use figure::stats::{differences, median, median_interval};
use suites::allocators::{DIRECT, REPLAY, STEADY, find, is_allocator};

use crate::cases::Difference;
use crate::prelude::*;

/// Differences this close are the same, as a share of the time from which they are taken: the window of steps that were drawn
/// beforehand is read from memory, which moves a few lines of the caches that the allocators use.
const SAME: f64 = 0.10;

/// The difference between two allocators, drawn while it is measured and drawn before.
pub const CHECK: Check = Check::new(page!("harness-cost"), |subject| replayed(subject).is_some(), rule);

/// An allocator's figure by replay, its direct one, and the same two of the first other allocator that has both.
struct Replayed<'a> {
    own: [&'a Figure; 2],
    other: [&'a Figure; 2],
}

fn replayed<'a>(subject: &Subject<'a>) -> Option<Replayed<'a>> {
    let figure = subject.figure;
    if figure.conditions.get(HARNESS).as_deref() != Some(REPLAY) {
        return None;
    }
    let team = figure.conditions.get(TEAM)?;
    let own = figure.conditions.get(ALLOCATOR)?;
    let of = |allocator: &str, harness| find(subject.record, STEADY, allocator, &team, harness);
    let both = |allocator: &str| Some([of(allocator, DIRECT)?, of(allocator, REPLAY)?]);
    let names = subject.record.figures.iter().filter_map(|other| other.conditions.get(ALLOCATOR));
    let other = names.filter(|name| *name != own && is_allocator(name)).find_map(|name| both(&name))?;
    Some(Replayed { own: both(&own)?, other })
}

fn rule(subject: &Subject) -> Answer {
    let Some(Replayed { own: [direct, replay], other }) = replayed(subject) else {
        return Answer::unknown("no other allocator was measured both ways");
    };
    let difference = |own: &Figure, other: &Figure| -> Option<Difference> {
        let differences = differences(&own.kept_values(), &other.kept_values());
        let (value, interval) = (median(&differences)?, median_interval(&differences)?);
        Some(Difference { value: Number(value), low: Number(interval.low), high: Number(interval.high) })
    };
    let Some((stepwise, replayed)) = difference(direct, other[0]).zip(difference(replay, other[1])) else {
        return Answer::unknown("fewer than 6 kept rounds in common");
    };
    let overlap = stepwise.low.0 <= replayed.high.0 && replayed.low.0 <= stepwise.high.0;
    let near = (stepwise.value.0 - replayed.value.0).abs() <= SAME * direct.value.unwrap_or(0.0);
    let (other, unit) = (other[0].into(), direct.unit.to_string());
    let case = Arrays::HarnessCost { other, stepwise, replayed, unit };
    Answer::warn_if(!overlap && !near, case)
}
