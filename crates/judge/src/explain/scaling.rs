//! Points of a curve over threads: whether cores or memory are the limit, and where the curve bends.
//!
//! The rival of "memory is the limit" is the clock: processors run slower with more cores in use. The canary of both
//! points decides.

use figure::evidence::{CANARY_BEFORE, CPUS, KERNEL, PAGES_ASKED, SCHEDULE, STORES, THREADS};
use figure::{Figure, Outcome, Unit, format, stats};

use super::in_flight::under_way;
use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{Side, UNTOLD, side};

/// Differences up to here are none: the share by which the knee of a curve is defined.
const SAME: f64 = 0.05;
/// From this share of what as many single threads would do on, each works as if it were alone.
const ALONE: f64 = 0.90;
/// A clock that differs by less is the same: half of what the check of the frequency warns of.
const SAME_CLOCK: f64 = 0.025;
/// The axis of these curves.
const AXIS: &str = "threads";

pub(super) const RULE: Rule = Rule { name: "scaling", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if *figure.unit.symbol() == *AXIS && !figure.derived_from.is_empty() {
        return knee(subject);
    }
    if figure.unit != Unit::GB_PER_S || !figure.at.contains_key(AXIS) {
        return None;
    }
    unequal(subject).or_else(|| point(subject))
}

/// The same threads on the same CPUs with equal shares, which some wait for.
fn unequal(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let schedule = figure.conditions.get(SCHEDULE)?;
    // It may have failed for its unequal shares, which is what is to be shown; for any other cause it shows nothing.
    let shows = |other: &Figure| {
        let failed = other.checks.iter().find(|check| check.outcome == Outcome::Fail);
        other.value.is_some() && failed.is_none_or(|check| check.id == "uneven-cores")
    };
    let other = subject.record.figures.iter().find(|other| {
        let (a, b) = (&figure.conditions, &other.conditions);
        shows(other)
            && b.get(SCHEDULE).is_some_and(|theirs| theirs != schedule)
            && a.get(KERNEL) == b.get(KERNEL)
            && a.get(STORES) == b.get(STORES)
            && a.get(PAGES_ASKED) == b.get(PAGES_ASKED)
            && a.get(CPUS) == b.get(CPUS)
    })?;
    let ratio = figure.value? / other.value?;
    (schedule == "dynamic").then(|| {
        let cost = match side(figure, other) {
            Some(Side::Above) => "equal shares make the others wait for the threads that have less of a core",
            Some(Side::Untold) | None => UNTOLD,
            Some(Side::Same | Side::Below) => "equal shares cost nothing here",
        };
        format!(
            "{ratio:.2}x {} ({}) on the same threads and CPUs, so that only the schedule differs: {cost}.",
            other.id,
            value(other)
        )
    })
}

/// A point against those with fewer threads.
fn point(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let threads = figure.conditions.get(THREADS)?;
    if threads == 1.0 {
        let (lines, at) = under_way(subject.record, figure)?;
        return Some(format!(
            "One thread, limited by what its core keeps under way: {lines} lines of 64 B to read, at a latency of {at}."
        ));
    }
    let fewer = || {
        subject.record.figures.iter().filter(|other| {
            usable(other)
                && other.series == figure.series
                && other.conditions.get(THREADS).is_some_and(|theirs| theirs < threads)
        })
    };
    let one = fewer().find(|other| other.conditions.get(THREADS) == Some(1.0))?;
    let best = fewer().max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let (own, alone, top) = (figure.value?, one.value?, best.value?);
    let each = own / (threads * alone);
    let of_one = format!("{:.2}x {} ({})", own / alone, one.id, value(one));
    Some(if own > top * (1.0 + SAME) {
        if each >= ALONE {
            format!(
                "{of_one}: each thread does {} of what one does alone, so that cores are the limit and not memory.",
                format::percent(each)
            )
        } else {
            format!(
                "{of_one}: each thread does {} of what one does alone, and more threads still add: {}.",
                format::percent(each),
                limit(figure, best)
            )
        }
    } else {
        let with = best.conditions.get(THREADS).unwrap_or(1.0);
        let change = if own < top * (1.0 - SAME) {
            format!("{} below {} ({})", format::percent(1.0 - own / top), best.id, value(best))
        } else {
            format!("No more than {} ({}) with {with} threads", best.id, value(best))
        };
        format!("{change}: {}.", limit(figure, best))
    })
}

/// Whether memory or the clock is why more threads bring less than they might.
fn limit(figure: &Figure, fewer: &Figure) -> String {
    let clock = |figure: &Figure| stats::median(&figure.over_rounds(CANARY_BEFORE).into_value()?);
    match clock(figure).zip(clock(fewer)) {
        Some((now, then)) if now < then * (1.0 - SAME_CLOCK) => format!(
            "memory is near its limit, and the clock fell from {} to {} GHz besides",
            format::number(then),
            format::number(now)
        ),
        Some((now, _)) => format!(
            "memory is near its limit; the clock is ruled out ({} GHz with both)",
            format::number(now)
        ),
        None => "memory is near its limit, or the clock fell, which was not seen".to_owned(),
    }
}

/// What the knee rests on.
fn knee(subject: &Subject) -> Option<String> {
    let sources: Option<Vec<&Figure>> =
        subject.figure.derived_from.iter().map(|id| subject.record.figure(id)).collect();
    let sources = sources?;
    let best = sources.iter().max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let at = sources.first()?;
    let share = |figure: &Figure| Some(format::percent(figure.value? / best.value?));
    let before = sources.iter().find(|other| {
        other.conditions.get(THREADS).zip(at.conditions.get(THREADS)).is_some_and(|(a, b)| a < b)
    });
    let reached = if std::ptr::eq(*at, *best) {
        format!("{} is the best ({})", at.id, value(best))
    } else {
        format!("{} makes {} of the best, {} ({})", at.id, share(at)?, best.id, value(best))
    };
    Some(match before {
        Some(before) => format!("{reached}; {} makes {}.", before.id, share(before)?),
        None => format!("{reached}: one thread is enough."),
    })
}
