//! How large the arrays of each point are, and what each NUMA node must hold for that. Pure.

use std::collections::BTreeSet;

use figure::{CpuList, Machine, Reading, format};
use lab::placement::Placement;
use serde::{Deserialize, Serialize};

use super::bindings::{Binding, Cores};
use super::layout::{self, Layout};
use crate::kernels::ELEMENT;
use crate::mode::{Options, PlanError, Schedule};
use crate::simd::BLOCK;
use crate::sizes::{self, ARRAYS, LastLevel, SizeError};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeNeed {
    pub node: Option<u32>,
    /// The cores that touch it first, each with its CPUs.
    pub cores: Vec<CpuList>,
    pub elements: usize,
}

pub(super) struct Point {
    /// Its curve, an index.
    pub(super) curve: usize,
    pub(super) binding: Binding,
    pub(super) schedule: Schedule,
    pub(super) placement: Placement,
    pub(super) turns: bool,
    pub(super) cache: Reading<LastLevel>,
    pub(super) elements: u64,
    pub(super) limited_by: String,
}

/// The NUMA nodes of the cores in use; one where none are shown.
pub(super) struct Nodes {
    pub(super) nodes: Vec<Option<u32>>,
    cores: Vec<(CpuList, usize)>,
    /// Whether memory can lie on another node than the CPU's.
    several: bool,
    /// Bytes of each node, where shown.
    memory: Vec<Option<u64>>,
}

impl Nodes {
    pub(super) fn of(machine: &Machine, cores: &Cores) -> Nodes {
        let node = |cpus: &CpuList| machine.cpu(cpus.first()?)?.node;
        let nodes: BTreeSet<Option<u32>> = cores.0.iter().map(node).collect();
        let nodes: Vec<Option<u32>> = nodes.into_iter().collect();
        let index = |cpus: &CpuList| nodes.iter().position(|number| *number == node(cpus)).unwrap_or(0);
        let cores = cores.0.iter().map(|cpus| (cpus.clone(), index(cpus))).collect();
        let shown = &machine.numa.nodes;
        let bytes = |number: &Option<u32>| shown.iter().find(|node| Some(node.node) == *number)?.memory;
        Nodes { cores, several: shown.len() > 1, memory: nodes.iter().map(bytes).collect(), nodes }
    }

    pub(super) fn layout(&self, point: &Point) -> Layout {
        let home = |cpu: u32| {
            let core = self.cores.iter().position(|(cpus, _)| cpus.contains(cpu)).unwrap_or(0);
            (self.cores[core].1, core)
        };
        let homes: Vec<(usize, usize)> = point.placement.first_cpus().into_iter().map(home).collect();
        layout::share(point.schedule, &homes, self.nodes.len(), point.elements as usize)
    }

    fn regions(&self, points: &[Point]) -> Vec<usize> {
        let mut most = vec![0; self.nodes.len()];
        for point in points {
            for (most, used) in most.iter_mut().zip(self.layout(point).used) {
                *most = used.max(*most);
            }
        }
        most
    }

    /// Regions without memory to hold are left at one block, so that indices stay.
    pub(super) fn needs(&self, regions: &[usize]) -> Vec<NodeNeed> {
        let need = |(index, elements): (usize, &usize)| NodeNeed {
            // A node without memory of its own cannot be bound to: first touch takes the nearest.
            node: self.nodes[index].filter(|_| self.several && self.memory[index] != Some(0)),
            cores: self
                .cores
                .iter()
                .filter(|(_, node)| *node == index)
                .map(|(cpus, _)| cpus.clone())
                .collect(),
            elements: (*elements).max(BLOCK),
        };
        regions.iter().enumerate().map(need).collect()
    }
}

pub(super) struct Fitted {
    pub(super) regions: Vec<usize>,
    pub(super) bytes: u64,
}

/// Makes the points' arrays smaller where the nodes' regions together, or one on its node, would not fit.
pub(super) fn fit(
    points: &mut [Point],
    nodes: &Nodes,
    options: &Options,
    room: &Reading<sizes::Room>,
) -> Result<Fitted, PlanError> {
    let bytes = |regions: &[usize]| ARRAYS * ELEMENT * regions.iter().sum::<usize>() as u64;
    let regions = nodes.regions(points);
    let wanted = bytes(&regions);
    let (usable, bound) = sizes::usable(room);
    let mut scale = (usable as f64 / wanted.max(1) as f64, bound);
    for ((elements, memory), node) in regions.iter().zip(&nodes.memory).zip(&nodes.nodes) {
        let need = (ARRAYS * ELEMENT * *elements as u64).max(1) as f64;
        // A node without memory borrows from its neighbours, which the sum above is for.
        if let Some(memory) = memory.filter(|memory| *memory > 0) {
            let share = memory as f64 * sizes::USABLE_SHARE / need;
            if share < scale.0 {
                let node = node.unwrap_or(0);
                scale = (share, format!("node {node} has {}", format::bytes(memory as f64)));
            }
        }
    }
    let (scale, bound) = scale;
    if scale >= 1.0 {
        return Ok(Fitted { regions, bytes: wanted });
    }
    if let Some(elements) = options.array_size {
        let most = (elements as f64 * scale) as u64 / BLOCK as u64 * BLOCK as u64;
        let needed = format!("{} on {} nodes", format::bytes(wanted as f64), nodes.nodes.len());
        return Err(SizeError::TooLarge { elements, needed, bound, most }.into());
    }
    for point in points.iter_mut() {
        let least = point.placement.threads.len() as u64;
        let blocks = (point.elements as f64 * scale) as u64 / BLOCK as u64;
        point.elements = blocks.max(least) * BLOCK as u64;
        if point.limited_by.is_empty() && sizes::is_short(point.elements, &point.cache) {
            point.limited_by =
                format!("{ARRAYS} arrays of {} do not fit: {bound}", format::bytes((wanted / ARRAYS) as f64));
        }
    }
    let regions = nodes.regions(points);
    Ok(Fitted { bytes: bytes(&regions), regions })
}
