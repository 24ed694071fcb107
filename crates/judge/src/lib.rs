//! Judging: evidence in, verdict out. Pure: no file, no clock, no hardware.
//!
//! A [`Check`](check::Check) answers one question about one figure; those in `checks/` look at the figure
//! alone (and the machine), those in `relations/` compare it with other figures of the record. The list in
//! [`checks::ALL`] is in causal order: what causes stands before what it causes, so that the first answer
//! that is not a pass names the cause.

pub mod check;
pub mod checks;
mod explain;
mod findings;
mod gate;
pub mod relations;

use figure::{Outcome, Record, Verdict};

pub use gate::gate;

/// Judges every measured figure of the record in place: checks, verdict, explanation; then the findings.
/// Judging a judged record again gives the same.
pub fn judge(record: &mut Record) {
    let judged: Vec<_> = record
        .figures
        .iter()
        .map(|figure| {
            let subject = check::Subject { figure, record };
            let mut results: Vec<_> = check::all().filter_map(|check| check.apply(&subject)).collect();
            // Stable: within one outcome the causal order of the list stays.
            results.sort_by_key(|result| std::cmp::Reverse(result.outcome));
            results
        })
        .collect();
    for (figure, checks) in record.figures.iter_mut().zip(judged) {
        let measured = figure.value.is_some();
        figure.verdict = measured.then(|| Verdict::of(&checks, figure.kept().count()));
        figure.checks = if measured { checks } else { Vec::new() };
    }
    explain::explain(record);
    record.findings = findings::findings(record);
}

/// The checks of a figure that are not a pass, cause first.
pub fn reasons(figure: &figure::Figure) -> impl Iterator<Item = &figure::CheckResult> {
    figure.checks.iter().filter(|check| {
        matches!(check.outcome, Outcome::Fail | Outcome::Warn)
            || (check.essential && check.outcome == Outcome::Unknown)
    })
}
