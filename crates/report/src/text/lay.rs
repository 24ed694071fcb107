//! Tables on a page of text.

use comfy_table::{Cell, ColumnConstraint, Width};

use super::cells;
use super::page::{INDENT, Page};
use crate::mark;
use crate::tables::{Row, Table};

/// From this width on, no column needs the second space between columns for itself.
const WIDE: usize = 112;

/// Labels up to this width, in columns, are never broken.
const SHORT: usize = 16;

/// The table with the columns that the page has room for.
pub(super) fn table(page: &mut Page, table: &Table) {
    if !table.title.is_empty() {
        page.title(&table.title);
    }
    let width = page.width();
    let shown: Vec<usize> = (0..table.columns.len()).filter(|at| table.columns[*at].least <= width).collect();
    if !table.rows.is_empty() {
        rows(page, table, &shown);
    }
    for note in &table.notes {
        page.aside(note);
    }
}

fn rows(page: &mut Page, table: &Table, shown: &[usize]) {
    let (width, is_judged) = (page.width(), table.is_judged());
    let mut laid = cells::empty(page);
    let heads = shown.iter().map(|at| table.columns[*at].head.as_str());
    let verdict = if width >= table.words_from { "verdict" } else { "" };
    laid.set_header(heads.chain(is_judged.then_some(verdict)).map(cells::head));
    let mut above: Option<&str> = None;
    for row in &table.rows {
        let first = row.cells.first().map(String::as_str);
        let is_repeated = table.is_grouped && first == above;
        above = first;
        let cell = |at: &usize| Cell::new(if is_repeated && *at == 0 { "" } else { &row.cells[*at] });
        laid.add_row(shown.iter().map(cell).chain(is_judged.then(|| judged(row, table, width))));
    }
    let is_right = |at: usize| shown.get(at).is_some_and(|at| table.columns[*at].is_right());
    cells::lay(&mut laid, is_right);
    // Labels are broken only where they would leave no room for the numbers.
    let is_long = |at: &usize| longest(table, shown[*at]) > SHORT;
    let labels: Vec<usize> = (0..shown.len()).filter(|at| !is_right(*at)).filter(is_long).collect();
    let share = u16::try_from(50 / labels.len().max(1)).unwrap_or(u16::MAX);
    for at in labels.iter().filter(|at| is_judged || **at + 1 < shown.len()) {
        if let Some(column) = laid.column_mut(*at) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(share)));
        }
    }
    if is_tight(table, shown, is_judged, width) {
        laid.column_iter_mut().for_each(|column| {
            column.set_padding((0, 0));
        });
    }
    cells::print(page, &laid);
}

/// The width of a column's widest line.
fn longest(table: &Table, at: usize) -> usize {
    let width = |text: &str| text.lines().map(textwrap::core::display_width).max().unwrap_or(0);
    let cells = table.rows.iter().map(|row| width(&row.cells[at]));
    cells.chain([width(&table.columns[at].head)]).max().unwrap_or(0)
}

/// Whether columns need the second space between them for themselves.
fn is_tight(table: &Table, shown: &[usize], is_judged: bool, width: usize) -> bool {
    let contents = shown.iter().map(|at| longest(table, *at)).sum::<usize>() + usize::from(is_judged);
    table.words_from > 0 && contents + 2 * shown.len() + INDENT > width && width < WIDE
}

/// The verdict: in words where there is room, else its mark.
fn judged(row: &Row, table: &Table, width: usize) -> Cell {
    let Some(figure) = row.judged else { return Cell::new("") };
    if table.is_short {
        return cells::cause(figure);
    }
    if width >= table.words_from {
        // On the wide pages of such tables, the detail has its place under "Why not valid".
        return cells::verdict(figure, if table.words_from > 0 { table.words_from } else { width });
    }
    let cell = Cell::new(figure.verdict.map_or("", mark::of));
    figure.verdict.map_or(cell.clone(), |verdict| cell.fg(cells::colour(mark::colour(verdict))))
}
