//! What an allocator costs, and how much memory it takes, against the others of the record.

use figure::allocators::{self, BUMP, Team, VOID, find, is_allocator};
use figure::evidence::{
    ALLOCATOR, CALL_FREE, CALL_MALLOC, FAULT_MINOR, HARNESS, Key, OVERHEAD_WITH_SLOTS, PAIR_CPU, PAIR_SYSTEM,
    QUANTITY, RETAINED, STEPS, TEAM, THREADS, USABLE,
};
use figure::ranking::{Ranking, rankings, wasted};
use figure::{Figure, Record, format, stats};

use super::{Rule, amount, usable, value};
use crate::cases::Case;
use crate::check::Subject;

pub(super) const PAIR: Rule = Rule { name: "allocators-pair", says: |subject| pair(subject).map(Case::Text) };
pub(super) const PLACES: Rule =
    Rule { name: "allocators-places", says: |subject| places(subject).map(Case::Text) };
pub(super) const OVERHEAD: Rule =
    Rule { name: "allocators-overhead", says: |subject| overhead(subject).map(Case::Text) };
pub(super) const RETAINS: Rule =
    Rule { name: "allocators-retains", says: |subject| retained(subject).map(Case::Text) };
pub(super) const IN_KERNEL: Rule =
    Rule { name: "allocators-in-kernel", says: |subject| kernel(subject).map(Case::Text) };
pub(super) const STEADY: Rule =
    Rule { name: "allocators-steady", says: |subject| steady(subject).map(Case::Text) };
pub(super) const CALLS: Rule =
    Rule { name: "allocators-calls", says: |subject| calls(subject).map(Case::Text) };

/// A share of the kernel's that is worth a sentence: the steady phase should need it hardly at all.
const KERNEL: f64 = 0.05;

/// What a figure of an allocator is about.
fn quantity(figure: &Figure) -> Option<String> {
    figure.conditions.get(QUANTITY)
}

/// Another allocator's usable figure of the same quantity, team and harness.
fn of<'a>(record: &'a Record, allocator: &str, like: &Figure) -> Option<&'a Figure> {
    let of = &like.conditions;
    let (quantity, team, harness) = (of.get(QUANTITY)?, of.get(TEAM)?, of.get(HARNESS)?);
    find(record, &quantity, allocator, &team, &harness).filter(|figure| usable(figure))
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
    if quantity(figure)? != allocators::PAIR {
        return None;
    }
    let rankings = rankings(subject.record);
    let ranking = rankings.iter().find(|ranking| Some(ranking.team) == Team::of(&team))?;
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
    if quantity(figure)? != allocators::PAIR {
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
    let overhead = figure.value.filter(|_| quantity(figure).as_deref() == Some(allocators::OVERHEAD))?;
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

/// What alloc-test would have said, and what stays when all was given back.
fn retained(subject: &Subject) -> Option<String> {
    let known = |key| subject.figure.evidence.get(key).into_value();
    let (with_slots, retained) = (known(OVERHEAD_WITH_SLOTS)?, known(RETAINED)?);
    Some(format!(
        "With the array of slots on both sides, as alloc-test counts, it would be {}; when all was given back, {} of what had been \
         asked for was still resident.",
        format::number(with_slots),
        format::percent(retained.max(0.0))
    ))
}

/// How long single calls took.
fn calls(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if quantity(figure)? != allocators::STEADY || figure.conditions.get(ALLOCATOR)? == VOID {
        return None;
    }
    let told = |key: Key<Vec<f64>>, call: &str| -> Option<String> {
        let rounds = figure.over_rounds(key).into_value()?;
        let at = |which: usize| {
            stats::median(&rounds.iter().filter_map(|times| times.get(which).copied()).collect::<Vec<_>>())
        };
        let seconds = |ns: f64| format::seconds(ns * 1e-9);
        Some(format!(
            "{call} takes {} (median), {} (99.9 %), {} (longest)",
            seconds(at(0)?),
            seconds(at(3)?),
            seconds(at(4)?)
        ))
    };
    Some(format!("A sampled call of {}, of {}.", told(CALL_MALLOC, "malloc")?, told(CALL_FREE, "free")?))
}

/// Whether the steady phase was the kernel's in part.
fn kernel(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let name = figure.conditions.get(ALLOCATOR)?;
    if quantity(figure)? != allocators::STEADY || !is_allocator(&name) {
        return None;
    }
    let typical = |key| subject.typical(key).into_value();
    let share = typical(PAIR_SYSTEM)? / typical(PAIR_CPU)?;
    let pairs = figure.conditions.get(STEPS)? / 2.0 * figure.conditions.get(THREADS)?;
    (share >= KERNEL).then(|| {
        format!(
            "{} of its CPU time is the kernel's, with {} page faults for each 1000 pairs: memory taken from it anew, as the heap grew or some had been given back.",
            format::percent(share),
            format::number(typical(FAULT_MINOR).unwrap_or(0.0) / pairs * 1e3)
        )
    })
}

/// How much of a measured time is the harness.
fn steady(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if quantity(figure)? != allocators::STEADY {
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
