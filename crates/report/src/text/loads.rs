//! HTTP loads on a page.

use comfy_table::Cell;
use figure::Record;
use figure::format::plain_to;

use super::cells;
use super::page::{INDENT, Page};
use crate::loads::{self, Row, Table, WIDE};
use crate::{grid, mark, outline};

/// Characters of a mode's name at most.
const MAX_NAME: usize = 60;

/// All tables of loads, and what of them has no value.
pub(super) fn loads_of(page: &mut Page, record: &Record) {
    for table in &loads::tables(record) {
        lay(page, table);
    }
    for mode in grid::modes(record).iter().filter(|mode| mode.figures().all(loads::is_of_load)) {
        page.gap();
        for (status, reason, what) in grid::missing(mode) {
            let what = format!("{} {what}", plain_to(mode.key, MAX_NAME));
            let text = format!("{}: {}: {reason}", what.trim_end(), outline::state(status));
            page.item("-", anstyle::Style::new(), &text);
        }
    }
}

fn lay(page: &mut Page, table: &Table) {
    page.title(&table.title);
    let width = page.width();
    let shown: Vec<usize> = (0..table.columns.len()).filter(|at| table.columns[*at].least <= width).collect();
    let is_judged = table.rows.iter().any(|row| row.judged.is_some());
    let mut laid = cells::empty(page);
    let heads = shown.iter().map(|at| table.columns[*at].head.as_str());
    let verdict = if width >= WIDE { "verdict" } else { "" };
    laid.set_header(heads.chain(is_judged.then_some(verdict)).map(cells::head));
    for row in &table.rows {
        let told = shown.iter().map(|at| Cell::new(&row.cells[*at]));
        laid.add_row(told.chain(is_judged.then(|| judged(row, width))));
    }
    cells::lay(&mut laid, |at| shown.get(at).is_some_and(|at| table.columns[*at].right));
    if is_tight(table, &shown, is_judged, width) {
        laid.column_iter_mut().for_each(|column| {
            column.set_padding((0, 0));
        });
    }
    cells::print(page, &laid);
    for note in &table.notes {
        page.aside(note);
    }
}

/// Whether columns need the second space between them for themselves.
fn is_tight(table: &Table, shown: &[usize], is_judged: bool, width: usize) -> bool {
    let of = |text: &str| text.lines().map(textwrap::core::display_width).max().unwrap_or(0);
    let column = |at: &usize| {
        let cells = table.rows.iter().map(|row| of(&row.cells[*at]));
        cells.chain([of(&table.columns[*at].head)]).max().unwrap_or(0)
    };
    let contents: usize = shown.iter().map(column).sum::<usize>() + usize::from(is_judged);
    contents + 2 * shown.len() + INDENT > width && width < WIDE
}

/// The verdict: in words where there is room, else its mark.
fn judged(row: &Row, width: usize) -> Cell {
    let Some(figure) = row.judged else { return Cell::new("") };
    if width >= WIDE {
        // Without the detail, which is told under "Why not valid".
        return cells::verdict(figure, WIDE);
    }
    let cell = Cell::new(figure.verdict.map_or("", mark::of));
    figure.verdict.map_or(cell.clone(), |verdict| cell.fg(cells::colour(mark::colour(verdict))))
}
