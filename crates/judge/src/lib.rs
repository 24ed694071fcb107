//! Judging: evidence in, verdict out. Pure: no file, no clock, no hardware.
//!
//! A [`Check`](check::Check) answers one question about one figure; those in `checks/` look at the figure
//! alone (and the machine), those in `relations/` compare it with other figures of the record. The list in
//! [`checks::ALL`] is in causal order: what causes stands before what it causes, so that the first answer
//! that is not a pass names the cause.

pub mod audited;
pub mod check;
pub mod checks;
pub mod explain;
mod findings;
mod gate;
mod load;
pub mod relations;
mod servers;
pub mod terms;

use figure::evidence::WATCHED;
use figure::{Figure, Record, Verdict};

pub use gate::gate;

/// Judges every measured figure of the record in place: checks, verdict, explanation; then the findings.
/// Judging a judged record again gives the same.
pub fn judge(record: &mut Record) {
    for figure in &mut record.figures {
        (figure.verdict, figure.checks) = (None, Vec::new());
    }
    // Figures that were computed from others last: they are judged by their sources' verdicts.
    let (derived, measured): (Vec<usize>, Vec<usize>) =
        (0..record.figures.len()).partition(|&index| !record.figures[index].derived_from.is_empty());
    for index in measured.into_iter().chain(derived) {
        let figure = &record.figures[index];
        if figure.value.is_none() {
            continue;
        }
        let subject = check::Subject { figure, record };
        let mut checks: Vec<_> = match audited::is_audited(&subject) {
            true => audited::answers(&subject),
            false => all().filter_map(|check| check.apply(&subject)).collect(),
        };
        // Stable: within one outcome the causal order of the list stays.
        checks.sort_by_key(|check| std::cmp::Reverse(check.outcome));
        let verdict = Verdict::of(&checks, rounds_behind(figure, record));
        let figure = &mut record.figures[index];
        (figure.verdict, figure.checks) = (Some(verdict), checks);
    }
    explain::explain(record);
    record.findings = findings::findings(record);
}

/// What a study of HTTP servers answers: sentences from figures as they are judged, among the findings of [`judge`].
pub fn study_of_servers(record: &Record) -> Vec<figure::Finding> {
    findings::study_of_servers(record)
}

/// Kept rounds that a figure rests on: its own, or for one computed from others the fewest of theirs.
fn rounds_behind(figure: &Figure, record: &Record) -> usize {
    let own = match &figure.interval {
        // A share of samples rests on these.
        Some(interval) if figure.conditions.get(WATCHED).is_some() => interval.rounds,
        _ => figure.kept().count(),
    };
    let sources =
        figure.derived_from.iter().map(|id| record.figure(id).map_or(0, |source| source.kept().count()));
    if own > 0 { own } else { sources.min().unwrap_or(0) }
}

/// The checks of a figure that are not a pass, cause first.
pub fn reasons(figure: &Figure) -> impl Iterator<Item = &figure::CheckResult> {
    figure.checks.iter().filter(|check| check.is_reason())
}

/// Every check and relation, in causal order.
pub fn all() -> impl Iterator<Item = &'static check::Check> {
    checks::ALL.iter().copied().chain(relations::ALL.iter().copied())
}

/// The check of this name.
pub fn find(id: &str) -> Option<&'static check::Check> {
    all().find(|check| check.id == id)
}
