//! HTTP loads as tables: one for each goal, and where a request's CPU time goes.

use figure::evidence::audit::TOOL;
use figure::evidence::http as key;
use figure::format::plain_to;
use figure::{Figure, Record, Verdict};
use suites::loads::{self, Load, Quantity};

use crate::tables::{Column, Row, Table};

mod asked;
mod goals;
mod search;
mod split;

/// The longest name of a server that is shown.
const MAX_SERVER: usize = 16;
/// From this width of a page on the verdict of a load is in words.
const WIDE: usize = 112;

/// Whether a figure is shown by these tables. What other tools printed of a load is not.
pub(crate) fn is_of_load(figure: &Figure) -> bool {
    figure.conditions.get(key::WHAT).is_some() && figure.conditions.get(TOOL).is_none()
}

/// Whether a figure was computed from a load.
pub(crate) fn is_computed(figure: &Figure) -> bool {
    is_of_load(figure) && !figure.derived_from.is_empty()
}

/// All tables of a record, in the order in which they are read; none if it holds no load.
pub(crate) fn tables(record: &Record) -> Vec<Table<'_>> {
    let loads = loads::loads(record);
    let ceilings = loads::ceilings(record);
    let mut tables = goals::tables(&loads, &ceilings);
    tables.extend(search::tables(&loads));
    tables.extend(loads.iter().filter(|load| load.goal() == loads::ASKED).flat_map(asked::tables));
    tables.extend(split::buckets(&loads));
    tables.iter_mut().for_each(|table| table.words_from = WIDE);
    tables
}

/// A name of a server, untrusted, as it is shown.
fn server(load: &Load) -> String {
    plain_to(&load.server(), MAX_SERVER)
}

/// A value with three digits, as far as that says something: `0.08`, `2.32`, `12.3`, `445`.
fn three(value: f64) -> String {
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
fn whole(value: f64) -> String {
    if value.abs() >= 1e8 { format!("{value:.1e}") } else { format!("{value:.0}") }
}

/// The value of a quantity, if it has one.
fn value(load: &Load, quantity: Quantity) -> Option<f64> {
    load.figure(quantity)?.value
}

/// A value, or that there is none; with the mark of its verdict where that is worse than the load's own.
fn cell(load: &Load, quantity: Quantity, show: impl Fn(f64) -> String) -> String {
    let Some(figure) = load.figure(quantity) else { return String::new() };
    let Some(value) = figure.value else { return "—".to_owned() };
    let worse = figure.verdict.max(load.rate.verdict) != load.rate.verdict;
    let mark = figure.verdict.filter(|verdict| worse && *verdict == Verdict::Invalid);
    format!("{}{}", show(value), mark.map_or("", crate::mark::of))
}

/// Half of an interval as a share of its value, in few columns.
fn half(figure: &Figure) -> String {
    let share = figure.interval.as_ref().zip(figure.value);
    match share.map(|(interval, value)| interval.relative_half_width(value)) {
        Some(share) if share >= 9.995 => ">999%".to_owned(),
        Some(share) if share >= 0.0095 => format!("{:.0}%", share * 100.0),
        Some(_) => "<1%".to_owned(),
        None => "—".to_owned(),
    }
}

/// The rate as a share of what the client reaches with the null responder.
fn of_ceiling(load: &Load) -> String {
    let limit = load.rate.limit.as_ref().filter(|limit| load.is_closed() && limit.value > 0.0);
    limit
        .zip(load.rate.value)
        .map_or_else(String::new, |(limit, value)| format!("{:.0}%", value / limit.value * 100.0))
}
