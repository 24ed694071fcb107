//! Tables of a suite: single figures, loads, curves and matrices. The same that Markdown has, with references to the details.

use figure::format::{counted, plain_to};
use figure::{Figure, Record, Unit};
use maud::{Markup, html};

use super::budget::Budget;
use super::words::{self, Links};
use crate::digits::{decimals, fixed, rounds_cell, with_unit};
use crate::grid::{self, Column, Grid, Mode};
use crate::outline::Section;
use crate::{loads, names, outline, summary};

/// The most columns of a table; a larger matrix is a picture, and a file.
const MOST_COLUMNS: usize = 16;
/// The most rows.
const MOST_ROWS: usize = 400;

/// The tables of a suite.
pub(super) fn of(suite: &Record, links: &Links, budget: &mut Budget) -> Markup {
    let sections = outline::sections(suite);
    let (headlines, others): (Vec<_>, Vec<_>) = sections.iter().partition(|section| section.headline);
    let loads = loads::tables(suite);
    let modes = grid::modes(suite);
    let modes = modes.iter().filter(|mode| !mode.figures().all(loads::is_of_load));
    let tables = headlines.into_iter().map(|section| single(section, links));
    let tables = tables.chain(loads.iter().map(|table| of_loads(table, links)));
    let tables = tables.chain(modes.map(|mode| of_mode(mode, links)));
    let tables: Vec<Markup> =
        tables.chain(others.into_iter().map(|section| single(section, links))).collect();
    budget.fill(tables, "tables")
}

/// A table that moves by itself where the page is narrower.
pub(crate) fn framed(title: &str, table: &Markup) -> Markup {
    html! { div.table tabindex="0" role="group" aria-label=(title) { (table) } }
}

fn single(section: &Section, links: &Links) -> Markup {
    let decimals = decimals(section);
    let has_limit = section.rows.iter().any(|row| row.figure.limit.is_some());
    let table = html! {
        table {
            thead { tr {
                @for head in &section.heads { th scope="col" { (head) } }
                th.number scope="col" { (section.unit.map_or_else(|| "value".to_owned(), |unit| plain_to(unit.symbol(), 20))) }
                th.number scope="col" { "95 % interval" }
                @if has_limit { th scope="col" { "of limit" } }
                th.number scope="col" { "rounds" }
                th scope="col" { "verdict" }
            } }
            tbody { @for row in section.rows.iter().take(MOST_ROWS) {
                tr class=(words::class(row.figure.verdict)) {
                    @for (at, label) in row.labels.iter().enumerate() {
                        @if at == 0 { th scope="row" { (links.link(&row.figure.id, label)) } } @else { td { (label) } }
                    }
                    td.number.value { (row.figure.value.map_or_else(|| "—".to_owned(), |value| fixed(value, decimals)))
                        @if section.unit.is_none() { " " (plain_to(row.figure.unit.symbol(), 12)) } }
                    td.number { (words::interval(row.figure, decimals)) }
                    @if has_limit { td { (words::meter(row.figure)) } }
                    td.number { (rounds_cell(row.figure)) }
                    td { (words::verdict(row.figure)) }
                }
            } }
        }
    };
    html! { h3 { (section.title) } (framed(&section.title, &table)) (cut(section.rows.len())) }
}

fn cut(rows: usize) -> Markup {
    html! { @if rows > MOST_ROWS { p.note { (counted(rows - MOST_ROWS, "row")) " more: the record has them." } } }
}

fn of_loads(table: &loads::Table, links: &Links) -> Markup {
    let is_judged = table.rows.iter().any(|row| row.judged.is_some());
    let side = |right: bool| if right { "number" } else { "" };
    let markup = html! {
        table {
            thead { tr {
                @for column in &table.columns {
                    th scope="col" class=(side(column.right)) { (column.head.replace("-\n", "").replace('\n', " ")) }
                }
                @if is_judged { th scope="col" { "verdict" } }
            } }
            tbody { @for row in table.rows.iter().take(MOST_ROWS) {
                tr class=(row.judged.map_or_else(String::new, |figure| words::class(figure.verdict))) {
                    @for (column, cell) in table.columns.iter().zip(&row.cells) { td class=(side(column.right)) { (cell) } }
                    @if is_judged { td { @if let Some(figure) = row.judged {
                        (words::verdict(figure)) " " (links.link(&figure.id, "details"))
                    } } }
                }
            } }
        }
    };
    html! { h3 { (table.title) } (framed(&table.title, &markup)) @for note in &table.notes { p.note { (note) } } }
}

