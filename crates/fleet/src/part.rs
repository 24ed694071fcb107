//! Which part of a node is slow: the one whose figures share the deficit, and no others do.

use std::collections::HashMap;
use std::fmt;

use figure::CpuList;
use schemars::JsonSchema;
use serde::Serialize;

use crate::table::{Column, Kind};

/// What a figure mainly exercises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Instructions in user mode, and caches.
    Compute,
    /// The kernel: system calls, pipes, processes, page faults.
    Kernel,
    /// The bandwidth of memory.
    Bandwidth,
    /// The latency of memory.
    Latency,
    /// Files.
    Files,
    /// Serving HTTP: user mode and kernel.
    Serving,
    /// Several of these, or something else: points to no part.
    Mixed,
}

/// Beginnings of ids and what such a figure exercises; the first that matches counts.
const DOMAINS: &[(&str, Domain)] = &[
    ("memory.latency.dram", Domain::Latency),
    ("memory.latency.", Domain::Mixed),
    ("memory.numa.latency", Domain::Latency),
    ("memory.c2c.", Domain::Compute),
    ("memory.ladder.", Domain::Mixed),
    ("memory.", Domain::Bandwidth),
    ("alloc.", Domain::Compute),
    ("system.dhry", Domain::Compute),
    ("system.whetstone", Domain::Compute),
    ("system.fs", Domain::Files),
    ("system.index", Domain::Mixed),
    ("system.noise", Domain::Mixed),
    ("system.", Domain::Kernel),
    ("faults.prices.major", Domain::Files),
    ("faults.prices.file", Domain::Files),
    ("faults.prices.", Domain::Kernel),
    ("http.", Domain::Serving),
];

/// What a figure mainly exercises, by its id.
pub fn domain(id: &str) -> Domain {
    let known = DOMAINS.iter().find(|(beginning, _)| id.starts_with(beginning));
    known.map_or(Domain::Mixed, |(_, domain)| *domain)
}

/// A part of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "part")]
pub enum Part {
    /// The clock of all cores.
    Clock,
    /// The kernel or a setting of it.
    Kernel,
    /// Memory channels or modules.
    Memory,
    /// Memory channels or modules of a NUMA node.
    MemoryOfNode {
        /// The kernel's number of the NUMA node.
        node: u32,
    },
    /// All of a NUMA node.
    Node {
        /// The kernel's number of it.
        node: u32,
    },
    /// The cores that share a last-level cache (an AMD CCX).
    SharedCache {
        /// Their CPUs.
        cpus: String,
    },
    /// One core.
    Core {
        /// Its CPUs.
        cpus: String,
    },
    /// The disk or its file system.
    Disk,
    /// No part: one figure alone.
    Figure {
        /// Its id.
        id: String,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Clock => f.write_str("CPU clock"),
            Part::Kernel => f.write_str("kernel or a kernel setting"),
            Part::Memory => f.write_str("memory channel or module"),
            Part::MemoryOfNode { node } => write!(f, "memory channel or module of NUMA node {node}"),
            Part::Node { node } => write!(f, "NUMA node {node}"),
            Part::SharedCache { cpus } => write!(f, "cores of one last-level cache (CPUs {cpus})"),
            Part::Core { cpus } => write!(f, "one core (CPUs {cpus})"),
            Part::Disk => f.write_str("disk or file system"),
            Part::Figure { id } => write!(f, "{id} alone"),
        }
    }
}

/// A part with the figures that exercise it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The part.
    pub part: Part,
    /// The figures: columns of the table.
    pub columns: Vec<usize>,
}

/// The kernel or test that a figure belongs to: the first two words of its id.
pub fn kernel(id: &str) -> &str {
    id.match_indices('.').nth(1).map_or(id, |(at, _)| &id[..at])
}

/// The weight of each figure when parts are told apart: the figures of one kernel or test share one vote. They repeat one measurement,
/// so that ten of them are no more evidence than one.
pub fn votes(columns: &[Column]) -> Vec<f64> {
    let mut sizes: HashMap<&str, f64> = HashMap::new();
    for column in columns {
        *sizes.entry(kernel(&column.id)).or_default() += 1.0;
    }
    columns.iter().map(|column| 1.0 / sizes[kernel(&column.id)]).collect()
}

