//! Single figures of a suite as a table.

use figure::Figure;
use figure::evidence::INDEX;
use figure::format::{number, percent, plain, plain_to};

use super::{Column, Kind, Row, Table};
use crate::digits::{MAX_UNIT, decimals, fixed, rounds_cell};
use crate::outline::{self, Section};

/// From these widths on there is room for a share of the limit, a ratio or an index, the best sample and the rounds, and
/// the interval in numbers.
const FOR_LIMIT: usize = 52;
const FOR_GAIN: usize = 72;
const FOR_BEST: usize = 96;
const FOR_INTERVAL: usize = 150;
/// The most limits that are listed.
const MAX_LIMITS: usize = 4;

/// A column with what it says of a figure.
type Described<'a> = (Column, Box<dyn Fn(&outline::Row) -> String + 'a>);

/// The table of a section.
pub(crate) fn table<'a>(section: &Section<'a>) -> Table<'a> {
    let columns = columns(section);
    let rows =
        section.rows.iter().map(|row| Row::judged(columns.iter().map(|(_, cell)| cell(row)), row.figure));
    let rows = rows.collect();
    let figures = section.rows.iter().map(|row| row.figure);
    Table {
        title: section.title.clone(),
        columns: columns.into_iter().map(|(column, _)| column).collect(),
        rows,
        notes: if section.headline {
            limits(figures, decimals(section), "by what each counts")
        } else {
            Vec::new()
        },
        words_from: 0,
        is_grouped: section.heads.len() > 1,
        is_short: false,
    }
}

fn columns<'a>(section: &'a Section<'_>) -> Vec<Described<'a>> {
    let any = |has: fn(&outline::Row) -> bool| section.rows.iter().any(has);
    let decimals = decimals(section);
    let label = |(at, head): (usize, &String)| -> Described {
        let cell = move |row: &outline::Row| row.labels.get(at).cloned().unwrap_or_default();
        (Column::words(head.as_str(), 0), Box::new(cell))
    };
    let mut columns: Vec<Described> = section.heads.iter().enumerate().map(label).collect();
    let unit = section.unit.map_or("value".to_owned(), |unit| plain_to(unit.symbol(), MAX_UNIT));
    let value =
        move |row: &outline::Row| row.figure.value.map_or("—".to_owned(), |value| fixed(value, decimals));
    columns.push((Column { head: unit, kind: Kind::Values, least: 0 }, Box::new(value)));
    if section.unit.is_none() {
        columns
            .push((Column::words("unit", 0), Box::new(|row| plain_to(row.figure.unit.symbol(), MAX_UNIT))));
    }
    columns.push((Column::numbers("±", 0), Box::new(|row| half_width(row.figure))));
    columns.push((
        Column::numbers("95 % interval", FOR_INTERVAL),
        Box::new(move |row| interval(row.figure, decimals)),
    ));
    if any(|row| row.figure.limit.is_some()) {
        let column = Column { head: "limit".to_owned(), kind: Kind::Shares, least: FOR_LIMIT };
        columns.push((column, Box::new(|row| of_limit(row.figure))));
    }
    let is_indexed = any(|row| index(row).is_some());
    if any(|row| row.gain.is_some()) {
        // Beside an index the ratio is in words, where there is no room for both.
        let least = if is_indexed { FOR_BEST } else { FOR_GAIN };
        let gain = |row: &outline::Row| row.gain.map_or(String::new(), |gain| format!("×{}", number(gain)));
        columns.push((Column::numbers(section.gain, least), Box::new(gain)));
    }
    if is_indexed {
        let index = |row: &outline::Row| index(row).map_or(String::new(), |index| fixed(index, Some(1)));
        columns.push((Column::numbers("index", FOR_GAIN), Box::new(index)));
    }
    if any(|row| row.figure.best.is_some()) {
        let best =
            move |row: &outline::Row| row.figure.best.map_or("—".to_owned(), |best| fixed(best, decimals));
        columns.push((Column::numbers("best", FOR_BEST), Box::new(best)));
    }
    columns.push((Column::numbers("rounds", FOR_BEST), Box::new(|row| rounds_cell(row.figure))));
    columns
}

/// UnixBench's index of the figure.
fn index(row: &outline::Row) -> Option<f64> {
    row.figure.evidence.get(INDEX).into_value()
}

/// Half the interval, as a share of the value.
pub(crate) fn half_width(figure: &Figure) -> String {
    let share = figure.interval.as_ref().zip(figure.value);
    match share.map(|(interval, value)| interval.relative_half_width(value)) {
        Some(share) if share.is_finite() => bounded_percent(share),
        _ => "—".to_owned(),
    }
}

/// `28.1 to 29.0`, with the decimals of a column.
pub(crate) fn interval(figure: &Figure, decimals: Option<usize>) -> String {
    figure.interval.as_ref().map_or("—".to_owned(), |interval| {
        format!("{} to {}", fixed(interval.low, decimals), fixed(interval.high, decimals))
    })
}

/// The value as a share of its limit.
pub(crate) fn of_limit(figure: &Figure) -> String {
    match (&figure.limit, figure.value) {
        (Some(limit), Some(value)) if limit.value != 0.0 => bounded_percent(value / limit.value),
        _ => "—".to_owned(),
    }
}

/// A share that a column has room for.
pub(crate) fn bounded_percent(share: f64) -> String {
    if share.abs() < 10.0 { percent(share) } else { ">999 %".to_owned() }
}

/// The limits of figures, each basis once; where one basis gives several, `why` says from what to what.
pub(crate) fn limits<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    decimals: Option<usize>,
    why: &str,
) -> Vec<String> {
    let mut bases: Vec<(String, String, f64, f64)> = Vec::new();
    for figure in figures.filter(|figure| figure.value.is_some()) {
        let Some(limit) = &figure.limit else { continue };
        let (basis, unit) = (plain(&limit.basis), plain_to(figure.unit.symbol(), MAX_UNIT));
        match bases.iter_mut().find(|known| (&known.0, &known.1) == (&basis, &unit)) {
            Some((_, _, low, high)) => (*low, *high) = (low.min(limit.value), high.max(limit.value)),
            None => bases.push((basis, unit, limit.value, limit.value)),
        }
    }
    let more = bases.len().saturating_sub(MAX_LIMITS);
    let shown = bases.iter().take(MAX_LIMITS).map(|(basis, unit, low, high)| {
        let (low, high) = (fixed(*low, decimals), fixed(*high, decimals));
        match low == high {
            true => format!("limit: {high} {unit}, {basis}"),
            false => format!("limit: {low} to {high} {unit} {why}, {basis}"),
        }
    });
    shown.chain((more > 0).then(|| format!("and {more} more limits"))).collect()
}
