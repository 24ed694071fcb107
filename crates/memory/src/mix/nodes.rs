//! Mixes over memory that is bound to a NUMA node: of the nodes that are asked for, else of those without CPUs. Pure.
//!
//! The threads are on the CPUs next to it. Behind CXL reads and writes have a way each (PCIe is full duplex), so that the mix
//! decides there more than the bus of a DIMM does, which turns between the two.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Machine, Reading, format};
use lab::failure::Failure;
use lab::placement::Placement;

use super::plan::{MixMemory, Plan, Share, conditions, figure};
use crate::kernels::Mix;
use crate::mode::{self, Options, PlanError};
use crate::numa::cells;
use crate::numa::nodes;
use crate::numa::room::rooms;
use crate::sizes::{self, ARRAYS, Room};

pub const SERIES: &str = "memory.mix.nodes";

pub(super) fn add(plan: &mut Plan, options: &Options, mixes: &[Mix]) -> Result<(), PlanError> {
    let machine = plan.setup.machine.clone();
    let chosen = match &options.nodes {
        Some(nodes) => nodes.clone(),
        None => machine.memory_only_nodes().map(|node| node.node).collect(),
    };
    if chosen.is_empty() {
        return Ok(());
    }
    let matrix = nodes::matrix(&machine, &Options { nodes: Some(chosen), ..options.clone() })?;
    let rows: Vec<(u32, &Placement)> =
        matrix.rows.iter().filter_map(|row| Some((row.node, row.usable.as_ref().ok()?))).collect();
    let numbers: Vec<u32> = rows.iter().map(|(node, _)| *node).collect();
    let usable = matrix.columns.iter().filter(|column| column.usable.is_ok()).count();
    for column in &matrix.columns {
        let near = nodes::nearest(&machine, &numbers, column.node).map(|near| rows[near]).ok_or_else(|| {
            // With a reason of its own where a row has one.
            let reason = matrix.rows.iter().find_map(|row| row.usable.as_ref().err().cloned());
            reason.unwrap_or_else(|| Failure::new("no node has CPUs that may be used"))
        });
        let near = column.usable.clone().and(near);
        match near {
            Ok((cpus, placement)) => over(plan, options, mixes, (cpus, placement), (column.node, usable))?,
            Err(reason) => {
                for &mix in mixes {
                    let (id, name) = (id(column.node, mix), name(&machine, column.node, mix));
                    let absent = figure(id, name, SERIES.to_owned(), mix, 0, Default::default());
                    plan.figures.push(absent.not_available(reason.to_string()));
                }
                plan.notes.push(("memory", format!("node {}: not available: {reason}", column.node)));
            }
        }
    }
    Ok(())
}

fn id(node: u32, mix: Mix) -> String {
    format!("{}.mix.node{node}.{mix}", crate::SUITE)
}

fn name(machine: &Machine, node: u32, mix: Mix) -> String {
    format!("{mix}, {}, memory of node {node}{}", mix.title(), cells::kind(machine, node))
}

/// The mixes over the memory of one node, of `nodes` that are measured, from the threads next to it.
fn over(
    plan: &mut Plan,
    options: &Options,
    mixes: &[Mix],
    (cpus, placement): (u32, &Placement),
    (node, nodes): (u32, usize),
) -> Result<(), PlanError> {
    let machine = plan.setup.machine.clone();
    let share = Share::in_room(&machine, options, placement, node_room(&machine, options, node, nodes))?;
    let memory = MixMemory { node: Some(node), threads: placement.threads.clone(), groups: share.groups };
    let missing = crate::pages::unavailable(&machine, options.pages, memory.bytes() as u64);
    let all = ARRAYS * share.array;
    for &mix in mixes {
        let base = conditions(options, placement, plan.setup.simd).with(key::ARRAYS_TOTAL_BYTES, all as f64);
        let (id, name) = (id(node, mix), name(&machine, node, mix));
        let mut figure = figure(id, name, SERIES.to_owned(), mix, all, base);
        let at = Coordinate { value: CoordinateValue::Name(format!("node {node}")), unit: None };
        figure.at.insert("memory".to_owned(), at);
        cells::set_nodes(&mut figure, &machine, cpus, node);
        sizes::write_bounds(&mut figure, &share.limited_by, &share.room);
        plan.add(figure, mix, missing.clone());
    }
    plan.setup.memories.push(memory);
    let size = format::bytes(share.array as f64);
    plan.notes.push((
        "memory",
        format!(
            "node {node}: {ARRAYS} x {size}, by threads of node {cpus} {}",
            mode::threads_note(placement)
        ),
    ));
    if !share.limited_by.is_empty() {
        plan.notes.push(("limited", format!("node {node}: {}", share.limited_by)));
    }
    Ok(())
}

/// What a plan may take of a node: its reserved pages if asked for, else its memory, and its part of what all nodes have.
fn node_room(machine: &Machine, options: &Options, node: u32, nodes: usize) -> Reading<Room> {
    let shown = machine.node(node);
    if let Some(page) = options.pages.reserved_size() {
        let free = shown.map_or(0, |node| node.free_pages(page));
        let bound =
            format!("{free} reserved pages of {} are free on node {node}", format::bytes(page as f64));
        return Reading::Value(Room { bytes: free * page, bound, is_momentary: true });
    }
    let (own, all) = rooms(machine, shown, nodes, options.array_size.is_some());
    let tightest = own.into_iter().chain(all.value().cloned()).min_by_key(|room| room.bytes);
    tightest.map_or(all, Reading::Value)
}
