//! NUMA nodes: /sys/devices/system/node (Documentation/ABI/stable/sysfs-devices-node).

use figure::host::{Node, Numa};
use figure::{CpuList, Reading};

use super::memory::{kib, pools};
use super::topology::mask;
use crate::Tree;

const NODES: &str = "/sys/devices/system/node";
/// The kernel allows at most 1024 nodes (NODES_SHIFT 10).
const MAX_NODES: usize = 1024;

pub fn describe(tree: &Tree, online: &CpuList) -> Numa {
    let directories: CpuList = tree.numbered(NODES, "node").into_iter().take(MAX_NODES).collect();
    if directories.is_empty() {
        let unknown = format!("{NODES} shows no node: a kernel without NUMA, or hidden here");
        return Numa { nodes: Vec::new(), memory_allowed: memory_allowed(tree), unknown: Some(unknown) };
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
            let meminfo = file("meminfo").into_value().unwrap_or_default();
            Node {
                node,
                cpus: cpus.intersection(online),
                memory: field(&meminfo, "MemTotal"),
                available: available(&meminfo),
                hugetlb: pools(tree, &format!("{NODES}/node{node}/hugepages")),
                distances: distances(file("distance"), numbers.len()),
            }
        })
        .collect();
    Numa { nodes, memory_allowed: memory_allowed(tree), unknown: None }
}

/// `Node 0 MemTotal:       9791704 kB`.
fn field(meminfo: &str, name: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| kib(line.split_once(name)?.1.strip_prefix(':')?))
}

/// MemAvailable, which the kernel does not give by node: free memory, and file pages that need no writeback.
fn available(meminfo: &str) -> Option<u64> {
    let bytes = |name| field(meminfo, name).unwrap_or(0);
    let files = bytes("Active(file)").saturating_add(bytes("Inactive(file)"));
    let unwritten = bytes("Dirty").saturating_add(bytes("Writeback"));
    Some(field(meminfo, "MemFree")?.saturating_add(files.saturating_sub(unwritten)))
}

/// Mems_allowed of this process (proc(5)). Unknown in a tree without it, which another program saved.
fn memory_allowed(tree: &Tree) -> Reading<CpuList> {
    tree.text("/proc/self/status").and_then(|status| {
        let list = status.lines().find_map(|line| line.strip_prefix("Mems_allowed_list:"));
        let nodes = list.and_then(|list| list.trim().parse().ok());
        Reading::or_unknown(nodes, "/proc/self/status has no Mems_allowed_list")
    })
}

/// One row of the distance table; empty if damaged, because a part would be assigned to the wrong nodes.
fn distances(row: Reading<String>, nodes: usize) -> Vec<u32> {
    let row = row.into_value().unwrap_or_default();
    let distances: Option<Vec<u32>> = row.split_whitespace().map(|word| word.parse().ok()).collect();
    distances.filter(|distances| distances.len() == nodes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_free_or_clean() {
        let meminfo = "Node 1 MemTotal: 8000 kB\nNode 1 MemFree: 1000 kB\nNode 1 Active(file): 500 kB\n\
            Node 1 Inactive(file): 300 kB\nNode 1 Dirty: 50 kB\nNode 1 WritebackTmp: 999 kB\nNode 1 Writeback: 10 kB\n";
        assert_eq!(field(meminfo, "MemTotal"), Some(8000 << 10));
        assert_eq!(available(meminfo), Some(1740 << 10));
        assert_eq!(available("Node 1 MemFree: 7 kB\n"), Some(7 << 10));
        assert_eq!(available("Node 1 MemTotal: 7 kB\n"), None);
    }
}
