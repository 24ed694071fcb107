//! Was the measurement repeated often enough?

use figure::check::{MIN_ROUNDS, ROUNDS};
use figure::evidence::audit::TOOL;
use figure::format::counted;
use figure::{Basis, Figure, Record};

use crate::check::{Answer, Check, Subject, always, page};

/// Rounds behind the value, by what it rests on.
pub const CHECK: Check =
    Check { id: ROUNDS, page: page!("rounds"), applies: always, essential: always, rule };

fn rule(subject: &Subject) -> Answer {
    let figure = subject.figure;
    if figure.basis == Basis::Count {
        return Answer::pass("an exact count: it needs no repetition");
    }
    let what = if figure.basis == Basis::Observations { "observation" } else { "round" };
    let found = behind(figure, subject.record);
    if found >= MIN_ROUNDS {
        return Answer::pass(counted(found, what));
    }
    let fix = match subject.condition(TOOL) {
        Some(_) => format!(
            "run it {MIN_ROUNDS} times and give all of its outputs together: truebench audit FILE FILE …"
        ),
        None => format!("give it more time: --rounds {MIN_ROUNDS} or a larger --max-time"),
    };
    let detail = format!("{found} of the {MIN_ROUNDS} {what}s that an interval needs");
    Answer { fix: Some(fix), ..Answer::unknown(detail) }
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
        Basis::Rounds | Basis::Count => Some(figure.kept().count()),
    }
    .unwrap_or(0)
}
