//! From parsed records to the table: what most nodes have in common decides when all are there.

use std::collections::HashMap;

use figure::Machine;
use figure::format::{counted, seconds};

use crate::duplicates;
use crate::fingerprint::Fingerprint;
use crate::gathered::{Gathered, Heading, MAX_SETUPS};
use crate::parsed::{Parsed, ParsedFigure, Setup};
use crate::place::{Places, Site};
use crate::rules::{CLOCK_AHEAD, MIN_GROUP};
use crate::table::{Cell, Column, Kind, State, Table, Unused};
use crate::usual::Usual;

/// A figure that fewer nodes have than a group needs, and fewer than this share of all, is left out: a table of ten thousand nodes has
/// no room for the figures of one.
const MIN_SHARE: f64 = 0.01;

/// Gathers records, one after the other.
#[derive(Default)]
pub struct Gathering {
    nodes: Vec<Gathered>,
    kinds: Vec<Kind>,
    kind_ids: HashMap<Fingerprint, usize>,
    columns: Vec<Heading>,
    ids: HashMap<String, usize>,
    reasons: Vec<String>,
    reason_ids: HashMap<String, u32>,
    unused: Vec<Unused>,
    notes: Vec<String>,
}

impl Gathering {
    /// Adds a record.
    pub fn add(&mut self, parsed: Parsed) {
        let Parsed { mut row, machine, fingerprint, started, duration, written, figures } = parsed;
        if let (Some(started), Some(written)) = (started, written) {
            let ahead = started.as_millisecond() as f64 / 1e3 - written;
            if ahead > CLOCK_AHEAD {
                self.notes.push(format!(
                    "{}: its clock is ahead: the run began {} after {} was written",
                    row.name,
                    seconds(ahead),
                    row.file
                ));
            }
        }
        row.kind = self.kind(fingerprint, &machine);
        let mut cells = Vec::with_capacity(figures.len());
        for ParsedFigure { id, setup, is_derived, mut cell, why } in figures {
            let column = self.column(id, is_derived);
            cell.reason = self.reason(why);
            cells.push((column as u32, self.setup(column, setup), cell));
        }
        self.nodes.push(Gathered { row, started, duration, cells });
    }

    /// Adds a file that is no record.
    pub fn reject(&mut self, unused: Unused) {
        self.unused.push(unused);
    }

    fn kind(&mut self, fingerprint: Fingerprint, machine: &Machine) -> usize {
        if let Some(&at) = self.kind_ids.get(&fingerprint) {
            return at;
        }
        let at = self.kinds.len();
        self.kind_ids.insert(fingerprint.clone(), at);
        self.kinds.push(Kind { fingerprint, places: Places::of(machine), sites: Vec::new() });
        at
    }

    fn column(&mut self, id: String, is_derived: bool) -> usize {
        if let Some(&at) = self.ids.get(&id) {
            return at;
        }
        let at = self.columns.len();
        self.ids.insert(id.clone(), at);
        self.columns.push(Heading { id, is_derived, setups: Vec::new() });
        at
    }

    /// The number of a setup among those of its column; beyond the most all have one number.
    fn setup(&mut self, column: usize, setup: Setup) -> u32 {
        let setups = &mut self.columns[column].setups;
        let at = setups.iter().position(|other| *other == setup).unwrap_or(setups.len());
        if at == setups.len() && at < MAX_SETUPS {
            setups.push(setup);
        }
        at as u32
    }

    /// Reasons repeat: disturbed nodes have thousands of figures with few reasons.
    fn reason(&mut self, why: String) -> u32 {
        if self.reasons.is_empty() {
            self.reasons.push(String::new());
        }
        if why.is_empty() {
            return 0;
        }
        if let Some(&at) = self.reason_ids.get(&why) {
            return at;
        }
        let at = self.reasons.len() as u32;
        self.reasons.push(why.clone());
        self.reason_ids.insert(why, at);
        at
    }

    /// The table: one row for each node, by name. Of several records of a node the latest is used, and the others are named.
    pub fn finish(mut self) -> Table {
        self.reason(String::new());
        self.nodes = duplicates::one_each(self.nodes, &mut self.unused, &mut self.notes);
        let usual = Usual::of(&self.nodes, &self.columns);
        let used = self.used_columns();
        let mut place = vec![None; self.columns.len()];
        used.iter().enumerate().for_each(|(at, &column)| place[column] = Some(at));
        let mut columns = Vec::with_capacity(used.len());
        for &column in &used {
            let Heading { id, is_derived, .. } = &self.columns[column];
            let (unit, better) = (usual.units[column].0.clone(), usual.units[column].1);
            columns.push(Column { id: id.clone(), unit, better, is_derived: *is_derived });
        }
        for (at, kind) in self.kinds.iter_mut().enumerate() {
            let site = |column: &usize| {
                let site = usual.sites.get(&(at, *column))?;
                let setup = &self.columns[*column].setups[site.setup];
                let cpus = if site.is_same { setup.cpus.as_slice() } else { &[] };
                Some(Site::of(cpus, setup.memory, &kind.places))
            };
            kind.sites = used.iter().map(|column| site(column).unwrap_or_default()).collect();
        }
        let nothing = Cell { value: f64::NAN, low: f64::NAN, high: f64::NAN, ..Cell::default() };
        let mut cells = vec![nothing; self.nodes.len() * used.len()];
        let mut rows = Vec::with_capacity(self.nodes.len());
        for (row, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            for (column, setup, mut cell) in node.cells {
                let Some(at) = place[column as usize] else { continue };
                if cell.state != State::Missing
                    && let Some(why) = usual.objection(
                        &self.columns[column as usize],
                        node.row.kind,
                        column as usize,
                        setup as usize,
                    )
                {
                    (cell.state, cell.reason) = (State::OtherParameters, self.reason(why));
                }
                cells[row * used.len() + at] = cell;
            }
            rows.push(node.row);
        }
        self.unused.sort();
        self.notes.sort();
        let (kinds, reasons, unused, notes) = (self.kinds, self.reasons, self.unused, self.notes);
        let mut table = Table { rows, kinds, columns, cells, reasons, unused, notes };
        table.note_starts();
        table
    }

    /// Columns that enough nodes have; the others are named.
    fn used_columns(&mut self) -> Vec<usize> {
        let mut nodes = vec![0usize; self.columns.len()];
        for (column, _, _) in self.nodes.iter().flat_map(|node| &node.cells) {
            nodes[*column as usize] += 1;
        }
        let least = (self.nodes.len() as f64 * MIN_SHARE).min(MIN_GROUP as f64);
        let (used, rare): (Vec<usize>, Vec<usize>) =
            (0..nodes.len()).partition(|&at| nodes[at] > 0 && nodes[at] as f64 >= least);
        let mut rare: Vec<&str> = rare.iter().map(|&at| self.columns[at].id.as_str()).collect();
        rare.sort_unstable();
        if let Some(first) = rare.first() {
            self.notes.push(format!(
                "{}, the first {first}: left out, fewer than {MIN_GROUP} nodes have it",
                counted(rare.len(), "figure")
            ));
        }
        used
    }
}
