//! The nodes and their figures as one table: a row for each node, a column for each figure.

use std::collections::HashMap;

use figure::format::{counted, plain, plain_to, seconds};
use figure::{Better, Machine, Status, Verdict};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::fingerprint::{self, Fact, Fingerprint};
use crate::intake::{self, Lenient, Slim, SlimFigure};
use crate::place::{Places, Site};
use crate::rules::{CLOCK_AHEAD, DISTURBANCES};

/// The longest name of a node, and the longest reason.
const MAX_NAME: usize = 100;
const MAX_REASON: usize = 200;
/// The longest unit.
const MAX_UNIT: usize = 20;
/// The role of a figure that is measured for its own sake; others are baselines and controls.
const NO_ROLE: &str = "";

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
    /// It is invalid or suspect for another reason.
    Doubtful,
    /// It was measured in another unit or with other threads than on most nodes.
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
}

/// A record as it is gathered.
struct Gathered {
    row: Row,
    started: Option<Timestamp>,
    cells: Vec<(u32, Cell)>,
}

/// Gathers records, one after the other.
#[derive(Default)]
pub struct Gathering {
    nodes: Vec<Gathered>,
    kinds: Vec<Kind>,
    kind_ids: HashMap<Fingerprint, usize>,
    columns: Vec<Column>,
    ids: HashMap<String, usize>,
    reasons: Vec<String>,
    reason_ids: HashMap<String, u32>,
    unused: Vec<Unused>,
    notes: Vec<String>,
}

/// A record that was parsed, and is not gathered yet.
pub struct Parsed<'a> {
    slim: Slim<'a>,
    file: String,
    written: Option<f64>,
    name: String,
    fingerprint: Fingerprint,
    details: Vec<Fact>,
}

/// Parses the text of a file; `written` is when the file was, in seconds since 1970. What needs no other record is done here, so that
/// it can be done for several at once.
///
/// # Errors
/// The file and why it is no record.
pub fn parse<'a>(file: &str, text: &'a [u8], written: Option<f64>) -> Result<Parsed<'a>, Unused> {
    let file = plain(file);
    let slim = match intake::read(text) {
        Ok(slim) => slim,
        Err(why) => return Err(Unused { file, node: None, why: plain_to(&why, MAX_REASON) }),
    };
    let stem = file.rsplit('/').next().unwrap_or(&file).split('.').next().unwrap_or(&file);
    let name = plain_to(slim.machine.hostname.value().map_or(stem, String::as_str), MAX_NAME);
    let tool = &slim.tool;
    let program = format!("{} {} ({}, {})", tool.name, tool.version, tool.build, tool.simd);
    let fingerprint = Fingerprint::of(&slim.machine, &plain(&program));
    let details = fingerprint::details(&slim.machine, &name);
    Ok(Parsed { slim, file, written, name, fingerprint, details })
}

