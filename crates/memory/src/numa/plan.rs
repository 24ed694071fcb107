//! From options to a plan: a figure for each cell, how large, for how long. Pure.

use figure::evidence as key;
use figure::{CpuList, Machine, Reading, format};
use lab::failure::Failure;
use lab::placement::Placement;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::cells::{self, Cells};
use super::nodes::{self, Matrix, Quantity};
use super::room::{self, Share, SizeRequest};
use crate::chase::LINE;
use crate::deadlines;
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::Pages;
use crate::simd::Simd;
use crate::sizes;

/// Seconds of a round at least: twenty ticks of 10 ms, so that tick accounting (steal, foreign load) shows.
const ROUND: f64 = 0.2;
/// With many cells rounds are shorter, but not below this, in seconds: what surrounds a round takes as long.
const SHORTEST_ROUND: f64 = 0.05;
/// The share of the time that is for timed work; the rest prepares, watches, and finishes.
const TIMED_SHARE: f64 = 0.5;
/// Seconds that writing one element of a chain takes at most, for the deadline.
const SLOWEST_ELEMENT: f64 = 2e-6;
/// Bandwidth to another node below which a round counts as hung, in bytes a second.
const SLOWEST_PASS: f64 = 0.02e9;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub node: u32,
    pub threads: Vec<CpuList>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    pub node: u32,
    pub bytes: u64,
    /// The row with the nearest CPUs: they touch it.
    pub near: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub quantity: Quantity,
    pub row: usize,
    pub column: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub rows: Vec<Row>,
    pub columns: Vec<Column>,
    pub simd: Simd,
    pub pages: Pages,
    /// Seconds of a round, about.
    pub round: f64,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let matrix = nodes::matrix(machine, options)?;
    // Page walks are not what the matrix is of, and a walk may itself go to another node.
    let pages = options.pages.or_huge(machine);
    let rows: Vec<(u32, &Placement)> =
        matrix.rows.iter().filter_map(|row| Some((row.node, row.usable.as_ref().ok()?))).collect();
    let shares = shares(machine, options, &matrix, &rows, pages)?;
    let row_nodes: Vec<u32> = rows.iter().map(|(node, _)| *node).collect();
    let columns: Vec<Column> = matrix
        .columns
        .iter()
        .zip(&shares)
        .filter_map(|(column, share)| {
            let near = nodes::nearest(machine, &row_nodes, column.node)?;
            Some(Column { node: column.node, bytes: share.as_ref().ok()?.bytes, near })
        })
        .collect();
    let cells = Cells { machine, pages, simd };
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for quantity in [Quantity::Bandwidth, Quantity::Latency] {
        for row in &matrix.rows {
            for (column, share) in matrix.columns.iter().zip(&shares) {
                let figure = cells.planned(quantity, row.node, column.node);
                let cell = row.usable.as_ref().and_then(|placement| Ok((placement, share.as_ref()?)));
                figures.push(match cell {
                    Ok((placement, share)) => {
                        let id = figure.id.clone();
                        let at = |nodes: &[u32], node| nodes.iter().position(|other| *other == node);
                        let columns: Vec<u32> = columns.iter().map(|column| column.node).collect();
                        let places = at(&row_nodes, row.node).zip(at(&columns, column.node));
                        tasks.extend(places.map(|(row, column)| Task { id, quantity, row, column }));
                        cells.measured(figure, quantity, placement, share)
                    }
                    Err(reason) => figure.not_available(reason.to_string()),
                });
            }
        }
        figures.extend(cells::nothing_remote(machine, quantity));
    }
    let bytes: u64 = columns.iter().map(|column| 2 * column.bytes).sum();
    for figure in figures.iter_mut().filter(|figure| figure.conditions.get(key::ARRAY_BYTES).is_some()) {
        figure.conditions.set(key::ARRAYS_TOTAL_BYTES, bytes as f64);
    }
    let largest = columns.iter().map(|column| column.bytes).max().unwrap_or(0) as f64;
    let rounds = (tasks.len() * options.rules.least).max(1) as f64;
    let round = (options.rules.max_time * TIMED_SHARE / rounds).clamp(SHORTEST_ROUND, ROUND);
    let notes = notes(&rows, &matrix, &shares, pages, simd);
    let rows =
        rows.into_iter().map(|(node, placement)| Row { node, threads: placement.threads.clone() }).collect();
    let setup = Setup { machine: machine.clone(), rows, columns, simd, pages, round, tasks };
    let (bytes, nodes) = (bytes as f64, setup.columns.len());
    let plural = if nodes == 1 { "" } else { "s" };
    let least_seconds = sizes::touch_seconds(machine, 1, bytes);
    let suite = SuitePlan {
        preparing: format!("first touch of {} on {nodes} NUMA node{plural}", format::bytes(bytes)),
        prepare_deadline: deadlines::touch(bytes) + largest / LINE as f64 * SLOWEST_ELEMENT,
        round_deadline: deadlines::GRACE + largest / SLOWEST_PASS,
        ..mode::suite("memory.numa", setup, figures, options.rules, least_seconds, bytes)
    };
    Ok(Planned { suite, notes })
}

