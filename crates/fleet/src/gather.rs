//! From records to the table: each is parsed on its own, and what most nodes have in common decides when all are there.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use figure::format::{counted, plain, plain_to, seconds};
use figure::{Better, Machine, Status, Verdict};
use jiff::Timestamp;

use crate::fingerprint::{self, Fingerprint};
use crate::intake::{self, Lenient, SlimFigure};
use crate::place::{Places, Site};
use crate::rules::{CLOCK_AHEAD, DISTURBANCES, MIN_GROUP};
use crate::table::{Cell, Column, Kind, Row, State, Table, Unused};

/// The longest name of a node, and the longest reason.
const MAX_NAME: usize = 100;
const MAX_REASON: usize = 200;
/// The longest unit.
const MAX_UNIT: usize = 20;
/// The role of a figure that is measured for its own sake; others are baselines and controls.
const NO_ROLE: &str = "";
/// The most setups of a figure that are told apart: CPUs that each node chooses for itself are many.
const MAX_SETUPS: usize = 4096;
/// A figure's place is known if it is the same on this share of the nodes of a kind.
const SAME_PLACE: f64 = 0.95;
/// A figure that fewer nodes have than a group needs, and fewer than this share of all, is left out: a table of ten thousand nodes has
/// no room for the figures of one.
const MIN_SHARE: f64 = 0.01;

/// How a figure was measured.
#[derive(Clone, Debug, PartialEq)]
struct Setup {
    unit: String,
    better: Better,
    threads: Option<u32>,
    cpus: Vec<u32>,
    memory: Option<u32>,
}

/// A figure of a record.
struct ParsedFigure {
    id: String,
    setup: Setup,
    is_derived: bool,
    cell: Cell,
    why: String,
}

/// A record that was parsed, and is not gathered yet.
pub struct Parsed {
    row: Row,
    machine: Machine,
    fingerprint: Fingerprint,
    started: Option<Timestamp>,
    duration: f64,
    written: Option<f64>,
    figures: Vec<ParsedFigure>,
}

/// Parses the text of a file; `written` is when the file was, in seconds since 1970. What needs no other record is done here, so that
/// it can be done for several at once.
///
/// # Errors
/// The file and why it is no record.
pub fn parse(file: &str, text: &[u8], written: Option<f64>) -> Result<Parsed, Unused> {
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
    let figures = slim.figures.iter().filter(|figure| is_compared(figure)).map(parsed).collect();
    let row = Row { name, file, started: plain_to(&slim.started, 40), kind: 0, details };
    let started = slim.started.parse::<Timestamp>().ok();
    let duration = slim.duration;
    Ok(Parsed { row, machine: slim.machine, fingerprint, started, duration, written, figures })
}

/// Whether nodes are compared by this figure: it has a better direction, and is measured for its own sake.
fn is_compared(figure: &SlimFigure) -> bool {
    let is_control = matches!(&figure.conditions.role, Lenient::Text(role) if role != NO_ROLE);
    figure.better != Better::Neither && !is_control
}

fn parsed(figure: &SlimFigure) -> ParsedFigure {
    let value = figure.value.filter(|_| figure.status == Status::Measured);
    let (state, why) = state(figure, value);
    let interval = figure.interval;
    ParsedFigure {
        id: plain_to(&figure.id, MAX_NAME),
        setup: Setup {
            unit: plain_to(&figure.unit, MAX_UNIT),
            better: figure.better,
            threads: figure.conditions.threads.whole(),
            cpus: figure.conditions.cpus.cpus(),
            memory: figure.conditions.memory_node.whole(),
        },
        is_derived: !figure.derived_from.is_empty(),
        cell: Cell {
            value: value.unwrap_or(f64::NAN),
            low: interval.map_or(f64::NAN, |interval| interval.low),
            high: interval.map_or(f64::NAN, |interval| interval.high),
            rounds: interval.map_or(0, |interval| interval.rounds),
            state,
            reason: 0,
        },
        why: plain_to(&why, MAX_REASON),
    }
}

/// Whether a figure can be used, and why not.
fn state(figure: &SlimFigure, value: Option<f64>) -> (State, String) {
    let Some(value) = value else {
        let why = figure.reason.clone().unwrap_or_else(|| figure.status.to_string());
        return (State::Missing, why);
    };
    match figure.verdict {
        Some(verdict @ (Verdict::Invalid | Verdict::Suspect)) => {
            let Some(check) = figure.first_reason() else { return (State::Doubtful, verdict.to_string()) };
            let root = check.root();
            let state = if DISTURBANCES.contains(&root) { State::Disturbed } else { State::Doubtful };
            let why = if root == check.id { format!("{root}: {}", check.detail) } else { root.to_owned() };
            (state, why)
        }
        _ if value > 0.0 => (State::Usable, String::new()),
        _ => (State::Doubtful, "the value is not above 0: it has no ratio to others".to_owned()),
    }
}

