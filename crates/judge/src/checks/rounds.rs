//! Was the measurement repeated often enough?

use figure::check::MIN_ROUNDS;
use figure::evidence::audit::TOOL;
use figure::{Basis, Record};

use crate::prelude::*;

/// Rounds behind the value, by what it rests on. A figure of another tool is of the run that is printed.
pub const CHECK: Check =
    Check::new(page!("rounds"), always, rule).essential_where(|subject| !is_audited(subject)).audited();

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    if figure.basis == Basis::Count {
        return Answer::pass(Rounds::ExactCount);
    }
    let noun = if figure.basis == Basis::Observations { "observation" } else { "round" };
    let found = behind(figure, subject.record);
    if found >= MIN_ROUNDS {
        return Answer::pass(Rounds::Repeated { repetitions: Counted(found as f64, noun) });
    }
    let (found, needed) = (Count(found as f64), Counted(MIN_ROUNDS as f64, noun));
    let printed = subject.condition(TOOL).is_some();
    Answer::of(Outcome::Unknown, Rounds::TooFewRounds { found, needed, printed })
}

/// Repetitions that a value rests on; of one that was computed without an interval the fewest of its sources.
fn behind(figure: &Figure, record: &Record) -> usize {
    let of_sources = || {
        let sources = figure.derived_from.iter().map(|id| record.figure(id));
        sources.map(|source| source.and_then(Figure::repetitions).unwrap_or(0)).min()
    };
    match figure.basis {
        Basis::Computed => figure.repetitions().or_else(of_sources),
        Basis::Observations => figure.interval.as_ref().map(|interval| interval.rounds),
        Basis::Rounds | Basis::Count => Some(figure.used_rounds().count()),
    }
    .unwrap_or(0)
}
