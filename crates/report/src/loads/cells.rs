//! Cells of the tables of loads.

use figure::format::plain_to;
use figure::{Figure, Verdict};
use suites::loads::{Load, Quantity};

/// The longest name of a server that is shown.
const MAX_SERVER: usize = 16;
/// In the place of a value that is missing.
pub(super) const NONE: &str = "—";

/// A name of a server, untrusted, as it is shown.
pub(super) fn server(load: &Load) -> String {
    plain_to(&load.server(), MAX_SERVER)
}

/// A value, or that there is none.
pub(super) fn or_none(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

/// A value with three digits, as far as that says something: `0.08`, `2.32`, `12.3`, `445`.
pub(super) fn three(value: f64) -> String {
    match value.abs() {
        v if v >= 1e7 => format!("{value:.1e}"),
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.01 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => "<0.01".to_owned(),
    }
}

/// A whole number; of one that no column bears its magnitude.
pub(super) fn whole(value: f64) -> String {
    if value.abs() >= 1e8 { format!("{value:.1e}") } else { format!("{value:.0}") }
}

/// The value of a quantity, if it has one.
pub(super) fn value(load: &Load, quantity: Quantity) -> Option<f64> {
    load.figure(quantity)?.value
}

/// A value, or that there is none; with the mark of its verdict where that is worse than the load's own.
pub(super) fn cell(load: &Load, quantity: Quantity, show: impl Fn(f64) -> String) -> String {
    let Some(figure) = load.figure(quantity) else { return String::new() };
    let Some(value) = figure.value else { return NONE.to_owned() };
    let worse = figure.verdict.max(load.rate.verdict) != load.rate.verdict;
    let mark = figure.verdict.filter(|verdict| worse && *verdict == Verdict::Invalid);
    format!("{}{}", show(value), mark.map_or("", crate::mark::of))
}

/// Half of an interval as a share of its value, in few columns.
pub(super) fn half(figure: &Figure) -> String {
    let share = figure.interval.as_ref().zip(figure.value);
    match share.map(|(interval, value)| interval.relative_half_width(value)) {
        Some(share) if share >= 9.995 => ">999%".to_owned(),
        Some(share) if share >= 0.0095 => format!("{:.0}%", share * 100.0),
        Some(_) => "<1%".to_owned(),
        None => NONE.to_owned(),
    }
}

/// The rate as a share of what the client reaches with the null responder.
pub(super) fn of_ceiling(load: &Load) -> String {
    let limit = load.rate.limit.as_ref().filter(|limit| load.is_closed() && limit.value > 0.0);
    let share = limit.zip(load.rate.value).map(|(limit, value)| value / limit.value);
    share.map_or_else(String::new, |share| format!("{:.0}%", share * 100.0))
}
