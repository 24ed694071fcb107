//! NUMA nodes: their CPUs, their memory and its kind, and what the firmware states of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HugePool, Machine};
use crate::cpulist::CpuList;
use crate::reading::Reading;

/// NUMA.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Numa {
    /// Online nodes, ascending; empty if the kernel shows none.
    pub nodes: Vec<Node>,
    /// Numbers of the nodes that this process may allocate on: what a cpuset leaves (Mems_allowed).
    #[serde(default)]
    pub memory_allowed: Reading<CpuList>,
    /// The memory policy of this process in the kernel's words (numa_maps), if it is not `default`: `interleave:0-1`,
    /// `weighted interleave:0-1`, `bind:1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Why nodes are not known.
    pub unknown: Option<String>,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The kernel's number.
    pub node: u32,
    /// Its CPUs; empty for a memory-only node.
    pub cpus: CpuList,
    /// Bytes of memory; 0 for a node that has CPUs only, or nothing.
    pub memory: Option<u64>,
    /// Bytes available when the record began: free, or clean pages of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<u64>,
    /// Huge pages reserved on this node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hugetlb: Vec<HugePool>,
    /// Distance to each node of [`Numa::nodes`], in that order (10 = local).
    pub distances: Vec<u32>,
    /// What the memory of a node without CPUs is, or why that is not shown; `None` for any other node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Reading<NodeKind>>,
    /// The kernel's memory tier, the fastest lowest; `None` where all nodes are in one tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    /// What the firmware states of its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmat: Option<Hmat>,
    /// Bytes of the cache in front of its memory, that software does not see (HBM in cache mode, PMEM in memory mode).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_cache: Option<u64>,
}

/// What memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Behind CXL.
    Cxl,
    /// High-bandwidth memory next to the processor.
    Hbm,
    /// Persistent memory that the kernel uses as RAM (kmem).
    Persistent,
    /// That of a GPU.
    Gpu,
}

impl MemoryKind {
    /// Its name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            MemoryKind::Cxl => "CXL memory",
            MemoryKind::Hbm => "HBM",
            MemoryKind::Persistent => "persistent memory",
            MemoryKind::Gpu => "GPU memory",
        }
    }
}

/// What the memory of a node is, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeKind {
    /// The sort of memory.
    pub memory: MemoryKind,
    /// What shows it: `CXL region0`, `4 x 16 GiB HBM3 (SMBIOS)`.
    pub basis: String,
}

/// What the firmware states of a node's memory (ACPI HMAT, Documentation/admin-guide/mm/numaperf.rst).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hmat {
    /// The nodes for whose CPUs it states that.
    pub initiators: CpuList,
    /// Bytes a second.
    pub read_bandwidth: Option<f64>,
    /// Bytes a second.
    pub write_bandwidth: Option<f64>,
    /// Nanoseconds.
    pub read_latency: Option<f64>,
    /// Nanoseconds.
    pub write_latency: Option<f64>,
}

impl Node {
    /// Whether it has memory, or may have, and no CPU.
    pub fn is_memory_only(&self) -> bool {
        self.cpus.is_empty() && !self.is_empty()
    }

    /// Whether it has neither CPUs nor memory, as nodes that firmware holds ready for memory to come.
    pub fn is_empty(&self) -> bool {
        self.cpus.is_empty() && self.memory == Some(0)
    }

    /// Reserved huge pages of this size that are free on it.
    pub fn free_pages(&self, page: u64) -> u64 {
        self.hugetlb.iter().find(|pool| pool.page == page).map_or(0, |pool| pool.free)
    }

    /// What its memory is, where that is shown.
    pub fn memory_kind(&self) -> Option<MemoryKind> {
        Some(self.kind.as_ref()?.value()?.memory)
    }

    /// `CXL memory`, `memory without CPUs`.
    pub fn memory_title(&self) -> &'static str {
        self.memory_kind().map_or("memory without CPUs", MemoryKind::title)
    }
}

/// Where a memory policy puts pages.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyPlaces {
    /// On any of these nodes.
    Within(CpuList),
    /// So many of each node's, in the order of [`Numa::nodes`]: shares, which add up to 1.
    Shares(Vec<f64>),
}

