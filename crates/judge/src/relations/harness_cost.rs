//! Do two ways of subtracting the harness agree?

use figure::allocators::{DIRECT, REPLAY, STEADY, find, is_allocator};
use figure::evidence::{ALLOCATOR, HARNESS, TEAM};
use figure::stats::{differences, median, median_interval};
use figure::{Figure, Interval, format};

use crate::check::{Answer, Check, Subject, never, page};

/// Differences this close are the same, as a share of the time from which they are taken: the window of steps that were drawn
/// beforehand is read from memory, which moves a few lines of the caches that the allocators use.
const SAME: f64 = 0.10;

/// The difference between two allocators, drawn while it is measured and drawn before.
pub const CHECK: Check = Check {
    id: "harness-cost",
    page: page!("harness-cost"),
    applies: |subject| replayed(subject).is_some(),
    essential: never,
    rule,
};

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
    let difference = |own: &Figure, other: &Figure| -> Option<(f64, Interval)> {
        let differences = differences(&own.kept_values(), &other.kept_values());
        Some((median(&differences)?, median_interval(&differences)?))
    };
    let (Some((value, interval)), Some((replayed, of_replay))) =
        (difference(direct, other[0]), difference(replay, other[1]))
    else {
        return Answer::unknown("fewer than 6 kept rounds in common");
    };
    let unit = &direct.unit;
    let told = |value: f64, interval: &Interval| {
        format!(
            "{} {unit} [{}, {}]",
            format::number(value),
            format::number(interval.low),
            format::number(interval.high)
        )
    };
    let seen = format!(
        "{} is {} above {} step by step, and {} where steps are drawn beforehand",
        direct.id,
        told(value, &interval),
        other[0].id,
        told(replayed, &of_replay)
    );
    let overlap = interval.low <= of_replay.high && of_replay.low <= interval.high;
    let near = (value - replayed).abs() <= SAME * direct.value.unwrap_or(0.0);
    if overlap || near {
        return Answer::pass(format!("two ways agree: {seen}"));
    }
    Answer::warn(
        format!("two ways disagree: {seen}"),
        "trust neither difference to more than theirs: repeat on a quieter machine, with more rounds (--rounds, --max-time)",
    )
}
