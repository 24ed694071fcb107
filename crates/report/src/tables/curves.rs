//! Curves and matrices as tables: positions downwards, series across.

use figure::format::plain_to;
use figure::{Figure, Unit, Verdict};

use super::section::half_width;
use super::{Column, Kind, Row, Table};
use crate::digits::{fixed, with_unit};
use crate::grid::{self, Grid, Mode};
use crate::{mark, summary};

/// The most columns of a table; a larger matrix is a picture, and a file.
const MOST_COLUMNS: usize = 16;

/// A table for each grid of a mode, the first with what all points have in common.
pub(crate) fn tables<'a>(mode: &Mode<'a>) -> Vec<Table<'a>> {
    let measured: Vec<&Figure> = mode.figures().filter(|figure| figure.value.is_some()).collect();
    let mut tables: Vec<Table> =
        mode.grids.iter().filter_map(Grid::measured).map(|grid| table(mode, &grid)).collect();
    if tables.is_empty() {
        tables.push(Table { title: mode.title(), ..Table::default() });
    }
    tables[0].notes.splice(..0, summary::common(&measured).into_iter().map(|(_, text)| text));
    tables
}

fn table<'a>(mode: &Mode<'a>, grid: &Grid<'a>) -> Table<'a> {
    let label = grid.name(mode.info);
    let title = if label.is_empty() { mode.title() } else { format!("{}, {label}", mode.title()) };
    if grid.columns.len() > MOST_COLUMNS {
        let size = format!("{} × {} values", grid.rows.len(), grid.columns.len());
        let note = format!("{size}: too many for a table; --format csv has them");
        return Table { title, notes: vec![note], ..Table::default() };
    }
    let corner = match &grid.across {
        Some(across) => format!("{} (down), {} (across)", grid.down.head, across.head),
        None => grid.down.head.clone(),
    };
    let heads = grid.columns.iter().map(|column| Column {
        head: head(mode, grid, column),
        kind: Kind::Numbers,
        least: 0,
    });
    let rows = (0..grid.rows.len()).filter(|at| grid.has_value(*at)).map(|at| {
        let points: Vec<Option<&Figure>> = grid.columns.iter().map(|column| column.cells[at]).collect();
        let cells = grid.columns.iter().zip(&points);
        let cells =
            cells.map(|(column, figure)| figure.map_or_else(String::new, |one| cell(one, grid, column)));
        Row {
            cells: [grid.rows[at].label.clone()].into_iter().chain(cells).collect(),
            points: [None].into_iter().chain(points).collect(),
            ..Row::default()
        }
    });
    let columns = [Column::words(corner, 0)].into_iter().chain(heads).collect();
    Table { title, columns, rows: rows.collect(), ..Table::default() }
}

fn head(mode: &Mode, grid: &Grid, column: &grid::Column) -> String {
    let unit = column.unit.filter(|_| grid.across.is_none() || mode.unit().is_none());
    let unit = unit.map_or_else(String::new, |unit| plain_to(unit.symbol(), 20));
    format!("{} {unit}", column.label).trim().to_owned()
}

/// `36.60 ± 0.9 % !`: the value, half its interval, and the sign of a verdict that is not valid.
fn cell(figure: &Figure, grid: &Grid, column: &grid::Column) -> String {
    let Some(value) = figure.value else { return figure.status.to_string() };
    let mut text = match column.unit {
        Some(unit) if *unit != Unit::BYTES => fixed(value, grid.decimals(column)),
        _ => with_unit(value, &figure.unit),
    };
    if figure.interval.is_some() {
        text.push_str(&format!(" ± {}", half_width(figure)));
    }
    if let Some(verdict) = figure.verdict.filter(|verdict| *verdict != Verdict::Valid) {
        text.push_str(&format!(" {}", mark::of(verdict)));
    }
    text
}
