//! A mode's curves and matrices: positions downwards, series across, with bars where there is room.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Width};
use figure::format::{bytes, counted, plain_to};
use figure::{Better, Figure, Status, Unit, Verdict};

use super::bars::{bar, sparkline};
use super::cells;
use super::page::{INDENT, Page};
use super::plan::{GAP, Plan, Text};
use crate::digits::{self, MAX_UNIT, fixed};
use crate::grid::{self, Column, Grid, Mode};
use crate::names::Axis;
use crate::tables::section;
use crate::{mark, names, summary};

/// The most rows of a curve; all its points are in the other formats.
const MAX_ROWS: usize = 24;
/// The most columns of a matrix; all its points are in the other formats.
const MAX_COLUMNS: usize = 24;
/// A longer word at the head of a column is cut: the narrowest page has room for the labels and a column.
const MAX_HEAD: usize = 18;
/// The longest unit beside a value, where a column's units differ.
const MAX_UNIT_BESIDE: usize = 8;
/// More curves with companions than these are one table: of values and rates alone, without bars.
const MOST_ALONE: usize = 2;
/// Fewer points have no shape.
const MIN_SPARKLINE: usize = 6;
/// Labels take no more than this share of the page.
const LABEL_PERCENT: u16 = 40;

/// A mode, whole: heading, setup, tables, figures that were computed from them, and missing ones.
pub(super) fn mode(page: &mut Page, mode: &Mode) {
    page.title(&mode.title());
    let measured: Vec<&Figure> = mode.figures().filter(|figure| figure.value.is_some()).collect();
    let setup: Vec<String> = summary::common(&measured).into_iter().map(|(_, text)| text).collect();
    if !setup.is_empty() {
        page.aside(&setup.join("; "));
    }
    for grid in tables(mode) {
        table(page, &grid, mode);
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
}

/// The tables of a mode: one for each grid; many curves with companions are one together, behind the others.
fn tables<'a>(mode: &Mode<'a>) -> Vec<Grid<'a>> {
    let grids: Vec<Grid> = mode.grids.iter().filter_map(Grid::measured).collect();
    let (curves, others): (Vec<&Grid>, Vec<&Grid>) = grids.iter().partition(|grid| grid.is_companion);
    let is_alike = curves.iter().all(|grid| grid.down == curves[0].down);
    if curves.len() <= MOST_ALONE || !is_alike {
        return grids;
    }
    let names = mode.info.map_or("", |info| &info.names);
    let across = Axis { head: plain_to(names, MAX_HEAD), ..Axis::default() };
    others.into_iter().cloned().chain(grid::merged(&curves, across)).collect()
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
    let labels = Text::of(&grid.down.head, false, rows.iter().map(|row| grid.rows[*row].label.clone()));
    let room = page.width() - INDENT;
    let label_width = labels.width().min(room * usize::from(LABEL_PERCENT) / 100);
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
        let mut count = fitting.count().max(1);
        // Values stay with their rates.
        let is_pair = |at: usize| match grid.columns.get(at..at + 2) {
            Some([one, other]) => !one.label.is_empty() && one.label == other.label,
            _ => false,
        };
        count -= usize::from(count > 1 && is_pair(at + count - 1));
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
    if rows.len() < (0..grid.rows.len()).filter(|row| grid.has_value(*row)).count() {
        let which = if grid.down.is_naming { "the worst " } else { "" };
        let all = counted(grid.rows.len(), "point");
        let text = format!("{which}{} of {all}; all are in the other formats", rows.len());
        page.paragraph("  ", "  ", &text);
    }
    if grid.is_curve() && grid.across.is_none() && !drawn {
        sparklines(page, grid);
    }
    if let Some((_, what)) = widest.filter(|_| grid.columns.len() > 1) {
        page.paragraph("  ", "  ", &format!("±: at most {what}"));
    }
}

