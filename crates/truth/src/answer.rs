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
    // Who fails warns as well.
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

/// What the record of the clean twin says of a defect that is not there: a false alarm. `None` where it does not say what it must where the
/// defect is: the check answers better, or the figure has a value. What is said less of may be true of the machine.
pub fn clean(defect: &Defect, record: &Record) -> Option<String> {
    let expect = &defect.expect;
    let Some(figure) = figure_of(record, expect) else {
        return Some(format!("there is no figure {}", expect.figure));
    };
    let Some(((_, outcome), cause)) = expect.verdict.verdict().zip(expect.cause.as_ref()) else {
        return figure
            .value
            .is_none()
            .then(|| figure.reason.clone().unwrap_or_else(|| "no value".to_owned()));
    };
    let accuses = |check: &&CheckResult| {
        let is_said = match outcome {
            // Not known, and not what is known and bad.
            Outcome::Unknown => check.outcome == outcome && check.essential,
            _ => check.outcome >= outcome,
        };
        check.id == *cause && is_said
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

#[cfg(test)]
mod tests {
    use figure::record::Observer;
    use figure::{Better, Machine, Tool, Unit};

    use super::*;

    fn defect(verdict: &str) -> Defect {
        let text = format!(
            r#"
            defect = "a stranger"
            planted = "a busy loop"
            seconds = 1
            run = "memory"
            expect = {{ figure = "memory.triad", verdict = "{verdict}", cause = "foreign-load", says = "others" }}
            "#
        );
        Defect::parse("memory/one", &text).unwrap()
    }

    /// A record of one figure, of which these checks said so.
    fn record(said: &[(&str, Outcome)]) -> Record {
        let any = || String::from("x");
        let mut figure = Figure::planned("memory.triad", "memory", "triad", Unit::ONE, Better::Higher);
        figure.value = Some(1.0);
        figure.checks = said
            .iter()
            .map(|(id, outcome)| CheckResult {
                id: (*id).to_owned(),
                outcome: *outcome,
                detail: "others used it".to_owned(),
                fix: None,
                essential: true,
            })
            .collect();
        figure.verdict = Some(Verdict::of(&figure.checks, 10));
        Record {
            schema: figure::record::SCHEMA,
            tool: Tool { name: any(), version: any(), build: any(), simd: any() },
            machine: Machine::default(),
            started: any(),
            duration: 1.0,
            command: Vec::new(),
            interrupted: None,
            observer: Observer::default(),
            figures: vec![figure],
            findings: Vec::new(),
        }
    }

    #[test]
    fn the_first_of_the_worst_is_the_cause() {
        let is_caught = |said: &[(&str, Outcome)]| match planted(&defect("invalid"), &record(said)) {
            Answer::Caught(_) => "first",
            Answer::NotFirst(_) => "behind another",
            Answer::Missed(_) => "missed",
        };
        assert_eq!(is_caught(&[("foreign-load", Outcome::Fail), ("drift", Outcome::Fail)]), "first");
        assert_eq!(is_caught(&[("steal", Outcome::Warn), ("foreign-load", Outcome::Fail)]), "first");
        assert_eq!(is_caught(&[("steal", Outcome::Fail), ("foreign-load", Outcome::Fail)]), "behind another");
        assert_eq!(is_caught(&[("foreign-load", Outcome::Warn)]), "missed");
        assert_eq!(is_caught(&[("steal", Outcome::Fail)]), "missed");
    }

    #[test]
    fn a_twin_is_accused_by_what_must_be_said_of_the_defect() {
        let accused =
            |verdict, outcome| clean(&defect(verdict), &record(&[("foreign-load", outcome)])).is_some();
        assert!(accused("invalid", Outcome::Fail) && !accused("invalid", Outcome::Warn));
        assert!(accused("suspect", Outcome::Fail) && accused("suspect", Outcome::Warn));
        assert!(accused("unverified", Outcome::Unknown) && !accused("unverified", Outcome::Warn));
        for verdict in ["invalid", "suspect", "unverified"] {
            assert!(!accused(verdict, Outcome::Pass));
            assert_eq!(clean(&defect(verdict), &record(&[("steal", Outcome::Fail)])), None);
        }
    }
}
