//! The limits that cells are compared with. Pure.

use std::collections::BTreeSet;

use figure::evidence::{HMAT_BANDWIDTH, HMAT_LATENCY, MIX, NODE_OF_CPUS, NODE_OF_MEMORY, NODE_RELATION};
use figure::host::{Hmat, MemoryKind, Node};
use figure::{Figure, Limit, Machine, Unit, format};

use super::nodes::Relation;
use crate::kernels::Mix;
use crate::limits;

/// Sets limits.
///
/// - A remote cell: what the same CPUs reach with their own memory, all else equal.
/// - A cell of a node without CPUs: what HMAT says of its memory, which is of another sort (HBM beside DDR has more bandwidth
///   than local memory); else the best of the run to the same node.
/// - A local bandwidth: the theoretical peak, where it is known; it is that of all nodes together, since no table says which
///   module belongs to which node.
pub fn set(figures: &mut [Figure], machine: &Machine) {
    let limits: Vec<Option<Limit>> = figures
        .iter()
        .map(|figure| match figure.conditions.get(NODE_RELATION).as_deref() {
            _ if figure.value.is_none() => None,
            Some("local") => peak_of_all(figure, machine),
            Some("same-package" | "other-package") => local_of(figure, figures),
            Some("memory-only") => lowest_latency(figure, figures),
            _ => None,
        })
        .collect();
    for (figure, limit) in figures.iter_mut().zip(limits) {
        figure.limit = state(figure, machine).or(limit);
    }
    for node in machine.memory_only_nodes().map(|node| node.node).collect::<BTreeSet<u32>>() {
        limits::set_highest_traffic_to(figures, node);
    }
}

fn local_of(figure: &Figure, figures: &[Figure]) -> Option<Limit> {
    let local = figures.iter().find(|other| {
        other.series == figure.series
            && other.conditions.get(NODE_OF_CPUS) == figure.conditions.get(NODE_OF_CPUS)
            && other.conditions.get(NODE_RELATION).as_deref() == Some(Relation::Local.word())
    })?;
    Some(Limit { value: local.value?, basis: local.id.clone() })
}

/// The lowest latency of the same memory from other CPUs, if that is lower.
fn lowest_latency(figure: &Figure, figures: &[Figure]) -> Option<Limit> {
    let same = |other: &&Figure| {
        other.series == figure.series
            && other.conditions.get(NODE_OF_MEMORY) == figure.conditions.get(NODE_OF_MEMORY)
    };
    let lowest = figures.iter().filter(same).filter(|other| other.value.is_some());
    let lowest = lowest.min_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))?;
    let limit = Limit { value: lowest.value?, basis: lowest.id.clone() };
    (figure.unit == Unit::NANOSECONDS && lowest.value < figure.value).then_some(limit)
}

/// The peak of all modules, of a bandwidth.
pub fn peak_of_all(figure: &Figure, machine: &Machine) -> Option<Limit> {
    let peak = limits::peak(figure, machine).filter(|_| figure.unit == Unit::GB_PER_S)?;
    let together = if machine.numa.nodes.len() > 1 { ", all nodes together" } else { "" };
    Some(Limit { basis: format!("{}{together}", peak.basis), ..peak })
}

/// Writes to a measured figure of a node without CPUs what HMAT says of it, as evidence, and returns that as its limit.
pub fn state(figure: &mut Figure, machine: &Machine) -> Option<Limit> {
    let is_memory_only = figure.conditions.get(NODE_RELATION).as_deref() == Some(Relation::MemoryOnly.word());
    let node = machine.node(figure.conditions.get(NODE_OF_MEMORY)? as u32)?;
    let hmat = node.hmat.as_ref().filter(|_| is_memory_only && figure.value.is_some())?;
    let from = if hmat.initiators.len() == 1 { "node" } else { "nodes" };
    if figure.unit == Unit::NANOSECONDS {
        let latency = hmat.read_latency?;
        figure.evidence.put(HMAT_LATENCY, latency);
        // Of other CPUs it says nothing, and they are farther.
        let is_named = hmat.initiators.contains(figure.conditions.get(NODE_OF_CPUS)? as u32);
        let basis = format!("HMAT says {} ns from {from} {}", format::number(latency), hmat.initiators);
        return is_named.then_some(Limit { value: latency, basis });
    }
    let mix = figure.conditions.get(MIX).map_or(Some(Mix::Ratio(1, 0)), |mix| mix.parse().ok())?;
    let (bandwidth, how) = stated_bandwidth(node, hmat, mix)?;
    figure.evidence.put(HMAT_BANDWIDTH, bandwidth);
    let stated =
        format!("HMAT says {} GB/s from {from} {}{how}", format::number(bandwidth / 1e9), hmat.initiators);
    Some(Limit { value: bandwidth / 1e9, basis: stated })
}

/// Bytes a second of a mix, by what is stated of reads and of writes, and how. Behind CXL each has a way of its own; elsewhere
/// both share a bus, whose bandwidth is the higher of the two.
fn stated_bandwidth(node: &Node, hmat: &Hmat, mix: Mix) -> Option<(f64, &'static str)> {
    let (reads, writes) = match mix {
        Mix::Ratio(reads, writes) => (f64::from(reads), f64::from(writes)),
        Mix::TriadLike => (2.0, 1.0),
    };
    let [reads, writes] = [reads, writes].map(|part| part / (reads + writes));
    let way = |bandwidth: Option<f64>, share: f64| {
        if share > 0.0 { Some(bandwidth? / share) } else { Some(f64::MAX) }
    };
    match (reads > 0.0 && writes > 0.0, node.memory_kind()) {
        (false, _) => Some((way(hmat.read_bandwidth, reads)?.min(way(hmat.write_bandwidth, writes)?), "")),
        (true, Some(MemoryKind::Cxl)) => {
            let both = way(hmat.read_bandwidth, reads)?.min(way(hmat.write_bandwidth, writes)?);
            Some((both, ", reads and writes each on their own way"))
        }
        (true, _) => Some((hmat.read_bandwidth?.max(hmat.write_bandwidth.unwrap_or(0.0)), "")),
    }
}