impl Gathering {
    /// Adds a record.
    pub fn add(&mut self, Parsed { slim, file, written, name, fingerprint, details }: Parsed) {
        let started = slim.started.parse::<Timestamp>().ok();
        if let (Some(started), Some(written)) = (started, written) {
            let ahead = started.as_millisecond() as f64 / 1e3 - written;
            if ahead > CLOCK_AHEAD {
                self.notes.push(format!(
                    "{name}: its clock is ahead: the run began {} after {file} was written",
                    seconds(ahead)
                ));
            }
        }
        let kind = self.kind(fingerprint, &slim.machine);
        let row = Row { name, file, started: plain_to(&slim.started, 40), kind, details };
        let mut cells = Vec::with_capacity(slim.figures.len());
        for figure in slim.figures.iter().filter(|figure| is_compared(figure)) {
            let column = self.column(figure);
            let sites = &mut self.kinds[kind].sites;
            if sites.len() <= column {
                sites.resize(column + 1, Site::default());
            }
            if !sites[column].is_known {
                let places = &self.kinds[kind].places;
                let (cpus, memory) = (figure.conditions.cpus.cpus(), figure.conditions.memory_node.whole());
                let site = Site::of(&cpus, memory, figure.conditions.threads.whole(), places);
                self.kinds[kind].sites[column] = site;
            }
            let cell = self.cell(column, kind, figure);
            cells.push((column as u32, cell));
        }
        cells.shrink_to_fit();
        self.nodes.push(Gathered { row, started, cells });
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

    fn column(&mut self, figure: &SlimFigure) -> usize {
        if let Some(&at) = self.ids.get(figure.id.as_ref()) {
            return at;
        }
        let at = self.columns.len();
        self.ids.insert(figure.id.clone().into_owned(), at);
        let (id, unit) = (plain_to(&figure.id, MAX_NAME), plain_to(&figure.unit, MAX_UNIT));
        self.columns.push(Column { id, unit, better: figure.better });
        at
    }

    fn cell(&mut self, column: usize, kind: usize, figure: &SlimFigure) -> Cell {
        let site = &self.kinds[kind].sites[column];
        let column = &self.columns[column];
        let is_alike = column.unit == plain_to(&figure.unit, MAX_UNIT)
            && column.better == figure.better
            && site.threads == figure.conditions.threads.whole();
        let value = figure.value.filter(|_| figure.status == Status::Measured);
        let reason = figure.first_reason();
        let (state, why) = match (value, figure.verdict) {
            (None, _) => (State::Missing, figure.reason.clone().unwrap_or_else(|| figure.status.to_string())),
            (Some(_), _) if !is_alike => {
                (State::OtherParameters, "measured in another unit or with other threads".to_owned())
            }
            (Some(_), Some(verdict @ (Verdict::Invalid | Verdict::Suspect))) => {
                let is_disturbed = reason.is_some_and(|check| DISTURBANCES.contains(&check.root()));
                let why = reason.map_or_else(
                    || verdict.to_string(),
                    |check| match check.root() {
                        root if root == check.id => format!("{root}: {}", check.detail),
                        root => root.to_owned(),
                    },
                );
                (if is_disturbed { State::Disturbed } else { State::Doubtful }, why)
            }
            _ => (State::Usable, String::new()),
        };
        let interval = figure.interval;
        Cell {
            value: value.unwrap_or(f64::NAN),
            low: interval.map_or(f64::NAN, |interval| interval.low),
            high: interval.map_or(f64::NAN, |interval| interval.high),
            rounds: interval.map_or(0, |interval| interval.rounds),
            state,
            reason: self.reason(&why),
        }
    }

    /// Reasons repeat: disturbed nodes have thousands of figures with few reasons.
    fn reason(&mut self, why: &str) -> u32 {
        if self.reasons.is_empty() {
            self.reasons.push(String::new());
        }
        let why = plain_to(why, MAX_REASON);
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
        self.reason("");
        self.nodes.sort_by(|a, b| {
            (&a.row.name, b.started, &b.row.file).cmp(&(&b.row.name, a.started, &a.row.file))
        });
        let mut kept: Vec<Gathered> = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            match kept.last() {
                Some(latest) if latest.row.name == node.row.name => {
                    let why = format!("an earlier record of this node; {} is later", latest.row.file);
                    self.unused.push(Unused { file: node.row.file, node: Some(node.row.name), why });
                }
                _ => kept.push(node),
            }
        }
        let columns = self.columns;
        for kind in &mut self.kinds {
            kind.sites.resize(columns.len(), Site::default());
        }
        let nothing = Cell { value: f64::NAN, low: f64::NAN, high: f64::NAN, ..Cell::default() };
        let mut cells = vec![nothing; kept.len() * columns.len()];
        let mut rows = Vec::with_capacity(kept.len());
        for (at, node) in kept.into_iter().enumerate() {
            for (column, cell) in node.cells {
                cells[at * columns.len() + column as usize] = cell;
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
}

impl Table {
    /// Notes nodes whose run began far from the others': records of several runs, or clocks that are off.
    fn note_starts(&mut self) {
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
                "{}, first {name}: began more than a day before or after the others, by their own clocks",
                counted(far, "node")
            ));
        }
    }
}

fn seconds_of(started: &str) -> Option<f64> {
    Some(started.parse::<Timestamp>().ok()?.as_millisecond() as f64 / 1e3)
}

/// Whether nodes are compared by this figure: it has a better direction, and is measured for its own sake.
fn is_compared(figure: &SlimFigure) -> bool {
    let is_control = matches!(&figure.conditions.role, Lenient::Text(role) if role != NO_ROLE);
    figure.better != Better::Neither && !is_control
}
