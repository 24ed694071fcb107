//! What goes beside the values of a table of curves: what is worth its room on this page.

use figure::Verdict;

use super::cells::{self, WIDTH_FOR_LIMIT};
use super::page::INDENT;
use crate::grid::{Column, Grid};
use crate::tables::section;

/// Columns between two columns of a table.
pub(super) const GAP: usize = 2;
/// A shorter bar shows nothing.
const MIN_BAR: usize = 8;
/// In a longer one the eye loses its row.
const MAX_BAR: usize = 30;

/// A column of text.
#[derive(Clone)]
pub(super) struct Text {
    pub head: String,
    /// Whether it is aligned to the right, as numbers are.
    pub right: bool,
    /// Its cells with the verdict that colours them.
    pub cells: Vec<(String, Option<Verdict>)>,
}

impl Text {
    /// A column of words or numbers without colours.
    pub(super) fn of(head: &str, right: bool, cells: impl Iterator<Item = String>) -> Text {
        Text { head: head.to_owned(), right, cells: cells.map(|cell| (cell, None)).collect() }
    }

    pub(super) fn width(&self) -> usize {
        let width = |text: &str| text.lines().map(textwrap::core::display_width).max().unwrap_or(0);
        self.cells.iter().map(|(cell, _)| width(cell)).chain([width(&self.head)]).max().unwrap_or(0)
    }
}

/// What goes beside the values.
pub(super) struct Plan {
    /// Columns with half the interval.
    pub intervals: bool,
    /// A column with the share of the limit.
    pub limit: bool,
    /// The length of bars; 0 for none.
    pub bar: usize,
    /// How many of the columns have bars.
    pub barred: usize,
    /// A column with verdicts, for the only series.
    pub verdicts: bool,
}

impl Plan {
    pub(super) fn of(grid: &Grid, part: &[(&Column, &Text)], rows: &[usize], room: usize) -> Self {
        let count = part.len();
        let values: usize = part.iter().map(|(_, text)| GAP + text.width()).sum();
        let left = room.saturating_sub(values);
        // Bars compare along a column; a matrix is read in both directions.
        let barred = if grid.across.is_some() {
            0
        } else if grid.is_companion {
            1
        } else {
            count
        };
        if grid.columns.len() == 1 {
            let figures = || rows.iter().filter_map(|row| part[0].0.cells[*row]);
            let limit = room + INDENT >= WIDTH_FOR_LIMIT && figures().any(|figure| figure.limit.is_some());
            let verdict =
                figures().map(|figure| cells::verdict_text(figure, 0).chars().count()).max().unwrap_or(0);
            let interval =
                figures().map(|figure| section::half_width(figure).chars().count()).max().unwrap_or(0);
            let fixed = GAP + interval + if limit { GAP + 5 } else { 0 } + GAP + verdict;
            let bar = left.saturating_sub(fixed + GAP).min(MAX_BAR);
            let bar = if bar >= MIN_BAR { bar } else { 0 };
            return Plan { intervals: true, limit, bar, barred, verdicts: true };
        }
        let interval: usize = part.iter().map(|(column, _)| GAP + interval_width(column, rows)).sum();
        let bars = |left: usize| match left.checked_div(barred) {
            Some(share) if share >= GAP + MIN_BAR => (share - GAP).min(MAX_BAR),
            _ => 0,
        };
        // Bars first, then intervals beside them; without bars intervals if there is room.
        let with_both = bars(left.saturating_sub(interval));
        let intervals = grid.across.is_none() && (with_both > 0 || (bars(left) == 0 && interval <= left));
        let bar = if intervals { with_both } else { bars(left) };
        Plan { intervals, limit: false, bar, barred, verdicts: false }
    }
}

fn interval_width(column: &Column, rows: &[usize]) -> usize {
    let figures = rows.iter().filter_map(|row| column.cells[*row]);
    figures.map(|figure| section::half_width(figure).chars().count()).max().unwrap_or(0).max(1)
}
