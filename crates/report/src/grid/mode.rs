//! A mode, its tables, their rows and columns.

use figure::format::plain_to;
use figure::series::SeriesInfo;
use figure::{Convention, Figure, Unit};

use crate::digits;
use crate::names::{self, Axis};

/// All figures of one mode.
#[derive(Clone, Debug)]
pub(crate) struct Mode<'a> {
    /// The first two words of its series or ids: `memory.ladder`.
    pub key: &'a str,
    /// Its names, if the record has them.
    pub info: Option<&'a SeriesInfo>,
    /// Its curves, matrices and lists.
    pub grids: Vec<Grid<'a>>,
    /// Figures that were computed from others and stand for the whole: edges, knees.
    pub derived: Vec<&'a Figure>,
}

/// A table of figures that can be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid<'a> {
    /// Its name, where a mode has several; else empty.
    pub label: String,
    /// The axis downwards; without a name for a list of figures.
    pub down: Axis,
    /// For a matrix: the axis across.
    pub across: Option<Axis>,
    /// The positions downwards.
    pub rows: Vec<Position>,
    /// The series, or the positions across.
    pub columns: Vec<Column<'a>>,
    /// Whether the second column has the rate at which the first was observed, in another unit.
    pub is_companion: bool,
}

/// A position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Position {
    /// As people read it: `64 KiB`.
    pub label: String,
    /// On an axis of numbers.
    pub number: Option<f64>,
    /// The number's unit.
    pub unit: Option<Unit>,
}

impl Position {
    /// A place that has a name only.
    pub fn named(label: String) -> Self {
        Position { label, number: None, unit: None }
    }
}

/// A series, or a position on the axis across.
#[derive(Clone, Debug)]
pub(crate) struct Column<'a> {
    /// Its name; empty for a mode's only series.
    pub label: String,
    /// The unit of all its figures.
    pub unit: Option<&'a Unit>,
    /// For each row the figure, if one was planned there.
    pub cells: Vec<Option<&'a Figure>>,
}

impl<'a> Column<'a> {
    /// The figures that have a value.
    pub fn measured(&self) -> impl Iterator<Item = &'a Figure> {
        self.cells.iter().flatten().copied().filter(|figure| figure.value.is_some())
    }
}

impl<'a> Grid<'a> {
    /// Its name among the tables of its mode: `reads:writes 2:1`.
    pub fn name(&self, info: Option<&SeriesInfo>) -> String {
        if self.is_companion { names::grid(info, &self.label) } else { self.label.clone() }
    }

    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.columns.iter().flat_map(|column| column.cells.iter().flatten().copied())
    }

    /// The same without columns in which nothing has a value; `None` if nothing is left.
    pub fn measured(&self) -> Option<Grid<'a>> {
        let has_values = |column: &&Column| column.measured().next().is_some();
        let columns: Vec<Column> = self.columns.iter().filter(has_values).cloned().collect();
        let is_companion = self.is_companion && columns.len() == self.columns.len();
        (!columns.is_empty()).then(|| Grid { columns, is_companion, ..self.clone() })
    }

    /// The columns of what was measured, without the rates at which it was observed.
    pub fn values(&self) -> impl Iterator<Item = &Column<'a>> {
        self.columns.iter().take(if self.is_companion { 1 } else { usize::MAX })
    }

    /// Whether any figure of a row has a value.
    pub fn has_value(&self, row: usize) -> bool {
        self.columns.iter().any(|column| column.cells[row].is_some_and(|figure| figure.value.is_some()))
    }

    /// Whether rows are on an axis of numbers, with an order and distances.
    pub fn is_curve(&self) -> bool {
        self.rows.iter().all(|row| row.number.is_some())
    }

    /// Decimals for a column: the same for all columns of its unit; `None` where its own units differ.
    pub fn decimals(&self, column: &Column) -> Option<usize> {
        column.unit?;
        let alike = self.columns.iter().filter(|other| other.unit == column.unit);
        digits::of(alike.flat_map(Column::measured).filter_map(|figure| figure.value))
    }

    /// The unit, if it is the same for all.
    pub fn unit(&self) -> Option<&'a Unit> {
        let first = self.columns.first()?.unit?;
        self.columns.iter().all(|column| column.unit == Some(first)).then_some(first)
    }
}

impl<'a> Mode<'a> {
    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.grids.iter().flat_map(Grid::figures).chain(self.derived.iter().copied())
    }

    /// The byte convention, if it is the same for all bandwidths.
    pub fn convention(&self) -> Option<Convention> {
        let mut conventions =
            self.grids.iter().flat_map(Grid::figures).filter_map(|figure| figure.convention);
        let first = conventions.next()?;
        conventions.all(|convention| convention == first).then_some(first)
    }

    /// Its heading: `memory.ladder: bandwidth by array size, in GB/s, STREAM-counted bytes`.
    pub fn title(&self) -> String {
        let mut title = plain_to(self.key, 60);
        if let Some(known) = names::title(self.info) {
            title.push_str(&format!(": {known}"));
        }
        let unit = self.unit();
        if let Some(unit) = unit.filter(|unit| **unit != Unit::ONE) {
            title.push_str(&format!(", in {}", plain_to(unit.symbol(), digits::MAX_UNIT)));
        }
        if let Some(convention) = self.convention() {
            let bandwidths = if unit.is_none() { " bandwidths in" } else { "" };
            title.push_str(&format!(",{bandwidths} {convention}"));
        }
        title
    }

    /// The unit, if it is the same for all but the figures that were computed.
    pub fn unit(&self) -> Option<&'a Unit> {
        let first = self.grids.first()?.unit()?;
        self.grids.iter().all(|grid| grid.unit() == Some(first)).then_some(first)
    }
}