/// The parts that the figures of nodes of this kind can tell apart: those with two figures at least. Of parts with the same figures the
/// first stays. Figures that are computed from others repeat them, and are of no part.
pub fn candidates(kind: &Kind, columns: &[Column]) -> Vec<Candidate> {
    let known = |at: &usize| kind.sites[*at].is_known && !columns[*at].is_derived;
    let having = |is_in: &dyn Fn(usize, Domain) -> bool| -> Vec<usize> {
        (0..columns.len()).filter(known).filter(|&at| is_in(at, domain(&columns[at].id))).collect()
    };
    let runs_on_cpus = |domain| !matches!(domain, Domain::Files | Domain::Mixed);
    let of_domains = |domains: &[Domain]| having(&|_, domain| domains.contains(&domain));
    let compute = of_domains(&[Domain::Compute]);
    let mut found = vec![
        (Part::Clock, of_domains(&[Domain::Compute, Domain::Kernel, Domain::Serving])),
        (Part::Memory, of_domains(&[Domain::Bandwidth])),
        (Part::Disk, of_domains(&[Domain::Files])),
    ];
    // Without figures of user mode a slow kernel and a slow clock look alike.
    if !compute.is_empty() {
        found.push((Part::Kernel, of_domains(&[Domain::Kernel])));
    }
    for &(node, _) in &kind.places.nodes {
        let memory = |at: usize, domain| {
            domain == Domain::Bandwidth && kind.sites[at].memory.or(kind.sites[at].node) == Some(node)
        };
        found.push((Part::MemoryOfNode { node }, having(&memory)));
        let of_node = |at: usize, domain| runs_on_cpus(domain) && kind.sites[at].node == Some(node);
        found.push((Part::Node { node }, having(&of_node)));
    }
    let named = |cpus: &CpuList| cpus.to_string();
    for (at, cpus) in kind.places.caches.iter().enumerate() {
        let of_cache = |column: usize, domain| runs_on_cpus(domain) && kind.sites[column].cache == Some(at);
        found.push((Part::SharedCache { cpus: named(cpus) }, having(&of_cache)));
    }
    for (at, cpus) in kind.places.cores.iter().enumerate() {
        let of_core = |column: usize, domain| runs_on_cpus(domain) && kind.sites[column].core == Some(at);
        found.push((Part::Core { cpus: named(cpus) }, having(&of_core)));
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for (part, columns) in found {
        if columns.len() >= 2 && candidates.iter().all(|other| other.columns != columns) {
            candidates.push(Candidate { part, columns });
        }
    }
    candidates
}

/// A figure's deviation when parts are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// As a logarithm; NaN if the figure was not compared.
    pub deviation: f64,
    /// Its scale.
    pub scale: f64,
    /// Its share of a vote.
    pub vote: f64,
}

/// By how much a common deficit of these figures explains a node: the fall of chi-squared, the deviations being weighted by their
/// scales and votes. 0 where there is no deficit.
pub fn gain(figures: impl Iterator<Item = Weighted>) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for figure in figures.filter(|figure| figure.deviation.is_finite()) {
        let weight = figure.vote / (figure.scale * figure.scale);
        sum += weight * figure.deviation;
        weights += weight;
    }
    if sum < 0.0 { sum * sum / weights } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_that_shares_the_deficit_gains_most() {
        let (scale, vote) = (0.01, 1.0);
        let deviations = [-0.05, -0.05, -0.05, 0.0, 0.001];
        let of =
            |set: &[usize]| gain(set.iter().map(|&at| Weighted { deviation: deviations[at], scale, vote }));
        let right = of(&[0, 1, 2]);
        assert!((right - 75.0).abs() < 1e-9);
        assert!(right > of(&[0]) && right > of(&[0, 1]) && right > of(&[0, 1, 2, 3, 4]));
        assert_eq!(gain(std::iter::once(Weighted { deviation: 0.02, scale, vote })), 0.0);
    }

    #[test]
    fn figures_of_one_kernel_share_a_vote() {
        let column = |id: &str| Column {
            id: id.into(),
            unit: "GB/s".into(),
            better: figure::Better::Higher,
            is_derived: false,
        };
        let columns = ["memory.copy.nt", "memory.copy.regular", "memory.triad.nt", "system.pipe", "clock"];
        assert_eq!(votes(&columns.map(column)), [0.5, 0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn domains_go_by_the_most_specific_beginning() {
        assert_eq!(domain("memory.latency.dram.huge"), Domain::Latency);
        assert_eq!(domain("memory.triad.nt"), Domain::Bandwidth);
        assert_eq!(domain("system.fstime"), Domain::Files);
        assert_eq!(domain("other.x"), Domain::Mixed);
    }
}