fn of_mode(mode: &Mode, links: &Links) -> Markup {
    let measured: Vec<&Figure> = mode.figures().filter(|figure| figure.value.is_some()).collect();
    let setup: Vec<String> = summary::common(&measured).into_iter().map(|(_, text)| text).collect();
    let title = mode.title();
    let derived: Vec<&Figure> =
        mode.derived.iter().copied().filter(|figure| figure.value.is_some()).collect();
    html! {
        h3 { (title) }
        @if !setup.is_empty() { p.note { (setup.join("; ")) } }
        @for grid in mode.grids.iter().filter_map(Grid::measured) { (of_grid(mode, &grid, links, &title)) }
        @if !derived.is_empty() { ul { @for figure in derived { li {
            (links.link(&figure.id, &plain_to(&figure.name, 80))) ": " b { (words::value(figure)) }
            @if let Some(limit) = &figure.limit {
                ", limit " (with_unit(limit.value, &figure.unit)) " (" (plain_to(&limit.basis, 120)) ")"
            }
            " " (words::verdict(figure))
        } } } }
        @let missing = grid::missing(mode);
        @if !missing.is_empty() { ul.note { @for (status, reason, what) in missing.iter().take(MOST_COLUMNS) { li {
            @if !what.is_empty() { (what) ": " } (outline::state(*status)) ": " (reason)
        } } } }
    }
}

fn of_grid(mode: &Mode, grid: &Grid, links: &Links, title: &str) -> Markup {
    let label = grid.name(mode.key);
    let caption = html! { @if !label.is_empty() { h4 { (label) } } };
    if grid.columns.len() > MOST_COLUMNS {
        return html! { (caption) p.note {
            (grid.rows.len()) " × " (grid.columns.len())
            " values: in the picture, each with its details below; as a table: --format csv."
        } };
    }
    let down = names::head(&grid.down);
    let table = html! {
        table.grid {
            thead { tr {
                th scope="col" { (down) @if let Some(across) = &grid.across { " (down), " (names::head(across)) " (across)" } }
                @for column in &grid.columns { th.number scope="col" { (head(mode, grid, column)) } }
            } }
            tbody { @for at in (0..grid.rows.len()).filter(|at| grid.has_value(*at)).take(MOST_ROWS) {
                tr {
                    th scope="row" { (grid.rows[at].label) }
                    @for column in &grid.columns { td.number {
                        @if let Some(figure) = column.cells[at] { (cell(figure, grid, column, links)) }
                    } }
                }
            } }
        }
    };
    html! { (caption) (framed(title, &table)) (cut(grid.rows.len())) }
}

fn head(mode: &Mode, grid: &Grid, column: &Column) -> String {
    let unit = column.unit.filter(|_| grid.across.is_none() || mode.unit().is_none());
    let unit = unit.map_or_else(String::new, |unit| plain_to(unit.symbol(), 20));
    format!("{} {unit}", column.label).trim().to_owned()
}

/// `36.60 ±0.9 %`, with the sign of a verdict that is not valid.
fn cell(figure: &Figure, grid: &Grid, column: &Column, links: &Links) -> Markup {
    let Some(value) = figure.value else { return html! { (outline::state(figure.status)) } };
    let shown = match column.unit {
        Some(unit) if *unit != Unit::BYTES => fixed(value, grid.decimals(column)),
        _ => with_unit(value, &figure.unit),
    };
    html! {
        (links.link(&figure.id, &shown))
        @if let Some(half) = words::half_width(figure) { " " small { (half) } }
        (words::sign(figure.verdict))
    }
}
