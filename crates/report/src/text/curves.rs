//! A mode's curves and matrices: positions downwards, series across, with bars where there is room.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Width};
use figure::format::{bytes, counted, plain_to};
use figure::{Better, Figure, Status, Unit, Verdict};

use super::bars::{bar, sparkline};
use super::cells;
use super::page::{INDENT, Page};
use super::plan::{GAP, Plan};
use crate::digits::{self, MAX_UNIT, fixed};
use crate::grid::{self, Column, Grid, Mode};
use crate::tables::section;
use crate::{mark, names, summary};

/// The most rows of a curve; all its points are in the other formats.
const MAX_ROWS: usize = 24;
/// The most columns of a matrix; all its points are in the other formats.
const MAX_COLUMNS: usize = 24;
/// A longer word at the head of a column is cut: on the narrowest page a column stands beside the labels.
const MAX_HEAD: usize = 18;
/// The longest unit beside a value, where a column's units differ.
const MAX_UNIT_BESIDE: usize = 8;
/// Fewer points have no shape.
const MIN_SPARKLINE: usize = 6;
/// Characters of a mode's name at most.
const MAX_PREFIX: usize = 60;
/// Labels take no more than this share of the page.
const LABEL_PERCENT: u16 = 40;

/// A mode, whole: heading, setup, tables, what was computed from them, and what is missing.
pub(super) fn mode(page: &mut Page, mode: &Mode) {
    page.title(&mode.title());
    let measured: Vec<&Figure> = mode.figures().filter(|figure| figure.value.is_some()).collect();
    let setup: Vec<String> = summary::common(&measured).into_iter().map(|(_, text)| text).collect();
    if !setup.is_empty() {
        page.aside(&setup.join("; "));
    }
    for grid in mode.grids.iter().filter_map(Grid::measured) {
        table(page, &grid, mode);
    }
    for figure in mode.derived.iter().filter(|figure| figure.value.is_some()) {
        page.item("-", anstyle::Style::new(), &derived(figure));
    }
    let curves = mode.grids.iter().flat_map(Grid::figures).filter(|figure| figure.limit.is_some());
    let decimals = digits::of(measured.iter().filter_map(|figure| figure.value));
    for limit in section::limits(curves, decimals, "by point") {
        page.aside(&limit);
    }
    let labels = mode.grids.iter().flat_map(|grid| {
        let rows = grid.rows.iter().map(|row| row.label.as_str());
        grid.columns.iter().map(|column| column.label.as_str()).chain([grid.label.as_str()]).chain(rows)
    });
    let meanings = names::meanings(mode.info, labels);
    if !meanings.is_empty() {
        page.aside(&meanings.join("; "));
    }
    missing(page, mode, "");
}

/// What has no value, and why.
pub(super) fn missing(page: &mut Page, mode: &Mode, prefix: &str) {
    for (status, reason, what) in grid::missing(mode) {
        let what = format!("{} {what}", plain_to(prefix, MAX_PREFIX));
        let what = if what.trim().is_empty() { String::new() } else { format!("{}: ", what.trim()) };
        page.item("-", anstyle::Style::new(), &format!("{what}{status}: {reason}"));
    }
}

/// `edge of L1: 48 KiB ✓ valid (± 2 %; 100 % of 48 KiB, sysfs)`.
fn derived(figure: &Figure) -> String {
    let shown = |value| digits::with_unit(value, &figure.unit);
    let mut text = format!("{}: {}", plain_to(&figure.name, 80), figure.value.map(shown).unwrap_or_default());
    if let Some(verdict) = figure.verdict {
        text.push_str(&format!(" {} {verdict}", mark::of(verdict)));
        if let Some(reason) = crate::reasons::of(figure).first() {
            text.push_str(&format!(": {}", plain_to(&reason.id, 40)));
        }
    }
    let mut more = Vec::new();
    if figure.interval.is_some() {
        more.push(format!("± {}", section::half_width(figure)));
    }
    if let Some(limit) = &figure.limit {
        more.push(format!(
            "{} of {}, {}",
            section::of_limit(figure),
            shown(limit.value),
            plain_to(&limit.basis, 80)
        ));
    }
    if !more.is_empty() {
        text.push_str(&format!(" ({})", more.join("; ")));
    }
    text
}

/// A column of text: its head, its cells with the verdict that colours them.
pub(super) struct Text {
    head: String,
    right: bool,
    cells: Vec<(String, Option<Verdict>)>,
}

