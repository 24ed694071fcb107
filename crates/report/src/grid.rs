//! The figures of a mode laid out: positions on an axis downwards, series (or a second axis) across.
//!
//! Text, Markdown and charts show the same grids, so that a point is found at the same place in each of them.

use figure::series::{SeriesInfo, mode_of};
use figure::{Figure, Record};

use crate::groups;
use crate::names;

mod layout;
mod missing;
mod mode;

pub(crate) use layout::merged;
pub(crate) use missing::{missing, place};
pub(crate) use mode::{Column, Grid, Mode, Position};

/// The modes of a record whose figures form curves, matrices or lists of their own, in the record's order.
pub(crate) fn modes(record: &Record) -> Vec<Mode<'_>> {
    let figures = record.figures.iter().filter_map(|figure| Some((key(record, figure)?, figure)));
    let modes = groups::in_order(figures).into_iter();
    modes.map(|(key, figures)| mode(key, names::info(record, key), &figures)).collect()
}

/// The mode that a figure is shown with; `None` for single figures, which have tables of their own.
pub(crate) fn key<'a>(record: &'a Record, figure: &'a Figure) -> Option<&'a str> {
    // Baselines and controls stand apart.
    if figure.is_control() {
        return None;
    }
    if let Some(series) = &figure.series {
        return Some(mode_of(series));
    }
    let key = mode_of(&figure.id);
    let has_series = |other: &Figure| other.series.as_deref().is_some_and(|s| mode_of(s) == key);
    (names::info(record, key).is_some() || record.figures.iter().any(has_series)).then_some(key)
}

fn mode<'a>(key: &'a str, info: Option<&'a SeriesInfo>, figures: &[&'a Figure]) -> Mode<'a> {
    let all = || figures.iter().copied();
    let series = groups::in_order(all().filter_map(|figure| Some((figure.series.as_deref()?, figure))));
    let (single, derived): (Vec<&Figure>, Vec<&Figure>) =
        all().filter(|figure| figure.series.is_none()).partition(|figure| figure.derived_from.is_empty());
    let mut grids = layout::curves(info, &series);
    grids.extend(layout::list(key, &single));
    Mode { key, info, grids, derived }
}
