//! NUMA nodes: /sys/devices/system/node (Documentation/ABI/stable/sysfs-devices-node).

use figure::host::{Node, Numa};
use figure::{CpuList, Reading};

use super::memory::kib;
use super::topology::mask;
use crate::Tree;

const NODES: &str = "/sys/devices/system/node";
/// The kernel allows at most 1024 nodes (NODES_SHIFT 10).
const MAX_NODES: usize = 1024;

/// Describes the online nodes. Their CPUs are the online ones.
pub fn describe(tree: &Tree, online: &CpuList) -> Numa {
    let directories: CpuList = tree.numbered(NODES, "node").into_iter().take(MAX_NODES).collect();
    if directories.is_empty() {
        let unknown = format!("{NODES} shows no node: a kernel without NUMA, or hidden here");
        return Numa { nodes: Vec::new(), unknown: Some(unknown) };
    }
    let listed =
        tree.list(format!("{NODES}/online")).into_value().unwrap_or_default().intersection(&directories);
    let numbers = if listed.is_empty() { directories } else { listed };
    let nodes = numbers
        .iter()
        .map(|node| {
            let file = |name: &str| tree.text(format!("{NODES}/node{node}/{name}"));
            let listed = tree.list(format!("{NODES}/node{node}/cpulist")).into_value();
            let cpus = listed.or_else(|| mask(file("cpumap").value()?)).unwrap_or_default();
            Node {
                node,
                cpus: cpus.intersection(online),
                memory: memory(file("meminfo")),
                distances: distances(file("distance"), numbers.len()),
            }
        })
        .collect();
    Numa { nodes, unknown: None }
}

/// `Node 0 MemTotal:       9791704 kB`.
fn memory(meminfo: Reading<String>) -> Option<u64> {
    meminfo.value()?.lines().find_map(|line| kib(line.split_once("MemTotal:")?.1))
}

/// One row of the table; empty where it is damaged, for a part of it would be matched to the wrong nodes.
fn distances(row: Reading<String>, nodes: usize) -> Vec<u32> {
    let parsed =
        row.value().map(|row| row.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>());
    match parsed {
        Some(Ok(row)) if row.len() == nodes => row,
        _ => Vec::new(),
    }
}