/// The contents of a table, where its mode has several or several units.
fn caption(grid: &Grid, mode: &Mode) -> String {
    let mut parts = Vec::new();
    if !grid.label.is_empty() {
        parts.push(grid.name(mode.info));
    }
    let is_elsewhere = mode.unit().is_some() || grid.columns.len() == 1;
    if let Some(unit) = grid.unit().filter(|unit| !is_elsewhere && **unit != Unit::ONE) {
        parts.push(format!("in {}", plain_to(unit.symbol(), MAX_UNIT)));
    }
    if let Some(across) = &grid.across {
        parts.push(format!("down: {}, across: {}", grid.down.head, across.head));
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

/// Of these rows the worst by their first figure, worst first; before them rows without a number, which are for all.
fn worst(grid: &Grid, mut rows: Vec<usize>) -> Vec<usize> {
    let badness = |row: usize| {
        let figure = grid.columns.first()?.cells[row]?;
        figure.value.map(|value| if figure.better == Better::Higher { -value } else { value })
    };
    let order = |row: usize| (grid.rows[row].number.is_some(), badness(row).unwrap_or(f64::NEG_INFINITY));
    rows.sort_by(|a, b| {
        let ((is_one, badness), (is_other_one, other)) = (order(*a), order(*b));
        is_one.cmp(&is_other_one).then(other.total_cmp(&badness))
    });
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
        let text = match column.unit.unwrap_or(&figure.unit) {
            unit if *unit == Unit::BYTES => bytes(value),
            _ if column.unit.is_some() => fixed(value, decimals),
            unit => format!("{} {}", fixed(value, None), plain_to(unit.symbol(), MAX_UNIT_BESIDE)),
        };
        let verdict = figure.verdict.filter(|_| is_marked);
        match verdict {
            Some(Verdict::Valid) | None => (format!("{text}{slot}"), verdict),
            Some(other) => (format!("{text} {}", mark::of(other)), verdict),
        }
    };
    let mut words: Vec<String> = match &grid.across {
        Some(_) => vec![plain_to(&column.label, MAX_HEAD)],
        None => column.label.split_whitespace().map(|word| plain_to(word, MAX_HEAD)).collect(),
    };
    let unit = column.unit.filter(|unit| **unit != Unit::BYTES);
    // The unit is in the heading or the caption where all columns have the same; sizes have it in each value, ratios none.
    let is_elsewhere = grid.unit().is_some() && (grid.columns.len() > 1 || mode.grids.len() > 1);
    let is_needless = column.unit.is_some() && unit.is_none_or(|unit| *unit == Unit::ONE);
    if words.is_empty() || !(is_elsewhere || is_needless) {
        words.push(unit.map_or("value".to_owned(), |unit| plain_to(unit.symbol(), MAX_UNIT)));
    }
    Text { head: words.join("\n"), right: true, cells: rows.iter().map(cell).collect() }
}

/// Lays out some of a grid's columns.
fn lay(page: &mut Page, labels: &Text, grid: &Grid, part: &[(&Column, &Text)], rows: &[usize], plan: &Plan) {
    let mut texts: Vec<Text> = vec![labels.clone()];
    let mut bars: Vec<Text> = Vec::new();
    for (at, (column, values)) in part.iter().enumerate() {
        texts.push((*values).clone());
        let figures = || rows.iter().map(|row| column.cells[*row].filter(|figure| figure.value.is_some()));
        let each = |head: &str, show: fn(&Figure) -> String| {
            Text::of(head, true, figures().map(|figure| figure.map_or_else(String::new, show)))
        };
        texts.extend(plan.intervals.then(|| each("±", section::half_width)));
        texts.extend(plan.limit.then(|| each("limit", section::of_limit)));
        if plan.bar > 0 && at < plan.barred {
            let longest = scale(grid, column);
            let bar = |figure: &Figure| {
                let is_invalid = figure.verdict == Some(Verdict::Invalid);
                bar(figure.value.unwrap_or_default() / longest, plan.bar, is_invalid)
            };
            let cells = figures()
                .map(|figure| (figure.map_or_else(String::new, bar), figure.and_then(|f| f.verdict)));
            bars.push(Text { head: String::new(), right: false, cells: cells.collect() });
        }
        // Beside its values; but a point and the rate that it was observed at belong together.
        if !grid.is_companion || at + 1 == part.len() {
            texts.append(&mut bars);
        }
    }
    let mut table = cells::empty(page);
    let verdicts = plan.verdicts.then_some("verdict");
    table.set_header(texts.iter().map(|text| text.head.as_str()).chain(verdicts).map(cells::head));
    for (at, row) in rows.iter().enumerate() {
        let cell = |text: &Text| {
            let (content, verdict) = &text.cells[at];
            match verdict.filter(|verdict| *verdict != Verdict::Valid) {
                Some(verdict) => Cell::new(content).fg(cells::colour(mark::colour(verdict))),
                None => Cell::new(content),
            }
        };
        let figure = part[0].0.cells[*row].filter(|_| plan.verdicts);
        let verdict = figure.map(|figure| cells::verdict(figure, page.width()));
        table.add_row(texts.iter().map(cell).chain(verdict));
    }
    let last = texts.len() - usize::from(!plan.verdicts);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, u16::from(at < last)));
        match texts.get(at) {
            Some(_) if at == 0 => {
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(LABEL_PERCENT)))
            }
            Some(text) => {
                if text.right {
                    column.set_cell_alignment(CellAlignment::Right);
                }
                column.set_constraint(ColumnConstraint::ContentWidth)
            }
            None => column,
        };
    }
    cells::print(page, &table);
}

/// The value of a full bar: the largest of all series in the same unit that is not invalid, so that bars can be compared across.
fn scale(grid: &Grid, column: &Column) -> f64 {
    let columns = || grid.columns.iter().filter(|other| other.unit == column.unit);
    let largest = |is_usable: fn(&&Figure) -> bool| {
        let figures = columns().flat_map(Column::measured).filter(is_usable);
        figures.filter_map(|figure| figure.value).fold(0.0, f64::max)
    };
    match largest(|figure| figure.verdict != Some(Verdict::Invalid)) {
        most if most > 0.0 => most,
        _ => largest(|_| true),
    }
}

/// The shape of each curve on a line, over all its points.
fn sparklines(page: &mut Page, grid: &Grid) {
    let name = |column: &Column| match column.unit.filter(|_| column.label.is_empty()) {
        Some(unit) => plain_to(unit.symbol(), MAX_UNIT),
        None => column.label.clone(),
    };
    let names: Vec<String> = grid.columns.iter().map(name).collect();
    let widest = names.iter().map(|name| textwrap::core::display_width(name)).max().unwrap_or(0);
    let room = page.width().saturating_sub(INDENT + widest + 2 + " (logarithmic)".len());
    for (column, name) in grid.columns.iter().zip(&names) {
        let values: Vec<Option<f64>> = column.cells.iter().map(|figure| (*figure)?.value).collect();
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
