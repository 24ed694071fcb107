//! Whether a record says what it must of a defect, and nothing of the clean twin.

use figure::{CheckResult, Figure, Outcome, Record, Status, Verdict};

use crate::defect::{Defect, Expect};

/// What became of a planted defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was seen, and named first; what was said.
    Caught(String),
    /// It was seen, but another cause was named before it: which.
    NotFirst(String),
    /// It was not seen; what was said instead.
    Missed(String),
}

/// What the record says of the defect.
pub fn planted(defect: &Defect, record: &Record) -> Answer {
    let expect = &defect.expect;
    let Some(figure) = figure_of(record, expect) else {
        return Answer::Missed(format!("there is no figure {}", expect.figure));
    };
    let says = |text: &str| expect.says.as_ref().is_none_or(|words| text.contains(words.as_str()));
    let Some(((verdict, outcome), cause)) = expect.verdict.verdict().zip(expect.cause.as_ref()) else {
        let reason = figure.reason.clone().unwrap_or_default();
        let is_without =
            matches!(figure.status, Status::NotAvailable | Status::Failed) && figure.value.is_none();
        return if is_without && says(&reason) {
            Answer::Caught(reason)
        } else {
            Answer::Missed(format!("{}: {}", figure.id, state(figure)))
        };
    };
    let found = figure.checks.iter().find(|check| check.id == *cause);
    match found.filter(|check| check.outcome >= outcome && figure.verdict >= Some(verdict)) {
        Some(check) if !says(&check.detail) => Answer::Missed(check.detail.clone()),
        Some(check) => match first(figure) {
            Some(first) if first.id != *cause => Answer::NotFirst(format!("{}: {}", first.id, first.detail)),
            _ => Answer::Caught(check.detail.clone()),
        },
        None => {
            let answered = found
                .map_or("not asked".to_owned(), |check| format!("{}: {}", word(check.outcome), check.detail));
            Answer::Missed(format!("{} is {}; {cause}: {answered}", figure.id, state(figure)))
        }
    }
}

/// What the record of the clean twin says of a defect that is not there: a false alarm. `None` where it says nothing of it.
pub fn clean(defect: &Defect, record: &Record) -> Option<String> {
    let expect = &defect.expect;
    let Some(figure) = figure_of(record, expect) else {
        return Some(format!("there is no figure {}", expect.figure));
    };
    let Some(cause) = &expect.cause else {
        return figure
            .value
            .is_none()
            .then(|| figure.reason.clone().unwrap_or_else(|| "no value".to_owned()));
    };
    let accuses = |check: &&CheckResult| {
        check.id == *cause
            && match check.outcome {
                Outcome::Warn | Outcome::Fail => true,
                Outcome::Unknown => check.essential,
                Outcome::Pass => false,
            }
    };
    figure.checks.iter().find(accuses).map(|check| format!("{}: {}", check.id, check.detail))
}

/// The figure in question: by its id, else the first that begins so and was measured, else the first that begins so.
fn figure_of<'a>(record: &'a Record, expect: &Expect) -> Option<&'a Figure> {
    let alike = || record.figures.iter().filter(|figure| figure.id.starts_with(&expect.figure));
    let measured = || alike().find(|figure| figure.value.is_some() && !figure.rounds.is_empty());
    record.figure(&expect.figure).or_else(measured).or_else(|| alike().next())
}

/// The first reason for the verdict. One that fails stands before one that warns, whatever their order.
fn first(figure: &Figure) -> Option<&CheckResult> {
    let outcome = match figure.verdict? {
        Verdict::Invalid => Outcome::Fail,
        Verdict::Suspect => Outcome::Warn,
        Verdict::Unverified => Outcome::Unknown,
        Verdict::Valid => return None,
    };
    let is_reason =
        |check: &&CheckResult| check.outcome == outcome && (outcome != Outcome::Unknown || check.essential);
    figure.checks.iter().find(is_reason)
}

fn state(figure: &Figure) -> String {
    match (figure.verdict, &figure.reason) {
        (Some(verdict), _) => verdict.to_string(),
        (None, Some(reason)) => format!("without a value: {reason}"),
        (None, None) => "without a verdict".to_owned(),
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Unknown => "unknown",
        Outcome::Warn => "warn",
        Outcome::Fail => "fail",
    }
}
