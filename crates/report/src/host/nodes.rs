//! NUMA nodes: their CPUs, their memory and its kind, and the distances between them.

use std::collections::BTreeMap;

use figure::format::{bytes, number, plain, plain_to};
use figure::host::{Hmat, Node, NodeKind};
use figure::{CpuList, Machine, Reading};

use super::drawing::compact;
use super::sheet::{Sheet, unknown};

pub fn numa(sheet: &mut Sheet, machine: &Machine) {
    let numa = &machine.numa;
    sheet.title("NUMA");
    let all = numa.nodes.as_slice();
    let shown: Vec<(usize, &Node)> = all.iter().enumerate().filter(|(_, node)| !node.is_empty()).collect();
    match shown.as_slice() {
        [] => return sheet.note(&unknown(numa.unknown.as_deref().unwrap_or("no node is shown"))),
        [_] => sheet.entry("nodes", "one: all memory is equally near"),
        nodes if matrix(sheet, nodes) => {
            sheet.note("→n: distance to node n as the firmware reports it; 10 is local");
        }
        nodes => in_words(sheet, nodes, all),
    }
    let empty: CpuList = all.iter().filter(|node| node.is_empty()).map(|node| node.node).collect();
    if !empty.is_empty() {
        sheet.note(&format!("neither CPUs nor memory: {} {}", plural(&empty), compact(&empty)));
    }
    let is_tiered = machine.memory_only_nodes().next().is_some();
    for (_, node) in shown {
        let about = about(node, is_tiered);
        if !about.is_empty() {
            sheet.entry(&format!("node {}", node.node), &about.join("; "));
        }
    }
    if let Some(policy) = &numa.policy {
        sheet
            .entry("memory policy", &format!("{}, of this process and what it starts", plain_to(policy, 80)));
    }
    if let Some(reason) = &numa.unknown {
        sheet.note(&plain(reason));
    }
}

fn plural(nodes: &CpuList) -> &'static str {
    if nodes.len() == 1 { "node" } else { "nodes" }
}

/// What is to be said of a node besides its row: its kind, tier and side cache; what HMAT states, where kinds are compared.
fn about(node: &Node, is_tiered: bool) -> Vec<String> {
    let kind = node.kind.as_ref().map(|kind| match kind {
        Reading::Value(NodeKind { memory, basis }) => format!("{}, by {}", memory.title(), plain(basis)),
        Reading::Unknown(reason) => format!("memory without CPUs (kind not shown: {})", plain(reason)),
    });
    let tier = node.tier.map(|tier| format!("tier {tier}"));
    let cache =
        node.side_cache.map(|cache| format!("a memory-side cache of {} in front of it", bytes(cache as f64)));
    let hmat = node.hmat.as_ref().filter(|_| is_tiered).map(stated);
    [kind, tier, cache, hmat].into_iter().flatten().collect()
}

/// `HMAT says 29.4 GB/s and 260 ns for reads, 27.3 GB/s and 270 ns for writes, from node 0`.
fn stated(hmat: &Hmat) -> String {
    let each = |bandwidth: Option<f64>, latency: Option<f64>, of: &str| {
        let bandwidth = bandwidth.map(|bytes| format!("{} GB/s", number(bytes / 1e9)));
        let latency = latency.map(|ns| format!("{} ns", number(ns)));
        let values: Vec<String> = bandwidth.into_iter().chain(latency).collect();
        (!values.is_empty()).then(|| format!("{} for {of}", values.join(" and ")))
    };
    let parts = [
        each(hmat.read_bandwidth, hmat.read_latency, "reads"),
        each(hmat.write_bandwidth, hmat.write_latency, "writes"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("HMAT says {}, from {} {}", parts.join(", "), plural(&hmat.initiators), compact(&hmat.initiators))
}

fn cpus_of(node: &Node) -> String {
    if node.cpus.is_empty() { "no CPU".to_owned() } else { compact(&node.cpus) }
}

fn memory_of(node: &Node) -> String {
    node.memory.map_or("unknown".to_owned(), |size| bytes(size as f64))
}

/// One row a node, with its distance to each; false where that is too wide. Nodes come with their place in the list of all,
/// which is that of their distances.
fn matrix(sheet: &mut Sheet, nodes: &[(usize, &Node)]) -> bool {
    let numbers: Vec<String> = nodes.iter().map(|(_, node)| format!("→{}", node.node)).collect();
    let mut heads = vec![("node", true), ("CPUs", false), ("memory", true)];
    heads.extend(numbers.iter().map(|number| (number.as_str(), true)));
    let row = |(_, node): &(usize, &Node)| {
        let distance = |to: usize| node.distances.get(to).map_or("?".to_owned(), u32::to_string);
        let about = [node.node.to_string(), cpus_of(node), memory_of(node)];
        about.into_iter().chain(nodes.iter().map(|(to, _)| distance(*to))).collect()
    };
    sheet.table(&heads, &nodes.iter().map(row).collect::<Vec<_>>())
}

/// One entry a node, with the nodes at each distance together.
fn in_words(sheet: &mut Sheet, nodes: &[(usize, &Node)], all: &[Node]) {
    for (_, node) in nodes {
        let mut at: BTreeMap<u32, CpuList> = BTreeMap::new();
        let others = all.iter().zip(&node.distances).filter(|(to, _)| to.node != node.node && !to.is_empty());
        for (to, &distance) in others {
            at.entry(distance).or_default().insert(to.node);
        }
        let far = at.iter().map(|(distance, nodes)| format!("{distance} to {}", compact(nodes)));
        let far: Vec<String> = far.collect();
        let distances = match far.as_slice() {
            [] => "distances unknown".to_owned(),
            far => format!("distance {}", far.join(", ")),
        };
        let text = format!("{}, {}, {distances}", cpus_of(node), memory_of(node));
        sheet.entry(&format!("node {}", node.node), &text);
    }
}