/// A record as it is gathered.
struct Gathered {
    row: Row,
    started: Option<Timestamp>,
    duration: f64,
    /// Column, setup of the column, cell.
    cells: Vec<(u32, u32, Cell)>,
}

/// Gathers records, one after the other.
#[derive(Default)]
pub struct Gathering {
    nodes: Vec<Gathered>,
    kinds: Vec<Kind>,
    kind_ids: HashMap<Fingerprint, usize>,
    /// Of each column its id, whether it is derived, and how it was measured.
    columns: Vec<(String, bool, Vec<Setup>)>,
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
        self.columns.push((id, is_derived, Vec::new()));
        at
    }

    /// The number of a setup among those of its column; beyond the most all have one number.
    fn setup(&mut self, column: usize, setup: Setup) -> u32 {
        let setups = &mut self.columns[column].2;
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
        self.one_record_each();
        let usual = self.usual();
        let used = self.used_columns();
        let mut place = vec![None; self.columns.len()];
        used.iter().enumerate().for_each(|(at, &column)| place[column] = Some(at));
        let mut columns = Vec::with_capacity(used.len());
        for &column in &used {
            let (id, is_derived, _) = &self.columns[column];
            let (unit, better) = (usual.units[column].0.clone(), usual.units[column].1);
            columns.push(Column { id: id.clone(), unit, better, is_derived: *is_derived });
        }
        for (at, kind) in self.kinds.iter_mut().enumerate() {
            let site = |column: &usize| {
                let site = usual.sites.get(&(at, *column))?;
                let setup = &self.columns[*column].2[site.setup];
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
                    && let Some(why) = self.other(&usual, node.row.kind, column as usize, setup as usize)
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

    /// Keeps one record of each name. Records of one name whose runs overlap are of several machines: each stays, under its file's name.
    fn one_record_each(&mut self) {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.sort_by(|a, b| {
            (&a.row.name, b.started, &b.row.file).cmp(&(&b.row.name, a.started, &a.row.file))
        });
        let mut kept: Vec<Gathered> = Vec::with_capacity(nodes.len());
        for same in chunks(nodes, |a, b| a.row.name == b.row.name) {
            let mut same = if same.len() > 1 { self.without_copies(same) } else { same };
            if same.windows(2).any(|pair| overlap(&pair[0], &pair[1])) {
                let (name, count) = (same[0].row.name.clone(), same.len());
                self.notes.push(format!(
                    "{count} records are named {name} and overlap in time: they are taken for {count} nodes, named by their files"
                ));
                for node in &mut same {
                    node.row.name = plain_to(&format!("{name} ({})", node.row.file), 2 * MAX_NAME);
                }
                kept.append(&mut same);
                continue;
            }
            let mut same = same.into_iter();
            let Some(latest) = same.next() else { continue };
            for earlier in same {
                let why = format!("an earlier record of this node; {} is later", latest.row.file);
                self.unused.push(Unused { file: earlier.row.file, node: Some(earlier.row.name), why });
            }
            kept.push(latest);
        }
        kept.sort_by(|a, b| a.row.name.cmp(&b.row.name));
        self.nodes = kept;
    }

    /// Leaves out records that are copies of one another.
    fn without_copies(&mut self, same: Vec<Gathered>) -> Vec<Gathered> {
        let mut files = HashMap::new();
        let mut kept = Vec::with_capacity(same.len());
        for node in same {
            match files.entry((node.started, node.values())) {
                Entry::Vacant(entry) => {
                    entry.insert(node.row.file.clone());
                    kept.push(node);
                }
                Entry::Occupied(entry) => {
                    let why = format!("a copy of {}", entry.get());
                    self.unused.push(Unused { file: node.row.file, node: Some(node.row.name), why });
                }
            }
        }
        kept
    }

    /// How most nodes measured each figure.
    fn usual(&self) -> Usual {
        let mut counts: HashMap<(usize, usize, usize), usize> = HashMap::new();
        for node in &self.nodes {
            for (column, setup, cell) in &node.cells {
                if cell.state != State::Missing {
                    *counts.entry((*column as usize, node.row.kind, *setup as usize)).or_default() += 1;
                }
            }
        }
        let setup = |column: usize, at: usize| self.columns[column].2.get(at);
        let mut units: Vec<Vec<(&Setup, usize)>> = vec![Vec::new(); self.columns.len()];
        for (&(column, _, at), count) in &counts {
            let Some(setup) = setup(column, at) else { continue };
            let is_same =
                |one: &&mut (&Setup, usize)| one.0.unit == setup.unit && one.0.better == setup.better;
            match units[column].iter_mut().find(is_same) {
                Some(one) => one.1 += count,
                None => units[column].push((setup, *count)),
            }
        }
        let unit = |(column, setups): (usize, &Vec<(&Setup, usize)>)| {
            // Of equally many the unit that comes first: the order of files must not matter.
            let most = setups.iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.unit.cmp(&a.0.unit)));
            let setup = most.map(|(setup, _)| *setup).or_else(|| setup(column, 0));
            setup.map_or_else(|| (String::new(), Better::Higher), |one| (one.unit.clone(), one.better))
        };
        let units: Vec<(String, Better)> = units.iter().enumerate().map(unit).collect();

        let mut sites: HashMap<(usize, usize), UsualSite> = HashMap::new();
        let mut all: HashMap<(usize, usize), usize> = HashMap::new();
        for (&(column, kind, at), &count) in &counts {
            let Some(one) = setup(column, at) else { continue };
            if (one.unit.as_str(), one.better) != (units[column].0.as_str(), units[column].1) {
                continue;
            }
            *all.entry((kind, column)).or_default() += count;
            let key = |site: &UsualSite| {
                let one = &self.columns[column].2[site.setup];
                (site.count, Reverse((one.threads, one.cpus.clone(), one.memory)))
            };
            let new = UsualSite { setup: at, count, is_same: false };
            let best = sites.entry((kind, column)).or_insert(new);
            if key(&new) > key(best) {
                *best = new;
            }
        }
        for (key, site) in &mut sites {
            site.is_same = site.count as f64 >= SAME_PLACE * all[key] as f64;
        }
        Usual { units, sites }
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
        let mut rare: Vec<&str> = rare.iter().map(|&at| self.columns[at].0.as_str()).collect();
        rare.sort_unstable();
        if let Some(first) = rare.first() {
            self.notes.push(format!(
                "{}, the first {first}: left out, fewer than {MIN_GROUP} nodes have it",
                counted(rare.len(), "figure")
            ));
        }
        used
    }

    /// Why a figure that was measured so cannot be compared with those of the other nodes of its kind.
    fn other(&self, usual: &Usual, kind: usize, column: usize, setup: usize) -> Option<String> {
        let Some(own) = self.columns[column].2.get(setup) else {
            return Some(format!("measured in more than {MAX_SETUPS} ways"));
        };
        let (unit, better) = &usual.units[column];
        if own.unit != *unit {
            return Some(format!("measured in {}, on most nodes in {unit}", own.unit));
        }
        if own.better != *better {
            return Some("the better direction is not that of most nodes".to_owned());
        }
        let site = usual.sites.get(&(kind, column))?;
        let threads = self.columns[column].2[site.setup].threads;
        if own.threads == threads {
            return None;
        }
        let words = |threads: Option<u32>| match threads {
            Some(count) => counted(count as usize, "thread"),
            None => "an unknown number of threads".to_owned(),
        };
        Some(format!("measured with {}, on most nodes with {}", words(own.threads), words(threads)))
    }
}

