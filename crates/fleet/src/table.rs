//! The nodes and their figures as one table: a row for each node, a column for each figure.

use figure::Better;
use figure::format::counted;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::fingerprint::{Fact, Fingerprint};
use crate::place::{Places, Site};

/// Whether a figure of a node can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The record has no such figure, or no value of it.
    #[default]
    Missing,
    /// It is neither invalid nor suspect.
    Usable,
    /// It is invalid or suspect, because the node was disturbed.
    Disturbed,
    /// It is invalid or suspect for another reason, or has no logarithm.
    Doubtful,
    /// It was measured in another unit or with other threads than on most nodes of its kind.
    OtherParameters,
}

/// A figure of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its value; NaN without one.
    pub value: f64,
    /// Its 95 % interval; NaN without one.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Rounds that the interval rests on.
    pub rounds: u32,
    /// Whether it can be used.
    pub state: State,
    /// Why it cannot: an index into [`Table::reasons`].
    pub reason: u32,
}

impl Cell {
    /// The logarithm of its value, in the direction in which less is worse; `None` where it has none.
    pub fn merit(&self, better: Better) -> Option<f64> {
        let merit = match better {
            Better::Higher => self.value.ln(),
            Better::Lower => -self.value.ln(),
            Better::Neither => return None,
        };
        (self.state == State::Usable && merit.is_finite()).then_some(merit)
    }

    /// The standard error of its logarithm, from the 95 % interval; 0 without one.
    pub fn error(&self) -> f64 {
        let width = (self.high / self.low).ln();
        if width.is_finite() { (width / (2.0 * 1.96)).max(0.0) } else { 0.0 }
    }
}

/// A figure that nodes are compared by.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its id.
    pub id: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Whether it is computed from other figures.
    pub is_derived: bool,
}

/// What nodes of one fingerprint have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// What they are made of.
    pub fingerprint: Fingerprint,
    /// Which CPUs share what.
    pub places: Places,
    /// Where each figure is measured on them, by column.
    pub sites: Vec<Site>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its host name; the file's name if the record has none.
    pub name: String,
    /// The file.
    pub file: String,
    /// When it was measured: RFC 3339.
    pub started: String,
    /// What it is made of: an index into [`Table::kinds`].
    pub kind: usize,
    /// Facts besides the fingerprint.
    pub details: Vec<Fact>,
}

/// A file that is not used, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Unused {
    /// The file.
    pub file: String,
    /// The node, where the record names one.
    pub node: Option<String>,
    /// Why: half-written, another version, a second record of a node, …
    pub why: String,
}

/// All nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The nodes, by name.
    pub rows: Vec<Row>,
    /// Their fingerprints.
    pub kinds: Vec<Kind>,
    /// The figures.
    pub columns: Vec<Column>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
    /// Reasons of cells; the first is empty.
    pub reasons: Vec<String>,
    /// Files that are not used.
    pub unused: Vec<Unused>,
    /// What is odd about files that are used.
    pub notes: Vec<String>,
}

impl Table {
    /// The cell of a node and a figure.
    pub fn cell(&self, row: usize, column: usize) -> &Cell {
        &self.cells[row * self.columns.len() + column]
    }

    /// Why a cell cannot be used; empty without a reason.
    pub fn reason(&self, cell: &Cell) -> &str {
        &self.reasons[cell.reason as usize]
    }

    /// Notes nodes whose run began far from the others': records of several runs, or clocks that are off.
    pub(crate) fn note_starts(&mut self) {
        const DAY: f64 = 86_400.0;
        let starts: Vec<Option<f64>> = self.rows.iter().map(|row| seconds_of(&row.started)).collect();
        let known: Vec<f64> = starts.iter().flatten().copied().collect();
        let Some(middle) = figure::stats::median(&known) else { return };
        let far =
            starts.iter().filter(|start| start.is_none_or(|start| (start - middle).abs() > DAY)).count();
        if far > 0 {
            let first =
                starts.iter().position(|start| start.is_none_or(|start| (start - middle).abs() > DAY));
            let name = first.map_or("", |at| &self.rows[at].name);
            self.notes.push(format!(
                "{}, the first {name}: the run began more than a day before or after the others, by the node's clock",
                counted(far, "node")
            ));
        }
    }
}

fn seconds_of(started: &str) -> Option<f64> {
    Some(started.parse::<Timestamp>().ok()?.as_millisecond() as f64 / 1e3)
}
