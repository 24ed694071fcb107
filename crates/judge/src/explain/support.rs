//! What the files of rules share: `use super::support::*`.

pub(super) use figure::evidence::*;
pub(super) use figure::{Figure, Record, Unit, stats};

pub(super) use crate::cases::*;
pub(super) use crate::check::Subject;
pub(super) use crate::relations::partner::{is_headline, same_arrays, same_setting};
pub(super) use crate::relations::traffic::{StorePair, per_counted, traffic};
pub(super) use crate::values::*;

/// [`crate::relations::partner::find`], among usable figures.
pub(super) fn partner<'a>(
    subject: &Subject<'a>,
    kernel: &str,
    stores: &str,
    role: Option<&str>,
) -> Option<&'a Figure> {
    crate::relations::partner::find(subject, kernel, stores, role).filter(|figure| figure.is_usable())
}

pub(super) fn pair<'a>(subject: &Subject<'a>) -> Option<StorePair<'a>> {
    StorePair::of(subject).filter(|pair| pair.regular.is_usable() && pair.nt.is_usable())
}

pub(super) fn traffic_amount(figure: &Figure) -> Option<Amount> {
    traffic(figure).map(|value| Amount::like(figure, value))
}

pub(super) fn cited_traffic(figure: &Figure) -> Option<Cited> {
    Some(Cited { figure: figure.id.clone(), amount: traffic_amount(figure)? })
}

/// The usable figures of the record, without the subject's.
pub(super) fn others<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Figure> {
    let own = subject.figure;
    subject.record.figures.iter().filter(move |other| other.is_usable() && !std::ptr::eq(*other, own))
}

/// Whether a condition of the figure is this word.
pub(super) fn is(figure: &Figure, condition: Key<String>, word: &str) -> bool {
    figure.conditions.get(condition).as_deref() == Some(word)
}

/// Whether two figures have the same condition, or both none.
pub(super) fn same<T: FactType + PartialEq>(a: &Figure, b: &Figure, condition: Key<T>) -> bool {
    a.conditions.get(condition) == b.conditions.get(condition)
}

/// The figure with the highest value.
pub(super) fn highest<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<&'a Figure> {
    figures.max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// The other headline under the same conditions with the most traffic among those that `fit`.
pub(super) fn most_traffic<'a>(subject: &Subject<'a>, fit: impl Fn(&Figure) -> bool) -> Option<&'a Figure> {
    others(subject)
        .filter(|other| is_headline(other) && same_setting(other, subject.figure))
        .filter(|other| same_arrays(other, subject.figure) && fit(other))
        .max_by(|a, b| traffic(a).unwrap_or(0.0).total_cmp(&traffic(b).unwrap_or(0.0)))
}

/// Whether the figure's traffic is what it counts, not an estimate.
pub(super) fn is_certain(figure: &Figure) -> bool {
    per_counted(figure) == Some(1.0)
}

/// Whether `a` and `b` differ by at most `tolerance` of `b`.
pub(super) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a / b - 1.0).abs() <= tolerance
}

/// A clock that differs by less, as a share, is the same: half of what the check of the frequency warns of.
pub(super) const SAME_CLOCK: f64 = 0.025;

/// GHz, by the canary before each round.
pub(super) fn clock(figure: &Figure) -> Option<f64> {
    stats::median(&figure.over_rounds(CANARY_BEFORE).into_value()?)
}
