//! What the files of findings share: `use super::support::*`.

pub(super) use figure::evidence::*;
pub(super) use figure::{Explanation, Figure, Record, Severity, Unit, stats};

pub(super) use crate::cases::*;
pub(super) use crate::check::Subject;
pub(super) use crate::values::*;

/// A finding about these figures.
pub(super) fn finding(
    severity: Severity,
    rule: &str,
    case: impl Into<Case>,
    about: &[&Figure],
) -> Explanation {
    case.into().explanation(rule, severity, about.iter().map(|figure| figure.id.clone()).collect())
}

/// One that explains.
pub(super) fn note(rule: &str, case: impl Into<Case>, about: &[&Figure]) -> Explanation {
    finding(Severity::Note, rule, case, about)
}

/// One without which figures may mislead.
pub(super) fn warning(rule: &str, case: impl Into<Case>, about: &[&Figure]) -> Explanation {
    finding(Severity::Warning, rule, case, about)
}

pub(super) fn fact(figure: &Figure, key: Key<f64>) -> Option<f64> {
    figure.evidence.get(key).into_value()
}

/// A condition that is not empty.
pub(super) fn text(figure: &Figure, key: Key<String>) -> Option<String> {
    figure.conditions.get(key).filter(|text| !text.is_empty())
}

/// The figure, if it has a value.
pub(super) fn measured<'a>(record: &'a Record, id: &str) -> Option<&'a Figure> {
    record.figure(id).filter(|figure| figure.value.is_some())
}

/// A text without its full stop.
pub(super) fn sentence(text: &str) -> &str {
    text.trim_end_matches('.')
}
