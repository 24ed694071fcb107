//! Points in words: those without a value with their reasons, and the place of a point.

use figure::format::{counted, plain, plain_to};
use figure::{Figure, Status};

use super::mode::{Column, Grid, Mode, Position};
use crate::groups;

/// Points without a value, those of the same status and reason together: their places, in words.
pub(crate) fn missing(mode: &Mode) -> Vec<(Status, String, String)> {
    let reason = |figure: &Figure| plain(figure.reason.as_deref().unwrap_or("no reason was recorded"));
    let mut places: Vec<((Status, String), (String, usize))> = Vec::new();
    for (grid, column) in mode.grids.iter().flat_map(|grid| grid.columns.iter().map(move |c| (grid, c))) {
        let missing = grid.rows.iter().zip(&column.cells).filter_map(|(row, figure)| {
            let figure = figure.filter(|figure| figure.value.is_none())?;
            Some(((figure.status, reason(figure)), row))
        });
        let planned = column.cells.iter().flatten().count();
        for (kind, rows) in groups::in_order(missing) {
            let some = if rows.len() < planned { rows.as_slice() } else { &[] };
            let place = format!("{} {}", grid.name(mode.info), place(grid, column, some));
            places.push((kind, (place.trim().to_owned(), rows.len())));
        }
    }
    let derived = mode.derived.iter().filter(|figure| figure.value.is_none());
    places.extend(derived.map(|f| ((f.status, reason(f)), (plain_to(&f.name, 60), 1))));
    let all = mode.figures().count();
    let groups = groups::in_order(places).into_iter().map(|((status, reason), places)| {
        let count: usize = places.iter().map(|(_, count)| count).sum();
        let places = groups::in_order(places.into_iter().filter(|(place, _)| !place.is_empty()));
        let places: Vec<String> = places.into_iter().map(|(place, _)| place).collect();
        (status, reason, if count == all { String::new() } else { shortened(&places) })
    });
    groups.collect()
}

/// Points in a few words: `random small at 1 GiB, 2 GiB`; without rows the whole column.
pub(crate) fn place(grid: &Grid, column: &Column, rows: &[&Position]) -> String {
    // A companion is missing where its figure is.
    let label = if grid.is_companion { "" } else { column.label.as_str() };
    let mut places = Vec::new();
    if !rows.is_empty() {
        // A size says what it is, a bare number does not.
        let is_bare = rows.iter().any(|row| row.number.is_some() && row.unit.is_none());
        let head = if is_bare || grid.across.is_some() { grid.down.head.as_str() } else { "" };
        places.push(format!("{head} {}", spanned(rows)).trim_start().to_owned());
    }
    places.extend(grid.across.iter().map(|across| format!("{} {label}", across.head)));
    let name = if grid.across.is_some() { "" } else { label };
    match (name, places.join(", ")) {
        ("", places) => places,
        (name, places) if places.is_empty() => name.to_owned(),
        (name, places) => format!("{name} at {places}"),
    }
}

/// Positions in a few words: `1 GiB, 2 GiB`; `64 KiB to 4 GiB (17 points)`.
fn spanned(rows: &[&Position]) -> String {
    match rows {
        [first, _, _, .., last] if rows.iter().all(|row| row.number.is_some()) => {
            format!("{} to {} ({})", first.label, last.label, counted(rows.len(), "point"))
        }
        rows => shortened(&rows.iter().map(|row| row.label.clone()).collect::<Vec<_>>()),
    }
}

/// A list, cut where it becomes long.
fn shortened(words: &[String]) -> String {
    const MOST: usize = 6;
    if words.len() > MOST {
        format!("{} and {} more", words[..MOST - 1].join(", "), words.len() - MOST + 1)
    } else {
        words.join(", ")
    }
}
