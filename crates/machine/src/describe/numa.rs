//! NUMA nodes: /sys/devices/system/node (Documentation/ABI/stable/sysfs-devices-node).

use std::collections::BTreeMap;

use figure::host::{Node, Numa};
use figure::{CpuList, Reading};

use super::contradictions::Contradictions;
use super::cpuinfo::CPUS;
use super::members::{NODE, members};
use super::memory::{kib, pools};
use crate::Tree;
use crate::tree::{MAX_LINE, printable};

pub(crate) const NODES: &str = "/sys/devices/system/node";
/// The kernel allows at most 1024 nodes (NODES_SHIFT 10).
const MAX_NODES: usize = 1024;

pub fn describe(tree: &Tree, online: &CpuList, found: &Contradictions) -> Numa {
    let directories: CpuList = tree.numbered(NODES, "node").into_iter().take(MAX_NODES).collect();
    if directories.is_empty() {
        let unknown = format!("{NODES} shows no node: a kernel without NUMA, or hidden here");
        return Numa { memory_allowed: memory_allowed(tree), unknown: Some(unknown), ..Numa::default() };
    }
    let listed =
        tree.list(format!("{NODES}/online")).into_value().unwrap_or_default().intersection(&directories);
    let numbers = if listed.is_empty() { directories } else { listed };
    let cpus = cpus(tree, &numbers, online, found);
    let nodes = numbers
        .iter()
        .filter_map(|node| Some((node, cpus.get(&node)?)))
        .map(|(node, own)| {
            let file = |name: &str| tree.text(format!("{NODES}/node{node}/{name}"));
            let meminfo = file("meminfo").into_value().unwrap_or_default();
            let row = distances(file("distance"), numbers.len());
            let is_kept = |other: &u32| cpus.contains_key(other);
            Node {
                node,
                cpus: own.clone(),
                memory: field(&meminfo, "MemTotal"),
                available: available(&meminfo),
                hugetlb: pools(tree, &format!("{NODES}/node{node}/hugepages")),
                distances: numbers
                    .iter()
                    .zip(row)
                    .filter(|(other, _)| is_kept(other))
                    .map(|(_, far)| far)
                    .collect(),
                ..Node::default()
            }
        })
        .collect();
    Numa { nodes, memory_allowed: memory_allowed(tree), policy: policy(tree), unknown: None }
}

/// The online CPUs of each node. A CPU is on one node: where several claim it, on the first. A node that keeps none of the CPUs
/// that it claims is left out, as by hwloc: with numa=fake all parts of a node have its CPUs.
fn cpus(tree: &Tree, nodes: &CpuList, online: &CpuList, found: &Contradictions) -> BTreeMap<u32, CpuList> {
    let claimed = |node: u32| {
        let cpus = members(tree, &format!("{NODES}/node{node}"), NODE, "NUMA nodes", found);
        (node, cpus.unwrap_or_default().intersection(online))
    };
    let mut cpus: BTreeMap<u32, CpuList> = nodes.iter().map(claimed).collect();
    let mut claims: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (node, own) in &cpus {
        own.iter().for_each(|cpu| claims.entry(cpu).or_default().push(*node));
    }
    let homeless = online.difference(&claims.keys().copied().collect());
    if !homeless.is_empty() && !claims.is_empty() {
        let sources = format!("{CPUS}/online has CPUs {online}, and no node has {homeless}");
        found.add("NUMA nodes", sources, "both: these CPUs are on no node");
    }
    claims.retain(|_, nodes| nodes.len() > 1);
    if claims.is_empty() {
        return cpus;
    }
    let first = |cpu: u32| claims.get(&cpu).and_then(|nodes| nodes.first().copied());
    for (node, own) in &mut cpus {
        *own = own.iter().filter(|cpu| first(*cpu).is_none_or(|first| first == *node)).collect();
    }
    let claimants: CpuList = claims.values().flatten().copied().collect();
    let contested: CpuList = claims.keys().copied().collect();
    let empty: CpuList =
        claimants.iter().filter(|node| cpus.get(node).is_some_and(CpuList::is_empty)).collect();
    cpus.retain(|node, _| !empty.contains(*node));
    let left_out = if empty.is_empty() { String::new() } else { format!("; left out: nodes {empty}") };
    let sources = format!("CPUs {contested} are in the lists of nodes {claimants}{left_out}");
    found.add("NUMA nodes", sources, "the first node of each CPU");
    cpus
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

/// The policy of this process, which its children inherit: that of a mapping without one of its own, as the first is
/// (proc(5), /proc/PID/numa_maps; its words are those of mpol_to_str in mm/mempolicy.c, "weighted interleave:0-1").
fn policy(tree: &Tree) -> Option<String> {
    let maps = tree.text(POLICIES).into_value()?;
    let policy = policy_of(maps.lines().next()?)?;
    (policy != "default").then(|| printable(policy, MAX_LINE))
}

pub(crate) const POLICIES: &str = "/proc/self/numa_maps";

/// The policy in a line of numa_maps: what stands between the address and the facts about the mapping.
pub(crate) fn policy_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(' ')?;
    let words = rest.split(' ');
    let is_fact = |word: &&str| {
        matches!(*word, "heap" | "stack" | "huge")
            || word.split_once('=').is_some_and(|(name, _)| !name.contains(':') && !is_mode(name))
    };
    let policy: usize = words.take_while(|word| !is_fact(word)).map(|word| word.len() + 1).sum();
    rest.get(..policy.checked_sub(1)?)
}

/// Whether a flag follows: `bind=static:0`.
fn is_mode(name: &str) -> bool {
    ["prefer", "bind", "interleave", "local", "(many)", "default"].contains(&name)
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

    #[test]
    fn a_policy_ends_where_the_facts_about_a_mapping_begin() {
        for (line, policy) in [
            ("55d0c8e0 default file=/bin/x mapped=3 N0=3 kernelpagesize_kB=4", "default"),
            ("55d0c8e0 weighted interleave:0-1 anon=2 dirty=2 N0=2", "weighted interleave:0-1"),
            ("55d0c8e0 interleave=relative:0-1 heap anon=2", "interleave=relative:0-1"),
            ("55d0c8e0 prefer (many):0,2 stack", "prefer (many):0,2"),
            ("55d0c8e0 bind=static|balancing:1", "bind=static|balancing:1"),
            ("55d0c8e0 bind:1", "bind:1"),
        ] {
            assert_eq!(policy_of(line), Some(policy));
        }
        assert_eq!(policy_of("55d0c8e0"), None);
    }
}
