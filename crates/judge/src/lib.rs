//! Judging: evidence in, verdict out. Pure: no file, no clock, no hardware.
//!
//! A [`Check`](check::Check) answers one question about one figure; those in `checks/` look at the figure
//! alone (and the machine), those in `relations/` compare it with other figures of the record. The list in
//! [`checks::ALL`] is in causal order: what causes stands before what it causes, so that the first answer
//! that is not a pass names the cause; `order` says which check can follow from which.

pub mod cases;
pub mod check;
pub mod checks;
pub mod explain;
mod findings;
mod gate;
mod load;
mod order;
mod others;
mod prelude;
pub mod relations;
mod subject;
pub mod terms;
mod values;

use std::collections::HashMap;

use figure::check::{PRECISION, ROUNDS};
use figure::{Figure, Outcome, Record, Verdict};

use check::Subject;
use subject::is_audited;

pub use gate::gate;

/// Judges every measured figure of the record in place: checks, verdict, explanation; then the findings.
/// Judging a judged record again gives the same.
pub fn judge(record: &mut Record) {
    for figure in &mut record.figures {
        (figure.verdict, figure.checks) = (None, Vec::new());
    }
    for index in sources_first(&record.figures) {
        let figure = &record.figures[index];
        if figure.value.is_none() {
            continue;
        }
        let checks = order::causes_first(answers(&Subject { figure, record }));
        let verdict = Verdict::of(&checks);
        let figure = &mut record.figures[index];
        (figure.verdict, figure.checks) = (Some(verdict), checks);
    }
    explain::explain(record);
    record.findings = findings::findings(record);
}

/// The answers of all checks. What other tools print holds little of what these read, and most would only say so, one by one, which
/// `environment-unknown` says for all: so those are asked that a text may answer, and an answer that is unknown and of which no option
/// could make more is left out, unless the verdict depends on it or it limits what the figure is of.
fn answers(subject: &Subject) -> Vec<order::Weighed> {
    if !is_audited(subject) {
        return all().filter_map(|check| check.weigh(subject)).collect();
    }
    let mut answers: Vec<_> =
        all().filter(|check| check.audited).filter_map(|check| check.weigh(subject)).collect();
    answers.retain(|(answer, _)| {
        let is_limit = ["environment-unknown", ROUNDS].contains(&answer.id.as_str());
        answer.outcome != Outcome::Unknown || answer.essential || is_limit || answer.detail.contains("--")
    });
    // What its own text shows is a nearer reason than the figures that it was computed from. But where these are of errors, so are its
    // samples, whatever else is missing of them.
    let are_errors = |id: &String| {
        let first = subject.record.figure(id).and_then(|source| reasons(source).next());
        first.is_some_and(|check| check.id == "errors-as-work" && check.outcome == Outcome::Fail)
    };
    let is_of_errors = subject.figure.derived_from.iter().any(are_errors);
    let is_of_end = checks::too_short::is_of_end(subject);
    answers.sort_by_key(|(answer, _)| match answer.id.as_str() {
        "inputs" if is_of_errors => 0,
        // Ports or answers that are missing are causes; that a load has an end is none of them.
        "too-short" if is_of_end => 2,
        "inputs" => 3,
        ROUNDS | PRECISION => 4,
        _ => 1,
    });
    answers
}

/// Figures that are computed from computed ones, from these again, and so on: no suite has more of such steps.
const MOST_STEPS: usize = 4;

/// The figures by their indices, each behind those that it was computed from: their verdicts count for it.
fn sources_first(figures: &[Figure]) -> Vec<usize> {
    let by_id: HashMap<&str, usize> =
        figures.iter().enumerate().rev().map(|(index, figure)| (figure.id.as_str(), index)).collect();
    let mut steps = vec![0; figures.len()];
    for _ in 0..MOST_STEPS {
        for (index, figure) in figures.iter().enumerate() {
            let of_sources =
                figure.derived_from.iter().map(|id| by_id.get(id.as_str()).map_or(0, |at| steps[*at]));
            // A record that was tampered with may have figures that were computed from one another.
            steps[index] = of_sources.max().map_or(0, |most| (most + 1).min(MOST_STEPS));
        }
    }
    let mut order: Vec<usize> = (0..figures.len()).collect();
    order.sort_by_key(|index| steps[*index]);
    order
}

/// The checks of a figure that are not a pass, cause first.
pub fn reasons(figure: &Figure) -> impl Iterator<Item = &figure::CheckResult> {
    figure.checks.iter().filter(|check| check.is_reason())
}

/// Every check and relation, in causal order.
pub fn all() -> impl Iterator<Item = &'static check::Check> {
    [checks::ALL, relations::ALL, checks::SUPPORT].into_iter().flatten().copied()
}

/// The check of this name.
pub fn find(id: &str) -> Option<&'static check::Check> {
    all().find(|check| check.id == id)
}
