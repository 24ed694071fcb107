//! Points in words: those without a value with their reasons, and where a point stands.

use figure::Status;
use figure::format::{counted, plain, plain_to};

use super::{Column, Grid, Mode, Position};

/// Points without a value, those of the same status and reason together: which they are, in words.
pub(crate) fn missing(mode: &Mode) -> Vec<(Status, String, String)> {
    let mut groups: Vec<(Status, String, Vec<String>, usize)> = Vec::new();
    let mut tell = |status: Status, reason: &Option<String>, what: String, count: usize| {
        let reason = plain(reason.as_deref().unwrap_or("no reason was recorded"));
        match groups.iter_mut().find(|group| (group.0, &group.1) == (status, &reason)) {
            Some((_, _, told, all)) => {
                if !told.contains(&what) {
                    told.push(what);
                }
                *all += count;
            }
            None => groups.push((status, reason, vec![what], count)),
        }
    };
    for grid in &mode.grids {
        for column in &grid.columns {
            let mut kinds: Vec<(Status, &Option<String>, Vec<&Position>)> = Vec::new();
            for (row, figure) in grid.rows.iter().zip(&column.cells) {
                let Some(figure) = figure.filter(|figure| figure.value.is_none()) else { continue };
                match kinds.iter_mut().find(|kind| (kind.0, kind.1) == (figure.status, &figure.reason)) {
                    Some((.., rows)) => rows.push(row),
                    None => kinds.push((figure.status, &figure.reason, vec![row])),
                }
            }
            let planned = column.cells.iter().flatten().count();
            for (status, reason, rows) in kinds {
                let some = if rows.len() < planned { rows.as_slice() } else { &[] };
                let what = format!("{} {}", grid.name(mode.info), place(grid, column, some));
                tell(status, reason, what.trim().to_owned(), rows.len());
            }
        }
    }
    for figure in mode.derived.iter().filter(|figure| figure.value.is_none()) {
        tell(figure.status, &figure.reason, plain_to(&figure.name, 60), 1);
    }
    let all = mode.figures().count();
    let told = |told: Vec<String>, count: usize| {
        let told: Vec<String> = told.into_iter().filter(|what| !what.is_empty()).collect();
        if count == all || told.is_empty() { String::new() } else { shortened(&told) }
    };
    groups.into_iter().map(|(status, reason, what, count)| (status, reason, told(what, count))).collect()
}

/// Points in a few words: `random small at 1 GiB, 2 GiB`; without rows the whole column.
pub(crate) fn place(grid: &Grid, column: &Column, rows: &[&Position]) -> String {
    // A companion is missing where its figure is.
    let label = if grid.is_companion { "" } else { column.label.as_str() };
    let mut places = Vec::new();
    let names = match &grid.across {
        Some(across) => {
            places.push(format!("{} {label}", across.head));
            ""
        }
        None => label,
    };
    if !rows.is_empty() {
        // A size says what it is, a bare number does not.
        let is_bare = rows.iter().any(|row| row.number.is_some() && row.unit.is_none());
        let head = if is_bare || grid.across.is_some() { grid.down.head.clone() } else { String::new() };
        places.insert(0, format!("{head} {}", spanned(rows)).trim_start().to_owned());
    }
    let places = places.join(", ");
    if names.is_empty() || places.is_empty() {
        format!("{names}{places}")
    } else {
        format!("{names} at {places}")
    }
}

/// Positions in a few words: `1 GiB, 2 GiB`; `64 KiB to 4 GiB (17 points)`.
fn spanned(rows: &[&Position]) -> String {
    let labels: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    match (rows.first(), rows.last()) {
        (Some(first), Some(last)) if rows.len() > 3 && rows.iter().all(|row| row.number.is_some()) => {
            format!("{} to {} ({})", first.label, last.label, counted(rows.len(), "point"))
        }
        _ => shortened(&labels),
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
