//! Tables of a suite: single figures, loads, curves and matrices. The same that Markdown has, with references to the details.

use figure::format::{counted, plain_to};
use figure::{Figure, Record, Unit};
use maud::{Markup, html};

use super::budget::Budget;
use super::words::{self, Links};
use crate::digits::{fixed, with_unit};
use crate::grid::{self, Grid, Mode};
use crate::tables::{Column, Kind, Table, ranking, section, settings};
use crate::{loads, outline, summary};

/// The most columns of a table; a larger matrix is a picture, and a file.
const MOST_COLUMNS: usize = 16;
/// The most rows.
const MOST_ROWS: usize = 400;

/// The tables of a suite.
pub(super) fn of(suite: &Record, links: &Links, budget: &mut Budget) -> Markup {
    let sections = outline::sections(suite);
    let (headlines, others): (Vec<_>, Vec<_>) = sections.iter().partition(|section| section.headline);
    let first =
        headlines.into_iter().map(section::table).chain(ranking::tables(suite)).chain(loads::tables(suite));
    let mut tables: Vec<Markup> = first.map(|one| table(&one, links)).collect();
    for mode in grid::modes(suite).iter().filter(|mode| !mode.figures().all(loads::is_of_load)) {
        tables.extend(settings::table(suite, mode).map(|settings| table(&settings, links)));
        tables.push(of_mode(mode, links));
    }
    tables.extend(others.into_iter().map(|section| table(&section::table(section), links)));
    budget.fill(tables, "tables")
}

/// A table that moves by itself where the page is narrower.
pub(crate) fn framed(title: &str, table: &Markup) -> Markup {
    html! { div.table tabindex="0" role="group" aria-label=(title) { (table) } }
}

/// A table; the name of a row leads to the details of its figure.
fn table(table: &Table, links: &Links) -> Markup {
    let is_judged = table.is_judged();
    let name = table.columns.iter().position(|column| column.kind == Kind::Words);
    let markup = html! {
        table {
            thead { tr {
                @for column in &table.columns { th scope="col" class=(class(column)) { (column.line()) } }
                @if is_judged { th scope="col" { "verdict" } }
            } }
            tbody { @for row in table.rows.iter().take(MOST_ROWS) {
                tr class=(row.judged.map_or_else(String::new, |figure| words::class(figure.verdict))) {
                    @for (at, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
                        @match row.judged {
                            Some(figure) if Some(at) == name => { th scope="row" { (links.link(&figure.id, cell)) } }
                            Some(figure) if column.kind == Kind::Shares => { td { (words::meter(figure)) } }
                            _ => { td class=(class(column)) { (cell) } }
                        }
                    }
                    @if is_judged { td { @if let Some(figure) = row.judged { (words::verdict(figure)) } } }
                }
            } }
        }
    };
    html! {
        h3 { (table.title) }
        @if !table.rows.is_empty() { (framed(&table.title, &markup)) (cut(table.rows.len())) }
        @for note in &table.notes { p.note { (note) } }
    }
}

fn class(column: &Column) -> &'static str {
    match column.kind {
        Kind::Words => "",
        Kind::Numbers | Kind::Shares => "number",
        Kind::Values => "number value",
    }
}

fn cut(rows: usize) -> Markup {
    html! { @if rows > MOST_ROWS { p.note { (counted(rows - MOST_ROWS, "row")) " more: the record has them." } } }
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
            @if !what.is_empty() { (what) ": " } (status) ": " (reason)
        } } } }
    }
}

fn of_grid(mode: &Mode, grid: &Grid, links: &Links, title: &str) -> Markup {
    let label = grid.name(mode.info);
    let caption = html! { @if !label.is_empty() { h4 { (label) } } };
    if grid.columns.len() > MOST_COLUMNS {
        return html! { (caption) p.note {
            (grid.rows.len()) " × " (grid.columns.len())
            " values: in the picture, each with its details below; as a table: --format csv."
        } };
    }
    let down = grid.down.head.clone();
    let table = html! {
        table.grid {
            thead { tr {
                th scope="col" { (down) @if let Some(across) = &grid.across { " (down), " (across.head) " (across)" } }
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

fn head(mode: &Mode, grid: &Grid, column: &grid::Column) -> String {
    let unit = column.unit.filter(|_| grid.across.is_none() || mode.unit().is_none());
    let unit = unit.map_or_else(String::new, |unit| plain_to(unit.symbol(), 20));
    format!("{} {unit}", column.label).trim().to_owned()
}

/// `36.60 ±0.9 %`, with the sign of a verdict that is not valid.
fn cell(figure: &Figure, grid: &Grid, column: &grid::Column, links: &Links) -> Markup {
    let Some(value) = figure.value else { return html! { (figure.status) } };
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
