//! Where a figure was measured: which core, group of cores with one last-level cache, or NUMA node.

use std::collections::BTreeMap;

use figure::host::LogicalCpu;
use figure::{CpuList, Machine};

/// The parts of a machine by their CPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The CPUs of each core, where it is not all of the machine.
    pub cores: Vec<CpuList>,
    /// The CPUs of each last-level cache (an AMD CCX), where it is not all of the machine.
    pub caches: Vec<CpuList>,
    /// The number and the CPUs of each NUMA node with CPUs, where there are several.
    pub nodes: Vec<(u32, CpuList)>,
}

impl Places {
    /// The parts of a machine.
    pub fn of(machine: &Machine) -> Places {
        let cpus = &machine.topology.cpus;
        let by = |key: fn(&LogicalCpu) -> Option<u32>| -> BTreeMap<u32, CpuList> {
            let mut lists: BTreeMap<u32, CpuList> = BTreeMap::new();
            for cpu in cpus {
                if let Some(key) = key(cpu) {
                    lists.entry(key).or_default().insert(cpu.cpu);
                }
            }
            lists
        };
        let several = |lists: Vec<CpuList>| if lists.len() > 1 { lists } else { Vec::new() };
        let nodes = by(|cpu| cpu.node);
        let level = machine.caches.instances.iter().map(|cache| cache.level).max();
        let last = machine.caches.instances.iter().filter(|cache| Some(cache.level) == level);
        Places {
            cores: several(by(|cpu| Some(cpu.core)).into_values().collect()),
            caches: several(last.map(|cache| cache.cpus.clone()).collect()),
            nodes: if nodes.len() > 1 { nodes.into_iter().collect() } else { Vec::new() },
        }
    }
}

/// Where a figure was measured: cores and caches as indices into [`Places`], NUMA nodes by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Whether the figure was measured at all.
    pub is_known: bool,
    /// The core, if it used one of several.
    pub core: Option<usize>,
    /// The last-level cache, if all its CPUs share one of several.
    pub cache: Option<usize>,
    /// The NUMA node, if all its CPUs belong to one of several.
    pub node: Option<u32>,
    /// The NUMA node of its memory, if that was bound to one of several.
    pub memory: Option<u32>,
}

impl Site {
    /// The site of a figure on these CPUs, with memory bound to this node.
    pub fn of(cpus: &[u32], memory: Option<u32>, places: &Places) -> Site {
        let holds = |list: &CpuList| !cpus.is_empty() && cpus.iter().all(|cpu| list.contains(*cpu));
        let several = !places.nodes.is_empty();
        Site {
            is_known: true,
            core: places.cores.iter().position(holds),
            cache: places.caches.iter().position(holds),
            node: places.nodes.iter().find(|(_, list)| holds(list)).map(|(node, _)| *node),
            // Memory may be on a node without CPUs.
            memory: memory.filter(|_| several),
        }
    }
}