/// How most nodes measured each figure.
struct Usual {
    /// Unit and direction of each column.
    units: Vec<(String, Better)>,
    /// By kind and column.
    sites: HashMap<(usize, usize), UsualSite>,
}

/// Where most nodes of a kind measured a figure.
#[derive(Clone, Copy)]
struct UsualSite {
    setup: usize,
    count: usize,
    /// Whether nearly all did.
    is_same: bool,
}

impl Gathered {
    /// Its figures' values, as bits.
    fn values(&self) -> Vec<(u32, u64)> {
        self.cells.iter().map(|(column, _, cell)| (*column, cell.value.to_bits())).collect()
    }
}

/// Whether two records, the later one first, were measured at the same time.
fn overlap(later: &Gathered, earlier: &Gathered) -> bool {
    let (Some(start), Some(before)) = (later.started, earlier.started) else { return false };
    ((start.as_millisecond() - before.as_millisecond()) as f64) < 1e3 * earlier.duration
}

/// Neighbours that belong together, as vectors.
fn chunks<T>(items: Vec<T>, belong: impl Fn(&T, &T) -> bool) -> Vec<Vec<T>> {
    let mut chunks: Vec<Vec<T>> = Vec::new();
    for item in items {
        match chunks.last_mut() {
            Some(chunk) if chunk.last().is_some_and(|last| belong(last, &item)) => chunk.push(item),
            _ => chunks.push(vec![item]),
        }
    }
    chunks
}
