//! Points of a curve over threads: whether cores or memory are the limit, and where the curve bends.
//!
//! The rival of "memory is the limit" is the clock: processors run slower with more cores in use. The canary of both
//! points decides.

use figure::Outcome;

use super::in_flight::under_way;
use super::support::*;
use crate::relations::partner::{Side, side};

/// Differences up to here are none: the share by which the knee of a curve is defined.
const SAME: f64 = 0.05;
/// From this share of what as many single threads would do on, each works as if it were alone.
const ALONE: f64 = 0.90;
const AXIS: &str = "threads";

pub(super) fn scaling(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    if *figure.unit.symbol() == *AXIS && !figure.derived_from.is_empty() {
        return knee(subject);
    }
    if figure.unit != Unit::GB_PER_S || !figure.at.contains_key(AXIS) {
        return None;
    }
    dynamic(subject).or_else(|| point(subject))
}

/// The dynamic schedule against equal shares, on the same threads and CPUs.
fn dynamic(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let schedule = figure.conditions.get(SCHEDULE).filter(|schedule| schedule == "dynamic")?;
    // It may have failed for its unequal shares, which is what is to be shown; for any other cause it shows nothing.
    let shows = |other: &Figure| {
        let failed = other.checks.iter().find(|check| check.outcome == Outcome::Fail);
        other.value.is_some() && failed.is_none_or(|check| check.id == "uneven-cores")
    };
    let other = subject.record.figures.iter().find(|other| {
        let keys = [KERNEL, STORES, PAGES_ASKED];
        shows(other)
            && other.conditions.get(SCHEDULE).is_some_and(|another| another != schedule)
            && keys.into_iter().all(|key| same(other, figure, key))
            && same(other, figure, CPUS)
    })?;
    let ratio = Times(figure.value? / other.value?);
    let gains = Topology::DynamicGains { ratio, fixed: Cited::of(other)? };
    (side(figure, other)? == Side::Above).then_some(gains)
}

/// A point against those with fewer threads.
fn point(subject: &Subject) -> Option<Topology> {
    let figure = subject.figure;
    let threads = figure.conditions.get(THREADS)?;
    if threads == 1.0 {
        let (lines, latency) = under_way(subject.record, figure)?;
        return Some(Topology::OneThread { lines, latency });
    }
    let is_below = |other: &Figure| other.conditions.get(THREADS).is_some_and(|others| others < threads);
    let fewer = || others(subject).filter(|other| other.series == figure.series && is_below(other));
    let one = fewer().find(|other| other.conditions.get(THREADS) == Some(1.0))?;
    let best = highest(fewer())?;
    let (value, alone, most) = (figure.value?, one.value?, best.value?);
    if value <= most * (1.0 + SAME) {
        return Some(Topology::NoMoreGain {
            threads: Counted(best.conditions.get(THREADS)?, "thread"),
            ratio: Times(value / most),
            best: Cited::of(best)?,
            limit: limit(figure, best),
        });
    }
    let each = value / (threads * alone);
    let (times, one) = (Times(value / alone), Cited::of(one)?);
    Some(match each >= ALONE {
        true => Topology::CoresLimit { each: Share(each), times, one },
        false => Topology::MoreGain { each: Share(each), times, one, limit: limit(figure, best) },
    })
}

/// Whether memory or the clock is why more threads bring less than they might.
fn limit(figure: &Figure, fewer: &Figure) -> Limit {
    match clock(figure).zip(clock(fewer)) {
        Some((to, from)) if to < from * (1.0 - SAME_CLOCK) => {
            Limit::MemoryAndClock { from: Number(from), to: Number(to) }
        }
        Some((clock, _)) => Limit::Memory { clock: Number(clock) },
        None => Limit::MemoryOrClock,
    }
}

/// The fewest threads that reach the best bandwidth.
fn knee(subject: &Subject) -> Option<Topology> {
    let sources: Option<Vec<&Figure>> =
        subject.figure.derived_from.iter().map(|id| subject.record.figure(id)).collect();
    let sources = sources?;
    let (at, best) = (*sources.first()?, highest(sources.iter().copied())?);
    let share = Share(at.value? / best.value?);
    Some(Topology::FewestThreads { at: Name::from(at), share, best: Cited::of(best)? })
}
