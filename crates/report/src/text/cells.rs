//! What a cell says of a figure, and how cells make a table.

use anstyle::AnsiColor;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};
use figure::format::plain_to;
use figure::{Figure, Verdict};

use super::page::{INDENT, Page};
use crate::{mark, reasons};

/// From this width on there is room for the share of the limit.
pub(super) const WIDTH_FOR_LIMIT: usize = 52;
/// From this width on the last column keeps its words whole; below, the others need the room.
const WIDTH_FOR_WORDS: usize = 72;
/// From this width on the first reason is in the row itself; below only its name.
const WIDTH_FOR_DETAIL: usize = 132;
/// The longest detail in a row; the whole is under "Why not valid".
const MAX_DETAIL: usize = 120;

/// Columns by space alone; a rule below the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A space that no line breaks at, until it is printed.
const GLUE: char = '\u{a0}';

/// An empty table for this page.
pub(super) fn empty(page: &Page) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(page.width() - INDENT).unwrap_or(u16::MAX));
    if page.colour() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// The table onto the page.
pub(super) fn print(page: &mut Page, table: &Table) {
    for line in table.lines() {
        page.line(&format!("{:INDENT$}{}", "", line.replace(GLUE, " ")));
    }
}

/// Lays columns out: numbers stand to the right, within no more space than they need; the last is of words.
pub(super) fn lay(table: &mut Table, is_number: impl Fn(usize) -> bool) {
    let last = table.column_count().saturating_sub(1);
    if !is_number(last) {
        keep_words(table, last);
    }
    for at in 0..=last {
        let Some(column) = table.column_mut(at) else { continue };
        column.set_padding((0, if at == last { 0 } else { 1 }));
        if is_number(at) {
            column.set_constraint(ColumnConstraint::ContentWidth);
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A column that breaks no word (`placement-dependent`), where there is room, and as far as a third of it goes.
pub(super) fn keep_words(table: &mut Table, at: usize) {
    let room = table.width().unwrap_or(u16::MAX);
    if usize::from(room) + INDENT < WIDTH_FOR_WORDS {
        return;
    }
    let width = |cell: &Cell| {
        let text = cell.content();
        text.split([' ', '\n']).map(|word| word.chars().count()).max().unwrap_or_default()
    };
    let longest = table.row_iter().filter_map(|row| row.cell_iter().nth(at)).map(width).max();
    let least = longest.and_then(|longest| u16::try_from(longest).ok()).unwrap_or(u16::MAX).min(room / 3);
    if let Some(column) = table.column_mut(at) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
}

/// The head of a column.
pub(super) fn head(text: &str) -> Cell {
    Cell::new(text).add_attribute(Attribute::Dim)
}

/// `✓ valid`, `✗ invalid: array-size`, and with the detail where there is room.
pub(super) fn verdict(figure: &Figure, width: usize) -> Cell {
    let cell = Cell::new(verdict_text(figure, width));
    match figure.verdict {
        None => cell,
        Some(verdict) => {
            let cell = cell.fg(colour(mark::colour(verdict)));
            if verdict == Verdict::Invalid { cell.add_attribute(Attribute::Bold) } else { cell }
        }
    }
}

/// `✓ valid`, `✗ array-size`: the mark of a verdict, and its first reason.
pub(super) fn cause(figure: &Figure) -> Cell {
    let Some(verdict) = figure.verdict else { return Cell::new("not judged") };
    let reason = reasons::of(figure).first().map_or_else(|| verdict.to_string(), |one| plain_to(&one.id, 40));
    // They stay together: see print.
    Cell::new(format!("{}{GLUE}{reason}", mark::of(verdict))).fg(colour(mark::colour(verdict)))
}

/// The same as plain text.
pub(super) fn verdict_text(figure: &Figure, width: usize) -> String {
    let Some(mut text) = reasons::verdict(figure) else {
        return if figure.value.is_some() { "not judged".to_owned() } else { String::new() };
    };
    if let Some(reason) = reasons::of(figure).first().filter(|_| width >= WIDTH_FOR_DETAIL) {
        text.push_str(&format!(": {}", plain_to(&reason.detail, MAX_DETAIL)));
    }
    text
}

/// comfy-table's name of a colour.
pub(super) fn colour(colour: AnsiColor) -> Color {
    match colour {
        AnsiColor::Green => Color::DarkGreen,
        AnsiColor::Yellow => Color::DarkYellow,
        AnsiColor::Red => Color::DarkRed,
        AnsiColor::Cyan => Color::DarkCyan,
        _ => Color::Reset,
    }
}
