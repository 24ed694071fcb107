//! Single figures as bars against their limits: bandwidths against the peak, rates against a ceiling.

use super::chart::Chart;
use super::modes;
use crate::grid::{Column, Grid, Mode, Position};
use crate::names::Axis;
use crate::outline::Section;

/// Values further apart than this factor have no common scale.
const FARTHEST: f64 = 50.0;

/// A section as bars, if its figures are several of one unit and can be compared by length.
pub(super) fn charts(section: &Section) -> Vec<Chart> {
    let values = || section.rows.iter().filter_map(|row| row.figure.value);
    let (low, high) = values().fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if section.unit.is_none() || values().count() < 2 || low <= 0.0 || high / low > FARTHEST {
        return Vec::new();
    }
    let rows = section.rows.iter().map(|row| {
        let labels: Vec<&str> = row.labels.iter().map(String::as_str).filter(|l| !l.is_empty()).collect();
        Position::named(labels.join(", "))
    });
    let cells = section.rows.iter().map(|row| Some(row.figure)).collect();
    let grid = Grid {
        down: Axis { title: "figure".to_owned(), ..Axis::default() },
        rows: rows.collect(),
        columns: vec![Column { label: String::new(), unit: section.unit, cells }],
        ..Grid::default()
    };
    modes::charts(&Mode { key: &section.title, info: None, grids: vec![grid], derived: Vec::new() })
}
