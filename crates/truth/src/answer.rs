//! Whether a record reports a planted defect as expected, and does not accuse the clean twin of it.

use figure::{CheckResult, Figure, Outcome, Record, Status, Verdict};

use crate::defect::{Defect, Expect, Word};

/// What became of a planted defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Found, and named first; the detail of the check.
    Caught(String),
    /// Found, but behind another cause: which.
    NotFirst(String),
    /// Not found; the answer instead.
    Missed(String),
}

/// What became of its clean twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Twin {
    /// It was not accused of the defect.
    Quiet,
    /// A false alarm; the check and its detail.
    Accused(String),
    /// No answer about the detector, because there is no record or no such value: why.
    Mute(String),
}

/// The record's answer to the planted defect.
pub fn planted(defect: &Defect, record: &Record) -> Answer {
    let expect = &defect.expect;
    let Some(figure) = figure_of(record, expect) else {
        return Answer::Missed(no_figure(expect));
    };
    let Some(((verdict, outcome), cause)) = expect.verdict.judged().zip(expect.cause.as_ref()) else {
        let found = unjudged(figure, expect);
        return found
            .map_or_else(|| Answer::Missed(format!("{}: {}", figure.id, state(figure))), Answer::Caught);
    };
    let checks = &figure.checks;
    let found = checks.iter().find(|check| check.id == *cause);
    match found.filter(|check| answers(check, outcome) && figure.verdict >= Some(verdict)) {
        Some(check) if !expect.matches(&check.detail) => Answer::Missed(check.detail.clone()),
        Some(check) => match first(figure, checks) {
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

/// The answer of the clean twin's record, which has no defect. It is accused if it meets the expectation of the defect. Milder
/// answers may be true of the machine.
pub fn clean(defect: &Defect, record: &Record) -> Twin {
    let expect = &defect.expect;
    let Some(figure) = figure_of(record, expect) else {
        return Twin::Mute(no_figure(expect));
    };
    let accusation = match expect.verdict.judged().zip(expect.cause.as_ref()) {
        None => unjudged(figure, expect),
        Some(_) if figure.value.is_none() => None,
        Some(((_, outcome), cause)) => {
            let accuser = figure.checks.iter().find(|check| check.id == *cause && answers(check, outcome));
            accuser.map(|check| format!("{}: {}", check.id, check.detail))
        }
    };
    match accusation {
        Some(accusation) => Twin::Accused(accusation),
        None if figure.value.is_none() => Twin::Mute(format!("{}: {}", figure.id, state(figure))),
        None => Twin::Quiet,
    }
}

/// The text that names the defect where no verdict is expected: the reason for the missing value, or the explanation.
fn unjudged(figure: &Figure, expect: &Expect) -> Option<String> {
    let is_without = matches!(figure.status, Status::NotAvailable | Status::Failed) && figure.value.is_none();
    let text = match expect.verdict {
        Word::Explained => figure.why(),
        _ => is_without.then(|| figure.reason.clone().unwrap_or_default()),
    };
    text.filter(|text| expect.matches(text))
}

/// Why the figure has no value here; `None` if it has one, or if this is the expected answer.
pub fn not_available(defect: &Defect, record: &Record) -> Option<String> {
    let figure = figure_of(record, &defect.expect)?;
    let is_missing = figure.status == Status::NotAvailable && figure.value.is_none();
    let is_expected = unjudged(figure, &defect.expect).is_some();
    (is_missing && !is_expected).then(|| format!("{}: {}", figure.id, state(figure)))
}

fn no_figure(expect: &Expect) -> String {
    format!("there is no figure {}", expect.figure)
}

/// Whether a check answers with this outcome or a worse one. A known and bad answer is not unknown, and what is unknown and not
/// essential changes no verdict.
fn answers(check: &CheckResult, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Unknown => check.outcome == outcome && check.is_reason(),
        _ => check.outcome >= outcome,
    }
}

/// The figure in question: by its id, else the first that begins so and was measured, else the first that begins so.
fn figure_of<'a>(record: &'a Record, expect: &Expect) -> Option<&'a Figure> {
    let alike = || record.figures.iter().filter(|figure| figure.id.starts_with(&expect.figure));
    let measured = || alike().find(|figure| figure.value.is_some() && !figure.rounds.is_empty());
    record.figure(&expect.figure).or_else(measured).or_else(|| alike().next())
}

/// The first reason for the verdict, as reports name it.
fn first<'a>(figure: &Figure, checks: &'a [CheckResult]) -> Option<&'a CheckResult> {
    figure.verdict.filter(|verdict| *verdict != Verdict::Valid)?;
    checks.iter().find(|check| check.is_reason())
}