fn shares(
    machine: &Machine,
    options: &Options,
    matrix: &Matrix,
    rows: &[(u32, &Placement)],
    pages: Pages,
) -> Result<Vec<Result<Share, Failure>>, PlanError> {
    // What one row's caches hold: rows are measured one at a time.
    let caches = rows.iter().map(|(_, placement)| sizes::in_use(machine, &placement.cpus()));
    let most = caches.reduce(|most, cache| match (&most, &cache) {
        (Reading::Value(a), Reading::Value(b)) if a.bytes < b.bytes => cache,
        (Reading::Unknown(_), _) => most,
        (_, Reading::Unknown(_)) => cache,
        _ => most,
    });
    let threads = rows.iter().map(|(_, placement)| placement.threads.len()).max().unwrap_or(1);
    let cache = most.unwrap_or_default();
    let request = SizeRequest { asked: options.array_size, cache: &cache, threads, pages };
    let bytes = room::wanted_bytes(&request)?;
    let usable = matrix.columns.iter().filter(|column| column.usable.is_ok()).count();
    let shares: Vec<Result<Share, Failure>> = matrix
        .columns
        .iter()
        .map(|column| {
            column.usable.clone()?;
            let node = machine
                .node(column.node)
                .ok_or_else(|| Failure::new(format!("node {} is gone", column.node)))?;
            room::share(machine, node, usable, &request, bytes)
        })
        .collect();
    // Asked for a size that fits nowhere, planning fails at once.
    if let (Some(elements), true, Some(Err(reason))) = (
        options.array_size,
        usable > 0 && shares.iter().all(Result::is_err),
        shares.iter().find(|share| share.is_err()),
    ) && pages.reserved_size().is_none()
    {
        return Err(PlanError::Wrong(format!("--array-size {elements}: {reason}; give less")));
    }
    Ok(shares)
}

fn notes(
    rows: &[(u32, &Placement)],
    matrix: &Matrix,
    shares: &[Result<Share, Failure>],
    pages: Pages,
    simd: Simd,
) -> Vec<(&'static str, String)> {
    let mut notes: Vec<(&'static str, String)> = rows
        .iter()
        .map(|(node, placement)| ("cpus", format!("node {node}: threads {}", mode::threads_note(placement))))
        .collect();
    for (column, share) in matrix.columns.iter().zip(shares) {
        let text = match share {
            Ok(share) if share.limited_by.is_empty() => {
                format!("an array and a chain of {} each", format::bytes(share.bytes as f64))
            }
            Ok(share) => format!(
                "an array and a chain of {} each: {}",
                format::bytes(share.bytes as f64),
                share.limited_by
            ),
            Err(reason) => format!("not available: {reason}"),
        };
        notes.push(("memory", format!("node {}: {text}", column.node)));
    }
    notes.push(("pages", pages.word().to_owned()));
    notes.push(("code", simd.word().to_owned()));
    notes
}