impl Text {
    pub(super) fn width(&self) -> usize {
        let width = |text: &str| text.lines().map(textwrap::core::display_width).max().unwrap_or(0);
        self.cells.iter().map(|(cell, _)| width(cell)).chain([width(&self.head)]).max().unwrap_or(0)
    }
}

fn table(page: &mut Page, grid: &Grid, mode: &Mode) {
    let caption = caption(grid, mode);
    if !caption.is_empty() {
        page.gap();
        page.paragraph("  ", "  ", &caption);
    }
    let rows = shown(grid);
    if grid.across.is_some() && grid.columns.len() > MAX_COLUMNS {
        let size = format!("{} x {}", rows.len(), grid.columns.len());
        page.paragraph("  ", "  ", &format!("a matrix of {size}; all its points are in the other formats"));
        return;
    }
    let labels = Text {
        head: grid.down.head.clone(),
        right: false,
        cells: rows.iter().map(|row| (grid.rows[*row].label.clone(), None)).collect(),
    };
    let room = page.width() - INDENT;
    let label_width = labels.width().min(room * usize::from(LABEL_PERCENT) / 100);
    let is_only = grid.columns.len() == 1;
    let values: Vec<Text> = grid.columns.iter().map(|column| values(column, grid, mode, &rows)).collect();
    let mut widest = None;
    let mut at = 0;
    let mut drawn = false;
    while at < values.len() {
        // As many columns as the page bears, the others below.
        let mut used = label_width;
        let fitting = values[at..].iter().take_while(|column| {
            used += GAP + column.width();
            used <= room
        });
        let count = fitting.count().max(1);
        let part: Vec<(&Column, &Text)> =
            grid.columns[at..at + count].iter().zip(&values[at..at + count]).collect();
        let plan = Plan::of(grid, &part, &rows, room - label_width);
        drawn |= plan.bar > 0;
        if at > 0 {
            page.gap();
        }
        lay(page, &labels, grid, &part, &rows, &plan);
        if !plan.intervals {
            widest = widest.max(widest_interval(grid, &part));
        }
        at += count;
    }
    if rows.len() < grid.rows.iter().enumerate().filter(|(at, _)| grid.has_value(*at)).count() {
        let all = grid.rows.len();
        let which = if grid.down.is_naming { "the worst " } else { "" };
        let text =
            format!("{which}{} of {}; all are in the other formats", rows.len(), counted(all, "point"));
        page.paragraph("  ", "  ", &text);
    }
    if grid.is_curve() && grid.across.is_none() && !drawn {
        sparklines(page, grid);
    }
    if let Some((_, what)) = widest.filter(|_| !is_only) {
        page.paragraph("  ", "  ", &format!("±: at most {what}"));
    }
}

/// What the table holds, where its mode has several or several units.
fn caption(grid: &Grid, mode: &Mode) -> String {
    let mut parts = Vec::new();
    if !grid.label.is_empty() {
        parts.push(grid.name(mode.info));
    }
    let told = mode.unit().is_some() || grid.columns.len() == 1;
    if let Some(unit) = grid.unit().filter(|unit| !told && **unit != Unit::ONE) {
        parts.push(format!("in {}", plain_to(unit.symbol(), MAX_UNIT)));
    }
    if let Some(across) = &grid.across {
        parts.push(format!("down: {}, across: {}", grid.down.head.clone(), across.head));
    }
    parts.join("; ")
}

/// The rows that are shown: those with a value, and of many an even choice; of sizes the powers of two.
fn shown(grid: &Grid) -> Vec<usize> {
    let rows: Vec<usize> = (0..grid.rows.len()).filter(|row| grid.has_value(*row)).collect();
    if rows.len() > MAX_ROWS && grid.down.is_naming {
        return worst(grid, rows);
    }
    if rows.len() <= MAX_ROWS || !grid.is_curve() {
        return rows;
    }
    let is_power = |row: &usize| {
        let place = &grid.rows[*row];
        place.unit == Some(Unit::BYTES)
            && place.number.is_some_and(|bytes| bytes > 0.0 && bytes.log2().fract() == 0.0)
    };
    let powers: Vec<usize> = rows.iter().copied().filter(is_power).collect();
    if (MAX_ROWS / 3..=MAX_ROWS).contains(&powers.len()) {
        return powers;
    }
    (0..MAX_ROWS).map(|i| rows[i * (rows.len() - 1) / (MAX_ROWS - 1)]).collect()
}