/// What a figure is called, and why.
fn state(figure: &Figure) -> String {
    let checks = &figure.checks;
    match (figure.verdict, &figure.reason) {
        (Some(verdict), _) => match first(figure, checks) {
            Some(check) => format!("{verdict} ({})", check.root()),
            None => verdict.to_string(),
        },
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
pub(crate) mod tests {
    use figure::{Better, Unit};

    use super::*;

    fn defect(verdict: &str) -> Defect {
        Defect::sample("", &format!("verdict = '{verdict}', cause = 'foreign-load', says = 'others'"))
    }

    /// A record of one figure with the outcomes of these checks.
    pub fn record(outcomes: &[(&str, Outcome)]) -> Record {
        let mut figure = Figure::planned("memory.triad", "memory", "triad", Unit::ONE, Better::Higher);
        figure.value = Some(1.0);
        figure.checks = outcomes
            .iter()
            .map(|(id, outcome)| CheckResult {
                id: (*id).to_owned(),
                outcome: *outcome,
                detail: "others used it".to_owned(),
                fix: None,
                essential: true,
                ..Default::default()
            })
            .collect();
        figure.verdict = Some(Verdict::of(&figure.checks));
        Record { figures: vec![figure], ..Record::default() }
    }

    #[test]
    fn the_first_reason_is_the_cause() {
        let is_caught = |outcomes: &[(&str, Outcome)]| match planted(&defect("invalid"), &record(outcomes)) {
            Answer::Caught(_) => "first",
            Answer::NotFirst(_) => "behind another",
            Answer::Missed(_) => "missed",
        };
        assert_eq!(is_caught(&[("foreign-load", Outcome::Fail), ("drift", Outcome::Fail)]), "first");
        assert_eq!(is_caught(&[("foreign-load", Outcome::Fail), ("steal", Outcome::Warn)]), "first");
        assert_eq!(is_caught(&[("steal", Outcome::Warn), ("foreign-load", Outcome::Fail)]), "behind another");
        assert_eq!(is_caught(&[("steal", Outcome::Fail), ("foreign-load", Outcome::Fail)]), "behind another");
        assert_eq!(is_caught(&[("foreign-load", Outcome::Warn)]), "missed");
        assert_eq!(is_caught(&[("steal", Outcome::Fail)]), "missed");
    }

    #[test]
    fn a_twin_is_accused_by_the_expected_answer() {
        let accused = |verdict, outcome| {
            matches!(clean(&defect(verdict), &record(&[("foreign-load", outcome)])), Twin::Accused(_))
        };
        assert!(accused("invalid", Outcome::Fail) && !accused("invalid", Outcome::Warn));
        assert!(accused("suspect", Outcome::Fail) && accused("suspect", Outcome::Warn));
        assert!(accused("unverified", Outcome::Unknown) && !accused("unverified", Outcome::Warn));
        for verdict in ["invalid", "suspect", "unverified"] {
            assert!(!accused(verdict, Outcome::Pass));
            assert_eq!(clean(&defect(verdict), &record(&[("steal", Outcome::Fail)])), Twin::Quiet);
        }
    }

    #[test]
    fn what_has_no_value_says_nothing_of_a_detector() {
        let mut without = record(&[]);
        (without.figures[0].value, without.figures[0].verdict) = (None, None);
        without.figures[0].status = Status::NotAvailable;
        without.figures[0].reason = Some("no rights".to_owned());
        let defect = defect("invalid");
        assert_eq!(
            clean(&defect, &without),
            Twin::Mute("memory.triad: without a value: no rights".to_owned())
        );
        assert_eq!(not_available(&defect, &without).unwrap(), "memory.triad: without a value: no rights");
        assert_eq!(not_available(&defect, &record(&[])), None);
        // If no value is expected, the reason shows whether the defect is the cause.
        let expected = Defect::sample("", "verdict = 'not-available', says = 'no disk'");
        assert!(matches!(clean(&expected, &without), Twin::Mute(_)));
        assert!(not_available(&expected, &without).is_some());
        without.figures[0].reason = Some("there is no disk".to_owned());
        assert!(matches!(clean(&expected, &without), Twin::Accused(_)));
        assert_eq!(not_available(&expected, &without), None);
        without.figures.clear();
        assert!(
            matches!(clean(&defect, &without), Twin::Mute(_)) && not_available(&defect, &without).is_none()
        );
    }

    #[test]
    fn what_is_unknown_and_not_essential_is_no_reason() {
        let mut twin = record(&[("foreign-load", Outcome::Unknown), ("steal", Outcome::Unknown)]);
        twin.figures[0].checks[0].essential = false;
        assert!(matches!(planted(&defect("unverified"), &twin), Answer::Missed(_)));
        assert_eq!(clean(&defect("unverified"), &twin), Twin::Quiet);
    }

    #[test]
    fn too_few_rounds_are_a_reason_like_any_other() {
        let defect = Defect::sample("", "verdict = 'unverified', cause = 'rounds', says = 'used'");
        let few = record(&[("rounds", Outcome::Unknown)]);
        assert!(matches!(planted(&defect, &few), Answer::Caught(_)), "{:?}", planted(&defect, &few));
        assert!(matches!(clean(&defect, &few), Twin::Accused(_)));
        let both = record(&[("steal", Outcome::Unknown), ("rounds", Outcome::Unknown)]);
        assert!(matches!(planted(&defect, &both), Answer::NotFirst(_)));
    }

    #[test]
    fn an_explanation_says_it_whatever_the_verdict() {
        let defect = Defect::sample("", "verdict = 'explained', says = 'byte by byte'");
        let mut explained = record(&[]);
        assert!(matches!(planted(&defect, &explained), Answer::Missed(_)));
        assert_eq!(clean(&defect, &explained), Twin::Quiet);
        explained.figures[0].explanations = vec![figure::Explanation::of("Compared byte by byte.")];
        assert_eq!(planted(&defect, &explained), Answer::Caught("Compared byte by byte.".to_owned()));
        assert_eq!(clean(&defect, &explained), Twin::Accused("Compared byte by byte.".to_owned()));
    }
}
