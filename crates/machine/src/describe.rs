//! Describes a machine from its tree: one module for each part of [`Machine`].

mod caches;
pub(crate) mod cgroup;
pub mod channels;
mod contradictions;
mod cpu;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod cpuinfo;
mod hidden;
#[cfg(target_arch = "x86_64")]
mod hybrid;
mod kinds;
mod members;
mod memory;
pub(crate) mod numa;
mod overrides;
mod parts;
mod settings;
pub mod smbios;
pub(crate) mod tiers;
mod topology;
pub mod udev;
pub(crate) mod uncore;
pub(crate) mod virtualisation;

use figure::host::{Caches, Cgroup, Kernel, Numa, Topology};
use figure::{CpuList, Machine, Reading};

use crate::Tree;
use contradictions::Contradictions;

pub use overrides::Overrides;
pub(crate) use settings::recorded_parameters;

/// Describes the machine in `tree`. Never fails: missing information is unknown with its reason.
///
/// Opens about 25 files per CPU: a few milliseconds on small machines, some hundred with 1500 CPUs.
pub fn describe(tree: &Tree, overrides: &Overrides) -> Machine {
    let found = Contradictions::default();
    let cpuinfo = cpuinfo::Cpuinfo::read(tree);
    let virtualisation = virtualisation::describe(tree, &cpuinfo);
    let online = topology::online(tree, &cpuinfo, &found);
    let mut numa = numa::describe(tree, &online, &found);
    let nodes: CpuList = numa.nodes.iter().map(|node| node.node).collect();
    let cgroup = cgroup::describe(tree, &online, &nodes, &found);
    allow_nodes(&mut numa, &cgroup);
    let mut topology = topology::describe(tree, &cpuinfo, online, &numa, &cgroup, &found);
    let mut caches = caches::describe(tree, &cpuinfo, &topology, &virtualisation, &found);
    kinds::describe(tree, &cpuinfo, &caches, &mut topology, &found);
    note_gap(&mut caches, &topology);
    let memory = memory::describe(tree, overrides, &virtualisation);
    tiers::describe(tree, &mut numa, &memory, !virtualisation.is_guest());
    Machine {
        hostname: tree.line("/proc/sys/kernel/hostname"),
        cpu: cpu::describe(tree, &cpuinfo),
        caches,
        memory,
        cgroup,
        kernel: Kernel {
            release: settings::release(tree),
            command_line: settings::command_line(tree),
            settings: settings::describe(tree, &numa),
        },
        topology,
        uncore: uncore::describe(tree),
        numa,
        virtualisation,
        contradictions: found.into_vec(),
        hidden: hidden::describe(tree),
    }
}

/// The nodes of the innermost cpuset, in a tree without /proc/self/status.
fn allow_nodes(numa: &mut Numa, cgroup: &Cgroup) {
    let mems = cgroup.levels.iter().find_map(|level| level.mems.as_ref());
    if let (Reading::Unknown(_), Some(mems)) = (&numa.memory_allowed, mems) {
        numa.memory_allowed = Reading::Value(mems.clone());
    }
}

/// Adds the CPUs that lack a cache to what is odd about the caches.
fn note_gap(caches: &mut Caches, topology: &Topology) {
    let gap = caches::gap(caches, topology);
    let all: Vec<String> = [caches.unknown.take(), gap].into_iter().flatten().collect();
    caches.unknown = (!all.is_empty()).then(|| all.join("; "));
}
