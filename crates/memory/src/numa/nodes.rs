//! Which NUMA nodes are measured, their relations, and why some cannot be measured. Pure.

use std::collections::BTreeSet;

use figure::{CpuList, Machine, Reading};
use lab::failure::Failure;
use lab::placement::{self, Bind, Placement, Places};
use serde::{Deserialize, Serialize};

use crate::mode::{Options, PlanError};
use loops::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The kernel `read`, as in MLC's bandwidth matrix: nothing is written, so that all rows share an array.
    Bandwidth,
    Latency,
}

words! {
    pub enum Relation {
        Local = "local",
        /// Another node of their package: sub-NUMA clustering, nodes per socket.
        SamePackage = "same-package",
        OtherPackage = "other-package",
        /// A node that has no CPUs: memory behind CXL, HBM beside DDR.
        MemoryOnly = "memory-only",
    }
}

impl Relation {
    pub fn of(machine: &Machine, cpus: u32, memory: u32) -> Relation {
        let packages = |node| -> BTreeSet<u32> {
            let cpus = machine.node(node).map(|node| node.cpus.clone()).unwrap_or_default();
            cpus.iter().filter_map(|cpu| Some(machine.cpu(cpu)?.package)).collect()
        };
        let (of_cpus, of_memory) = (packages(cpus), packages(memory));
        if cpus == memory {
            Relation::Local
        } else if of_memory.is_empty() {
            Relation::MemoryOnly
        } else if of_cpus.is_disjoint(&of_memory) {
            Relation::OtherPackage
        } else {
            Relation::SamePackage
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Relation::Local => "local",
            Relation::SamePackage => "same package, other node",
            Relation::OtherPackage => "other package",
            Relation::MemoryOnly => "memory without CPUs",
        }
    }
}

/// A node as it is used: by its CPUs, or its memory.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeUse<T> {
    pub node: u32,
    pub usable: Result<T, Failure>,
}

/// What is measured: each row's CPUs against each column's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Nodes with CPUs, and the threads on them.
    pub rows: Vec<NodeUse<Placement>>,
    /// Nodes of the requested memory.
    pub columns: Vec<NodeUse<()>>,
}

/// The matrix between the selected nodes. Rows are those with CPUs, or all nodes with CPUs where none has any.
pub fn matrix(machine: &Machine, options: &Options) -> Result<Matrix, PlanError> {
    let existing: CpuList = machine.numa.nodes.iter().map(|node| node.node).collect();
    // Nodes that firmware holds ready for memory to come have no row and no column, unless one is asked for.
    let populated =
        || machine.numa.nodes.iter().filter(|node| !node.is_empty()).map(|node| node.node).collect();
    let selected = options.nodes.clone().unwrap_or_else(populated);
    if let Some(missing) = selected.difference(&existing).first() {
        let nodes = match (&machine.numa.unknown, existing.len()) {
            (Some(reason), 0) => reason.clone(),
            (_, 1) => format!("there is one, node {existing}"),
            _ => format!("there are {existing}"),
        };
        return Err(PlanError::Wrong(format!("--nodes {selected}: no NUMA node {missing}: {nodes}")));
    }
    let with_cpus = |nodes: &CpuList| -> CpuList {
        nodes.iter().filter(|&node| machine.node(node).is_some_and(|node| !node.cpus.is_empty())).collect()
    };
    let rows = match with_cpus(&selected) {
        rows if rows.is_empty() => with_cpus(&existing),
        rows => rows,
    };
    // Says what is wrong with places for the machine as a whole.
    let usable = placement::place(machine, &options.places, Bind::Close, None)?.cpus();
    let rows =
        rows.iter().map(|node| Ok(NodeUse { node, usable: threads(machine, options, &usable, node)? }));
    Ok(Matrix {
        rows: rows.collect::<Result<_, PlanError>>()?,
        columns: selected.iter().map(|node| NodeUse { node, usable: memory(machine, node) }).collect(),
    })
}

/// Threads on a node: one a core by default.
fn threads(
    machine: &Machine,
    options: &Options,
    usable: &CpuList,
    node: u32,
) -> Result<Result<Placement, Failure>, PlanError> {
    let cpus = machine.node(node).map(|node| node.cpus.clone()).unwrap_or_default();
    let allowed = cpus.intersection(usable);
    if allowed.is_empty() {
        return Ok(Err(Failure::new(format!(
            "the CPUs of node {node} ({cpus}) are outside the affinity mask of this process (taskset, cpuset) or \
             left out by --places"
        ))));
    }
    let places = match &options.places {
        Places::List(places) => Places::List(
            places
                .iter()
                .map(|place| place.intersection(&allowed))
                .filter(|place| !place.is_empty())
                .collect(),
        ),
        words => words.clone(),
    };
    let mut narrowed = machine.clone();
    narrowed.topology.allowed = allowed;
    Ok(Ok(placement::place(&narrowed, &places, options.bind, options.threads)?))
}

fn memory(machine: &Machine, node: u32) -> Result<(), Failure> {
    match machine.node(node) {
        Some(known) if known.is_empty() => {
            return Err(Failure::new(format!("node {node} has neither CPUs nor memory")));
        }
        Some(known) if known.memory == Some(0) => {
            return Err(Failure::new(format!("node {node} has CPUs and no memory")));
        }
        _ => {}
    }
    match &machine.numa.memory_allowed {
        Reading::Value(allowed) if !allowed.contains(node) => Err(Failure::new(format!(
            "the memory of node {node} is closed to this process: its cpuset allows that of nodes {allowed} \
             (Mems_allowed)"
        ))),
        // Where it is not known, binding to the node will show it.
        _ => Ok(()),
    }
}

/// The index of the node nearest to `memory`, by advertised distance; itself if it is among them.
pub fn nearest(machine: &Machine, nodes: &[u32], memory: u32) -> Option<usize> {
    let far = |node: u32| match machine.node_distance(node, memory) {
        _ if node == memory => 0,
        Some(distance) => distance,
        None => u32::MAX,
    };
    (0..nodes.len()).min_by_key(|&index| far(nodes[index]))
}