/// Of these rows the worst by their first figure, worst first; before them what has no number, which stands for all.
fn worst(grid: &Grid, mut rows: Vec<usize>) -> Vec<usize> {
    let badness = |row: &usize| {
        let figure = grid.columns.first().and_then(|column| column.cells[*row]);
        figure.and_then(|figure| {
            figure.value.map(|value| if figure.better == Better::Higher { -value } else { value })
        })
    };
    let of = |row: &usize| badness(row).unwrap_or(f64::NEG_INFINITY);
    let is_one = |row: &usize| grid.rows[*row].number.is_some();
    rows.sort_by(|a, b| is_one(a).cmp(&is_one(b)).then(of(b).total_cmp(&of(a))));
    rows.truncate(MAX_ROWS);
    rows
}

/// A column's values, each with its verdict's mark unless it is valid.
fn values(column: &Column, grid: &Grid, mode: &Mode, rows: &[usize]) -> Text {
    let decimals = grid.decimals(column);
    // With one series there is a column of verdicts.
    let is_marked = grid.columns.len() > 1
        && column.measured().any(|figure| figure.verdict.is_none_or(|verdict| verdict != Verdict::Valid));
    let cell = |row: &usize| {
        let Some(figure) = column.cells[*row] else { return (String::new(), None) };
        let slot = if is_marked { "  " } else { "" };
        let Some(value) = figure.value else {
            let state = match figure.status {
                Status::NotAvailable => "n/a",
                Status::Failed => "failed",
                Status::Interrupted | Status::Measured => "stopped",
            };
            return (format!("{state}{slot}"), None);
        };
        let mut text = match (column.unit, &figure.unit) {
            (Some(unit), _) if *unit == Unit::BYTES => bytes(value),
            (Some(_), _) => fixed(value, decimals),
            (None, unit) if *unit == Unit::BYTES => bytes(value),
            (None, unit) => format!("{} {}", fixed(value, None), plain_to(unit.symbol(), MAX_UNIT_BESIDE)),
        };
        match figure.verdict.filter(|_| is_marked) {
            Some(Verdict::Valid) | None => text.push_str(slot),
            Some(verdict) => text.push_str(&format!(" {}", mark::of(verdict))),
        }
        (text, figure.verdict.filter(|_| is_marked))
    };
    let mut words = Vec::new();
    match &grid.across {
        Some(_) => words.push(plain_to(&column.label, MAX_HEAD)),
        None => words.extend(
            column.label.split(' ').filter(|word| !word.is_empty()).map(|word| plain_to(word, MAX_HEAD)),
        ),
    }
    // The unit stands in the heading or the caption where all columns have the same.
    if grid.unit().is_none() || (grid.columns.len() == 1 && mode.grids.len() == 1) {
        match column.unit {
            // The values themselves tell.
            Some(unit) if (*unit == Unit::BYTES || *unit == Unit::ONE) && !words.is_empty() => {}
            Some(unit) if *unit != Unit::BYTES => words.push(plain_to(unit.symbol(), MAX_UNIT)),
            _ => words.push("value".to_owned()),
        }
    } else if words.is_empty() {
        let unit = column.unit.map_or("value", |unit| unit.symbol());
        words.push(plain_to(unit, MAX_UNIT));
    }
    Text { head: words.join("\n"), right: true, cells: rows.iter().map(cell).collect() }
}

