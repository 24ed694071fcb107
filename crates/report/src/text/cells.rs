//! What a cell says of a figure, and how cells make a table.

use anstyle::AnsiColor;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};
use figure::format::{percent, plain, plain_to};
use figure::{Figure, Verdict};

use super::page::{INDENT, Page};
use crate::digits::{MAX_UNIT, fixed};
use crate::{mark, reasons};

/// From this width on there is room for the share of the limit.
pub(super) const WIDTH_FOR_LIMIT: usize = 52;
/// From this width on the last column keeps its words whole; below, the others need the room.
const WIDTH_FOR_WORDS: usize = 72;
/// From this width on the first reason is told in the row itself; below only its name.
const WIDTH_FOR_DETAIL: usize = 132;
/// The most limits that are listed.
const MAX_LIMITS: usize = 4;
/// The longest detail in a row; the whole is told under "Why not valid".
const MAX_DETAIL: usize = 120;

/// Columns by space alone; a rule below the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

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
        page.line(&format!("{:INDENT$}{line}", ""));
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
        text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or_default()
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

/// The same as plain text.
pub(super) fn verdict_text(figure: &Figure, width: usize) -> String {
    let Some(verdict) = figure.verdict else {
        return if figure.value.is_some() { "not judged".to_owned() } else { String::new() };
    };
    let mut text = format!("{} {verdict}", mark::of(verdict));
    if let Some(reason) = reasons::of(figure).first() {
        text.push_str(&format!(": {}", plain_to(&reason.id, 40)));
        if width >= WIDTH_FOR_DETAIL {
            text.push_str(&format!(": {}", plain_to(&reason.detail, MAX_DETAIL)));
        }
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

/// Half the interval, as a share of the value.
pub(super) fn half_width(figure: &Figure) -> String {
    match (&figure.interval, figure.value) {
        (Some(interval), Some(value)) => match interval.relative_half_width(value) {
            share if share.is_finite() => bounded_percent(share),
            _ => "—".to_owned(),
        },
        _ => "—".to_owned(),
    }
}

/// The value as a share of its limit.
pub(super) fn of_limit(figure: &Figure) -> String {
    match (&figure.limit, figure.value) {
        (Some(limit), Some(value)) if limit.value != 0.0 => bounded_percent(value / limit.value),
        _ => "—".to_owned(),
    }
}

pub(super) fn bounded_percent(share: f64) -> String {
    if share.abs() < 10.0 { percent(share) } else { ">999 %".to_owned() }
}

/// The limits that figures are held against, each basis once; where one basis gives several, `why` says from
/// what to what.
pub(super) fn limits<'a>(
    page: &mut Page,
    figures: impl Iterator<Item = &'a Figure>,
    decimals: Option<usize>,
    why: &str,
) {
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
    let told = bases.iter().take(MAX_LIMITS).map(|(basis, unit, low, high)| {
        let (low, high) = (fixed(*low, decimals), fixed(*high, decimals));
        if low == high {
            format!("{high} {unit}, {basis}")
        } else {
            format!("{low} to {high} {unit} {why}, {basis}")
        }
    });
    let rest = (more > 0).then(|| format!("and {more} more"));
    for (at, text) in told.chain(rest).enumerate() {
        page.paragraph(if at == 0 { "  limit: " } else { "         " }, "         ", &text);
    }
}
