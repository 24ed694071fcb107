//! What an allocator costs, and how much memory it takes, against the others of the record.

use figure::evidence::{ALLOCATOR, HARNESS, QUANTITY, TEAM, USABLE};
use figure::ranking::{Ranking, rankings, wasted};
use figure::{Figure, Record, format, stats};

use super::{Rule, amount, usable, value};
use crate::check::Subject;

pub(super) const PAIR: Rule = Rule { name: "allocators", says: pair };
pub(super) const PLACES: Rule = Rule { name: "allocators", says: places };
pub(super) const OVERHEAD: Rule = Rule { name: "allocators", says: overhead };
pub(super) const STEADY: Rule = Rule { name: "allocators", says: steady };

/// The allocator of one block for all.
const VOID: &str = "void";
/// That of each block behind the one before.
const BUMP: &str = "bump";

/// What a figure of an allocator is about.
fn quantity(figure: &Figure) -> Option<String> {
    figure.conditions.get(QUANTITY)
}

/// Another allocator's figure of the same quantity, team and harness.
fn of<'a>(record: &'a Record, allocator: &str, like: &Figure) -> Option<&'a Figure> {
    let conditions = |figure: &Figure| {
        let of = &figure.conditions;
        (of.get(QUANTITY), of.get(TEAM), of.get(HARNESS))
    };
    record.figures.iter().find(|other| {
        usable(other)
            && other.conditions.get(ALLOCATOR).as_deref() == Some(allocator)
            && conditions(other) == conditions(like)
    })
}

/// `1st of 6`, `1st to 3rd of 6`.
fn rank_of(ranking: &Ranking, (best, worst): (usize, usize)) -> String {
    let ordinal = |rank: usize| match (rank % 10, rank % 100) {
        (1, not) if not != 11 => format!("{rank}st"),
        (2, not) if not != 12 => format!("{rank}nd"),
        (3, not) if not != 13 => format!("{rank}rd"),
        _ => format!("{rank}th"),
    };
    let all = ranking.places.len();
    if best == worst {
        format!("{} of {all}", ordinal(best))
    } else {
        format!("{} to {} of {all}", ordinal(best), ordinal(worst))
    }
}

/// Which rank it has, and with whom it shares it.
fn pair(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let (name, team) = (figure.conditions.get(ALLOCATOR)?, figure.conditions.get(TEAM)?);
    if quantity(figure)? != "pair" {
        return None;
    }
    let rankings = rankings(subject.record);
    let ranking = rankings.iter().find(|ranking| ranking.team == team)?;
    let place = ranking.place(&name)?;
    let tied: Vec<&str> = ranking
        .places
        .iter()
        .filter(|other| other.name != name && place.is_faster(other).is_none())
        .map(|other| other.name.as_str())
        .collect();
    let ties = match tied.as_slice() {
        [] => String::new(),
        names => format!("; its rounds and those of {} cannot be told apart", format::listed(names)),
    };
    Some(format!("{} in time{ties}.", rank_of(ranking, place.rank)))
}

/// How much of it is where the blocks lie.
fn places(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let name = figure.conditions.get(ALLOCATOR)?;
    if quantity(figure)? != "pair" {
        return None;
    }
    if name == BUMP {
        return Some(
            "No bookkeeping: each block lies behind the one before and is never taken again soon, so that this is what cold \
             memory costs the load."
                .to_owned(),
        );
    }
    let bump = of(subject.record, BUMP, figure)?;
    let (own, cold) = (figure.value?, bump.value?);
    Some(if cold < own {
        format!(
            "Blocks one behind the other, without bookkeeping, would cost {} ({}): the rest is the allocator's work and where it \
             puts them.",
            value(bump),
            bump.id
        )
    } else {
        format!(
            "Less than the {} of blocks one behind the other without any bookkeeping ({}): giving again what was just freed \
             saves more cache misses than the work for it costs.",
            value(bump),
            bump.id
        )
    })
}

/// What memory overhead wastes, and how much of it is rounding.
fn overhead(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let overhead = figure.value.filter(|_| quantity(figure).as_deref() == Some("overhead"))?;
    let waste = match wasted(overhead) {
        waste if waste > 0.0 => format!(
            "{} of the memory in use, and in effect of every level of cache, holds what nobody asked for",
            format::percent(waste)
        ),
        _ => "No more is resident than was asked for".to_owned(),
    };
    let source = figure.derived_from.first().and_then(|id| subject.record.figure(id));
    let usable = source.and_then(|source| source.over_rounds(USABLE).into_value());
    Some(match usable.and_then(|usable| stats::median(&usable)) {
        Some(usable) => format!(
            "{waste}; sizes rounded up make {} of the {}, the rest is headers, gaps and what is kept for later.",
            format::number(usable),
            format::number(overhead)
        ),
        None => format!("{waste}."),
    })
}

/// How much of a measured time is the harness.
fn steady(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if quantity(figure)? != "steady" {
        return None;
    }
    if figure.conditions.get(ALLOCATOR)? == VOID {
        return Some(
            "One block for all: this is the load itself, drawing slots and sizes, writing and reading, in the nearest cache; no \
             allocator is below it."
                .to_owned(),
        );
    }
    let void = of(subject.record, VOID, figure)?;
    let share = void.value? / figure.value?;
    Some(format!(
        "{} of it is the load itself ({}: {}); an error of 1 % here is one of {} in what the allocator costs.",
        format::percent(share),
        void.id,
        amount(void.value?, void),
        format::percent(0.01 / (1.0 - share).max(0.01))
    ))
}
