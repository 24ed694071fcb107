//! A section of figures as a table.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Width};
use figure::evidence::INDEX;
use figure::format::{number, plain_to};

use super::cells::{self, WIDTH_FOR_LIMIT};
use super::page::Page;
use crate::digits::{MAX_UNIT, decimals, fixed, rounds_cell};
use crate::outline::{Row, Section};

/// From this width on there is room for how a figure compares with its partner, and for its index.
const WIDTH_FOR_GAIN: usize = 72;
/// From this width on there is room for the best sample and the number of rounds.
const WIDTH_FOR_BEST: usize = 96;

/// A column: its head, where it stands in its cell, and what it says of a figure.
struct Column<'a> {
    head: String,
    right: bool,
    cell: Box<dyn Fn(&Row) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn right(head: impl Into<String>, cell: impl Fn(&Row) -> String + 'a) -> Self {
        Column { head: head.into(), right: true, cell: Box::new(cell) }
    }

    fn left(head: impl Into<String>, cell: impl Fn(&Row) -> String + 'a) -> Self {
        Column { head: head.into(), right: false, cell: Box::new(cell) }
    }
}

pub(super) fn table(page: &mut Page, section: &Section) {
    page.title(&section.title);
    let columns = columns(section, page.width());

    let mut table = cells::empty(page);
    table.set_header(columns.iter().map(|column| column.head.as_str()).chain(["verdict"]).map(cells::head));
    let mut above: Option<&str> = None;
    for row in &section.rows {
        let mut cells: Vec<Cell> = columns.iter().map(|column| Cell::new((column.cell)(row))).collect();
        // A kernel's name once, for all its rows.
        let name = row.labels.first().map(String::as_str);
        if row.labels.len() > 1 && name == above {
            cells[0] = Cell::new("");
        }
        above = name;
        cells.push(cells::verdict(row.figure, page.width()));
        table.add_row(cells);
    }
    for (at, column) in columns.iter().enumerate() {
        let Some(laid) = table.column_mut(at) else { continue };
        laid.set_padding((0, 1));
        if column.right {
            laid.set_cell_alignment(CellAlignment::Right);
        }
        // Numbers are never broken; labels only where they would leave no room for the numbers.
        let labels = u16::try_from(section.heads.len().max(1)).unwrap_or(u16::MAX);
        let constraint = if column.right {
            ColumnConstraint::ContentWidth
        } else {
            ColumnConstraint::UpperBoundary(Width::Percentage(50 / labels))
        };
        laid.set_constraint(constraint);
    }
    cells::keep_words(&mut table, columns.len());
    if let Some(last) = table.column_mut(columns.len()) {
        last.set_padding((0, 0));
    }
    cells::print(page, &table);
    if section.headline {
        let figures = section.rows.iter().map(|row| row.figure);
        cells::limits(page, figures, decimals(section), "by what each counts");
    }
}

/// UnixBench's index of the figure.
fn index(row: &Row) -> Option<f64> {
    row.figure.evidence.get(INDEX).into_value()
}

/// The columns that are worth their room, before the verdict.
fn columns<'a>(section: &'a Section, width: usize) -> Vec<Column<'a>> {
    let any = |has: fn(&Row) -> bool| section.rows.iter().any(has);
    let decimals = decimals(section);
    let mut columns: Vec<Column> = section
        .heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            Column::left(head.as_str(), move |row| row.labels.get(at).cloned().unwrap_or_default())
        })
        .collect();
    let unit = section.unit;
    columns.push(Column::right(
        unit.map_or("value".to_owned(), |unit| plain_to(unit.symbol(), MAX_UNIT)),
        move |row| row.figure.value.map_or("—".to_owned(), |value| fixed(value, decimals)),
    ));
    if unit.is_none() {
        columns.push(Column::left("unit", |row| plain_to(row.figure.unit.symbol(), MAX_UNIT)));
    }
    columns.push(Column::right("±", |row| cells::half_width(row.figure)));
    if width >= WIDTH_FOR_LIMIT && any(|row| row.figure.limit.is_some()) {
        columns.push(Column::right("limit", |row| cells::of_limit(row.figure)));
    }
    // Beside an index the ratio is told in words, where there is no room for both.
    let is_indexed = any(|row| index(row).is_some());
    let for_gain = if is_indexed { WIDTH_FOR_BEST } else { WIDTH_FOR_GAIN };
    if width >= for_gain && any(|row| row.gain.is_some()) {
        columns.push(Column::right(section.gain, |row| {
            row.gain.map_or(String::new(), |gain| format!("×{}", number(gain)))
        }));
    }
    if width >= WIDTH_FOR_GAIN && is_indexed {
        columns.push(Column::right("index", |row| {
            index(row).map_or(String::new(), |index| fixed(index, Some(1)))
        }));
    }
    if width >= WIDTH_FOR_BEST {
        if any(|row| row.figure.best.is_some()) {
            columns.push(Column::right("best", move |row| {
                row.figure.best.map_or("—".to_owned(), |best| fixed(best, decimals))
            }));
        }
        columns.push(Column::right("rounds", |row| rounds_cell(row.figure)));
    }
    columns
}
