//! Where a figure was measured: which core, group of cores with one last-level cache, or NUMA node.

use std::collections::BTreeSet;

use figure::{CpuList, Machine};

/// The parts of a machine by their CPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// The CPUs of each core, where it is not all of the machine.
    pub cores: Vec<CpuList>,
    /// The CPUs of each last-level cache (an AMD CCX), where it is not all of the machine.
    pub caches: Vec<CpuList>,
    /// The CPUs of each NUMA node, where there are several.
    pub nodes: Vec<CpuList>,
}

impl Places {
    /// The parts of a machine.
    pub fn of(machine: &Machine) -> Places {
        let cpus = &machine.topology.cpus;
        let by = |key: &dyn Fn(&figure::host::LogicalCpu) -> Option<u32>| -> Vec<CpuList> {
            let keys: BTreeSet<u32> = cpus.iter().filter_map(key).collect();
            let of = |wanted: u32| {
                let mut list = CpuList::new();
                cpus.iter().filter(|cpu| key(cpu) == Some(wanted)).for_each(|cpu| list.insert(cpu.cpu));
                list
            };
            keys.into_iter().map(of).collect()
        };
        let several = |lists: Vec<CpuList>| if lists.len() > 1 { lists } else { Vec::new() };
        let level = machine.caches.instances.iter().map(|cache| cache.level).max();
        let last = machine.caches.instances.iter().filter(|cache| Some(cache.level) == level);
        Places {
            cores: several(by(&|cpu| Some(cpu.core))),
            caches: several(last.map(|cache| cache.cpus.clone()).collect()),
            nodes: several(by(&|cpu| cpu.node)),
        }
    }
}

/// Where a figure was measured, as indices into [`Places`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Whether the figure was measured at all.
    pub is_known: bool,
    /// How many threads measured it, where stated.
    pub threads: Option<u32>,
    /// The core, if it used one of several.
    pub core: Option<usize>,
    /// The last-level cache, if all its CPUs share one of several.
    pub cache: Option<usize>,
    /// The NUMA node, if all its CPUs belong to one of several.
    pub node: Option<usize>,
    /// The NUMA node of its memory, if that was bound to one of several.
    pub memory: Option<usize>,
}

impl Site {
    /// The site of a figure on these CPUs, with memory bound to this node.
    pub fn of(cpus: &[u32], memory: Option<u32>, threads: Option<u32>, places: &Places) -> Site {
        let within = |lists: &[CpuList]| {
            let holds = |list: &CpuList| !cpus.is_empty() && cpus.iter().all(|cpu| list.contains(*cpu));
            lists.iter().position(holds)
        };
        Site {
            is_known: true,
            threads,
            core: within(&places.cores),
            cache: within(&places.caches),
            node: within(&places.nodes),
            memory: memory.map(|node| node as usize).filter(|node| *node < places.nodes.len()),
        }
    }
}
