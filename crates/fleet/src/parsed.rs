//! A record of a node, parsed on its own: what needs no other record.

use figure::format::{plain, plain_to};
use figure::{Better, Machine, Status, Verdict};
use jiff::Timestamp;

use crate::fingerprint::{self, Fingerprint};
use crate::intake::{self, Lenient, SlimFigure};
use crate::rules::DISTURBANCES;
use crate::table::{Cell, Row, State, Unused};

/// The longest name of a node, and the longest reason.
pub(crate) const MAX_NAME: usize = 100;
const MAX_REASON: usize = 200;
/// The longest unit.
const MAX_UNIT: usize = 20;
/// The role of a figure that is measured for its own sake; others are baselines and controls.
const NO_ROLE: &str = "";

/// How a figure was measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setup {
    pub unit: String,
    pub better: Better,
    pub threads: Option<u32>,
    pub cpus: Vec<u32>,
    pub memory: Option<u32>,
}

/// A figure of a record.
pub(crate) struct ParsedFigure {
    pub id: String,
    pub setup: Setup,
    pub is_derived: bool,
    pub cell: Cell,
    /// Why it cannot be used.
    pub why: String,
}

/// A record that was parsed, and is not gathered yet.
pub struct Parsed {
    pub(crate) row: Row,
    pub(crate) machine: Machine,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) started: Option<Timestamp>,
    pub(crate) duration: f64,
    pub(crate) written: Option<f64>,
    pub(crate) figures: Vec<ParsedFigure>,
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