impl Machine {
    /// Where the memory policy of this process puts pages (mm/mempolicy.c, mpol_to_str); `None` for the default policy, and for
    /// one that says nothing here.
    pub fn policy_places(&self) -> Option<PolicyPlaces> {
        let (mode, nodes) = self.numa.policy.as_deref()?.split_once(':')?;
        let nodes: CpuList = nodes.parse().ok()?;
        // `bind=static`: flags follow the mode.
        let mode = mode.split('=').next().unwrap_or(mode);
        let weight = |node: u32| match mode {
            "interleave" => Some(1.0),
            _ => self.interleave_weight(node),
        };
        match mode {
            "bind" | "prefer" | "prefer (many)" => Some(PolicyPlaces::Within(nodes)),
            "interleave" | "weighted interleave" => {
                let weights = self.numa.nodes.iter().map(|node| match nodes.contains(node.node) {
                    true => weight(node.node),
                    false => Some(0.0),
                });
                let weights: Vec<f64> = weights.collect::<Option<_>>()?;
                let all: f64 = weights.iter().sum();
                (all > 0.0).then(|| PolicyPlaces::Shares(weights.iter().map(|weight| weight / all).collect()))
            }
            _ => None,
        }
    }

    /// Pages that an interleave by weight takes from a node in turn: the setting is `node0=4 node1=1`.
    fn interleave_weight(&self, node: u32) -> Option<f64> {
        let weights = self.kernel.setting("weighted_interleave")?.value.value()?;
        let of_node = |word: &str| {
            let (number, weight) = word.strip_prefix("node")?.split_once('=')?;
            (number.parse() == Ok(node)).then(|| weight.parse().ok())?
        };
        weights.split(' ').find_map(of_node)
    }

    /// The online NUMA node of this number.
    pub fn node(&self, node: u32) -> Option<&Node> {
        self.numa.nodes.iter().find(|known| known.node == node)
    }

    /// Whether all memory is on one node, as far as nodes are shown.
    pub fn has_one_memory(&self) -> bool {
        self.numa.nodes.iter().filter(|node| node.memory != Some(0)).count() == 1
    }

    /// The nodes that have memory and no CPUs.
    pub fn memory_only_nodes(&self) -> impl Iterator<Item = &Node> {
        self.numa.nodes.iter().filter(|node| node.is_memory_only())
    }

    /// The distance that the firmware advertises from one node to another (10 = local), where it is shown.
    pub fn node_distance(&self, from: u32, to: u32) -> Option<u32> {
        let column = self.numa.nodes.iter().position(|known| known.node == to)?;
        self.node(from)?.distances.get(column).copied()
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::host::Setting;

    #[test]
    fn policies_say_where_pages_go() {
        let mut machine = Machine::default();
        machine.numa.nodes = [0, 1, 3].map(|node| Node { node, ..Node::default() }).into();
        machine.kernel.settings.push(Setting {
            name: "weighted_interleave".to_owned(),
            value: Reading::Value("node0=4 node1=1 (auto)".to_owned()),
            source: String::new(),
        });
        let mut places = |policy: &str| {
            machine.numa.policy = Some(policy.to_owned());
            machine.policy_places()
        };
        let within = |nodes: &str| Some(PolicyPlaces::Within(nodes.parse().unwrap()));
        assert_eq!(places("bind:1"), within("1"));
        assert_eq!(places("bind=static:0-1"), within("0-1"));
        assert_eq!(places("prefer (many):0,3"), within("0,3"));
        assert_eq!(places("interleave:0,3"), Some(PolicyPlaces::Shares(vec![0.5, 0.0, 0.5])));
        assert_eq!(places("weighted interleave:0-1"), Some(PolicyPlaces::Shares(vec![0.8, 0.2, 0.0])));
        assert_eq!(places("weighted interleave:0,3"), None, "node 3 has no weight that is known");
        assert_eq!((places("local"), places("interleave:7"), places("interleave:x")), (None, None, None));
    }
}