/// Lays out some of a grid's columns.
fn lay(page: &mut Page, labels: &Text, grid: &Grid, part: &[(&Column, &Text)], rows: &[usize], plan: &Plan) {
    let mut texts: Vec<Text> = Vec::new();
    let mut bars: Vec<Text> = Vec::new();
    for (at, (column, values)) in part.iter().enumerate() {
        texts.push(Text { head: values.head.clone(), right: true, cells: values.cells.clone() });
        let figure = |row: &usize| column.cells[*row].filter(|figure| figure.value.is_some());
        let each = |show: &dyn Fn(&Figure) -> String| -> Vec<(String, Option<Verdict>)> {
            rows.iter().map(|row| (figure(row).map_or_else(String::new, show), None)).collect()
        };
        if plan.intervals {
            texts.push(Text { head: "±".to_owned(), right: true, cells: each(&section::half_width) });
        }
        if plan.limit {
            texts.push(Text { head: "limit".to_owned(), right: true, cells: each(&section::of_limit) });
        }
        if plan.bar > 0 && at < plan.barred {
            let longest = scale(grid, column);
            let bar = |row: &usize| match figure(row).and_then(|figure| Some((figure, figure.value?))) {
                Some((figure, value)) => {
                    let is_invalid = figure.verdict == Some(Verdict::Invalid);
                    (bar(value / longest, plan.bar, is_invalid), figure.verdict)
                }
                None => (String::new(), None),
            };
            bars.push(Text { head: String::new(), right: false, cells: rows.iter().map(bar).collect() });
        }
        // Beside its values; but a point and what it was observed at belong together.
        if !grid.is_companion || at + 1 == part.len() {
            texts.append(&mut bars);
        }
    }
    let mut table = cells::empty(page);
    let last = if plan.verdicts { Some("verdict") } else { None };
    table.set_header(
        [labels.head.as_str()]
            .into_iter()
            .chain(texts.iter().map(|text| text.head.as_str()))
            .chain(last)
            .map(cells::head),
    );
    for (at, row) in rows.iter().enumerate() {
        let mut line = vec![Cell::new(&labels.cells[at].0)];
        for text in &texts {
            let (content, verdict) = &text.cells[at];
            let cell = Cell::new(content);
            line.push(match verdict.filter(|verdict| *verdict != Verdict::Valid) {
                Some(verdict) => cell.fg(cells::colour(mark::colour(verdict))),
                None => cell,
            });
        }
        if plan.verdicts {
            line.extend(part[0].0.cells[*row].map(|figure| cells::verdict(figure, page.width())));
        }
        table.add_row(line);
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
        first.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(LABEL_PERCENT)));
    }
    for (at, text) in texts.iter().enumerate() {
        let Some(laid) = table.column_mut(at + 1) else { continue };
        laid.set_padding((0, 1));
        laid.set_constraint(ColumnConstraint::ContentWidth);
        if text.right {
            laid.set_cell_alignment(CellAlignment::Right);
        }
    }
    let columns = 1 + texts.len() + usize::from(plan.verdicts);
    if let Some(last) = table.column_mut(columns - 1) {
        last.set_padding((0, 0));
    }
    cells::print(page, &table);
}

/// What a full bar stands for: the largest value of all series in the same unit that is worth its name, so that
/// bars can be compared across.
fn scale(grid: &Grid, column: &Column) -> f64 {
    let columns = || grid.columns.iter().filter(|other| other.unit == column.unit);
    let sound = |figure: &&Figure| figure.verdict != Some(Verdict::Invalid);
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let of_sound = largest(&mut columns().flat_map(Column::measured).filter(sound).filter_map(|f| f.value));
    if of_sound > 0.0 {
        of_sound
    } else {
        largest(&mut columns().flat_map(Column::measured).filter_map(|figure| figure.value))
    }
}

/// The shape of each curve on a line, over all its points.
fn sparklines(page: &mut Page, grid: &Grid) {
    let names: Vec<String> = grid
        .columns
        .iter()
        .map(|column| match (&column.label, column.unit) {
            (label, Some(unit)) if label.is_empty() => plain_to(unit.symbol(), MAX_UNIT),
            (label, _) => label.clone(),
        })
        .collect();
    let widest = names.iter().map(|name| textwrap::core::display_width(name)).max().unwrap_or(0);
    for (column, name) in grid.columns.iter().zip(&names) {
        let values: Vec<Option<f64>> =
            column.cells.iter().map(|figure| figure.and_then(|figure| figure.value)).collect();
        let room = page.width().saturating_sub(INDENT + widest + 2 + " (logarithmic)".len());
        let (line, by_logarithm) = sparkline(&thinned(&values, room));
        if line.chars().filter(|sign| *sign != ' ').count() >= MIN_SPARKLINE {
            let note = if by_logarithm { " (logarithmic)" } else { "" };
            let pad = widest - textwrap::core::display_width(name);
            page.line(&format!("{:INDENT$}{name}{:pad$}  {}{note}", "", "", line.trim_end()));
        }
    }
}

/// At most `most` values, evenly chosen.
fn thinned(values: &[Option<f64>], most: usize) -> Vec<Option<f64>> {
    if values.len() <= most || most < 2 {
        return values.iter().take(most.max(1)).copied().collect();
    }
    (0..most).map(|i| values[i * (values.len() - 1) / (most - 1)]).collect()
}

/// The widest interval of these columns as thousandths, to compare, and in words: `3.2 % (random huge, 64 MiB)`.
fn widest_interval(grid: &Grid, part: &[(&Column, &Text)]) -> Option<(u64, String)> {
    let points = part.iter().flat_map(|(column, _)| {
        grid.rows.iter().zip(&column.cells).filter_map(move |(row, figure)| {
            let figure = (*figure)?;
            let share = figure.interval.as_ref()?.relative_half_width(figure.value?);
            share.is_finite().then_some((share, *column, row))
        })
    });
    let (share, column, row) = points.max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
    let place = grid::place(grid, column, &[row]);
    Some(((share * 1e6) as u64, format!("{} ({place})", section::bounded_percent(share))))
}
