//! A section of figures as a table.

use anstyle::AnsiColor;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};
use figure::Verdict;
use figure::format::{number, percent, plain, plain_to};

use super::page::{INDENT, Page};
use crate::digits::{decimals, fixed};
use crate::outline::{Row, Section};
use crate::{mark, reasons};

/// From this width on there is room for the share of the limit.
const WIDTH_FOR_LIMIT: usize = 52;
/// From this width on there is room for how non-temporal stores compare with regular ones.
const WIDTH_FOR_GAIN: usize = 72;
/// From this width on there is room for the best sample and the number of rounds.
const WIDTH_FOR_BEST: usize = 96;
/// From this width on the first reason is told in the row itself; below only its name.
const WIDTH_FOR_DETAIL: usize = 132;
/// The most rows of a curve; all its points are in the record.
const MAX_ROWS: usize = 24;
/// The longest unit that is printed: `cycles/pair`.
const MAX_UNIT: usize = 12;
/// The most limits that are listed.
const MAX_LIMITS: usize = 4;
/// The longest detail in a row; the whole is told under "Why not valid".
const MAX_DETAIL: usize = 120;

/// Columns by space alone; a rule below the heads.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

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
    let rows: Vec<&Row> = section.rows.iter().collect();
    let shown = thinned(&rows, MAX_ROWS);
    let columns = columns(section, page.width());

    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(page.width() - INDENT).unwrap_or(u16::MAX));
    if page.colour() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let head = |column: &Column| Cell::new(&column.head).add_attribute(Attribute::Dim);
    table.set_header(columns.iter().map(head).chain([Cell::new("verdict").add_attribute(Attribute::Dim)]));
    let mut above: Option<&str> = None;
    for row in &shown {
        let mut cells: Vec<Cell> = columns.iter().map(|column| Cell::new((column.cell)(row))).collect();
        // A kernel's name once, for all its rows.
        let name = row.labels.first().map(String::as_str);
        if row.labels.len() > 1 && name == above {
            cells[0] = Cell::new("");
        }
        above = name;
        cells.push(verdict(row, page.width()));
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
            ColumnConstraint::UpperBoundary(Width::Percentage(40 / labels))
        };
        laid.set_constraint(constraint);
    }
    if let Some(last) = table.column_mut(columns.len()) {
        last.set_padding((0, 0));
    }
    for line in table.lines() {
        page.line(&format!("{:INDENT$}{line}", ""));
    }
    if shown.len() < rows.len() {
        let text = format!("{} of {} points; the others are in the JSON record", shown.len(), rows.len());
        page.paragraph("  ", "  ", &text);
    }
    if section.headline {
        limits(page, section);
    }
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
    columns.push(Column::right("±", half_width));
    if width >= WIDTH_FOR_LIMIT && any(|row| row.figure.limit.is_some()) {
        columns.push(Column::right("limit", of_limit));
    }
    if width >= WIDTH_FOR_GAIN && any(|row| row.gain.is_some()) {
        columns.push(Column::right("nt/reg.", |row| {
            row.gain.map_or(String::new(), |gain| format!("×{}", number(gain)))
        }));
    }
    if width >= WIDTH_FOR_BEST {
        if any(|row| row.figure.best.is_some()) {
            columns.push(Column::right("best", move |row| {
                row.figure.best.map_or("—".to_owned(), |best| fixed(best, decimals))
            }));
        }
        columns.push(Column::right("rounds", |row| row.figure.kept().count().to_string()));
    }
    columns
}

/// `✓ valid`, `✗ invalid: array-size`, and with the detail where there is room.
fn verdict(row: &Row, width: usize) -> Cell {
    let Some(verdict) = row.figure.verdict else { return Cell::new("not judged") };
    let mut text = format!("{} {verdict}", mark::of(verdict));
    if let Some(reason) = reasons::of(row.figure).first() {
        text.push_str(&format!(": {}", plain_to(&reason.id, 40)));
        if width >= WIDTH_FOR_DETAIL {
            text.push_str(&format!(": {}", plain_to(&reason.detail, MAX_DETAIL)));
        }
    }
    let cell = Cell::new(text).fg(colour(mark::colour(verdict)));
    if verdict == Verdict::Invalid { cell.add_attribute(Attribute::Bold) } else { cell }
}

/// comfy-table's name of a colour.
fn colour(colour: AnsiColor) -> Color {
    match colour {
        AnsiColor::Green => Color::DarkGreen,
        AnsiColor::Yellow => Color::DarkYellow,
        AnsiColor::Red => Color::DarkRed,
        AnsiColor::Cyan => Color::DarkCyan,
        _ => Color::Reset,
    }
}

/// Half the interval, as a share of the value.
fn half_width(row: &Row) -> String {
    match (&row.figure.interval, row.figure.value) {
        (Some(interval), Some(value)) => match interval.relative_half_width(value) {
            share if share.is_finite() => bounded_percent(share),
            _ => "—".to_owned(),
        },
        _ => "—".to_owned(),
    }
}

/// The value as a share of its limit.
fn of_limit(row: &Row) -> String {
    match (&row.figure.limit, row.figure.value) {
        (Some(limit), Some(value)) if limit.value != 0.0 => bounded_percent(value / limit.value),
        _ => "—".to_owned(),
    }
}

fn bounded_percent(share: f64) -> String {
    if share.abs() < 10.0 { percent(share) } else { ">999 %".to_owned() }
}

/// The limits that the section's figures are held against, each basis once: one limit on traffic is several
/// in the figures' own counts.
fn limits(page: &mut Page, section: &Section) {
    let decimals = decimals(section);
    let mut bases: Vec<(String, String, f64, f64)> = Vec::new();
    for row in &section.rows {
        let Some(limit) = &row.figure.limit else { continue };
        let (basis, unit) = (plain(&limit.basis), plain_to(row.figure.unit.symbol(), MAX_UNIT));
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
            format!("{low} to {high} {unit} by what each counts, {basis}")
        }
    });
    let rest = (more > 0).then(|| format!("and {more} more"));
    for (at, text) in told.chain(rest).enumerate() {
        page.paragraph(if at == 0 { "  limit: " } else { "         " }, "         ", &text);
    }
}

/// At most `most` rows, evenly spread, first and last included.
fn thinned<'a, 'b>(rows: &[&'a Row<'b>], most: usize) -> Vec<&'a Row<'b>> {
    let is_curve = rows.first().is_some_and(|row| row.figure.series.is_some());
    if !is_curve || rows.len() <= most {
        return rows.to_vec();
    }
    (0..most).map(|i| rows[i * (rows.len() - 1) / (most - 1)]).collect()
}
