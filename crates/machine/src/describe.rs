//! Describes a machine from its tree: one module for each part of [`Machine`].

mod caches;
pub(crate) mod cgroup;
pub mod channels;
mod cpu;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod cpuinfo;
#[cfg(target_arch = "x86_64")]
mod hybrid;
mod kinds;
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

use figure::Machine;
use figure::host::Kernel;

use crate::Tree;

pub use overrides::Overrides;
pub(crate) use settings::recorded_parameters;

/// Describes the machine in `tree`. Never fails: missing information is unknown with its reason.
///
/// Opens about 20 files per CPU: a few milliseconds on small machines, some hundred with 1500 CPUs.
pub fn describe(tree: &Tree, overrides: &Overrides) -> Machine {
    let cpuinfo = cpuinfo::Cpuinfo::read(tree);
    let virtualisation = virtualisation::describe(tree, &cpuinfo);
    let online = topology::online(tree, &cpuinfo);
    let mut numa = numa::describe(tree, &online);
    let mut topology = topology::describe(tree, &cpuinfo, online, &numa);
    let caches = caches::describe(tree, &cpuinfo, &topology, &virtualisation);
    kinds::describe(tree, &cpuinfo, &caches, &mut topology);
    let memory = memory::describe(tree, overrides, &virtualisation);
    tiers::describe(tree, &mut numa, &memory.modules);
    Machine {
        hostname: tree.line("/proc/sys/kernel/hostname"),
        cpu: cpu::describe(tree, &cpuinfo),
        caches,
        memory,
        cgroup: cgroup::describe(tree, &topology.online),
        kernel: Kernel {
            release: settings::release(tree),
            command_line: settings::command_line(tree),
            settings: settings::describe(tree, &numa),
        },
        topology,
        uncore: uncore::describe(tree),
        numa,
        virtualisation,
    }
}
