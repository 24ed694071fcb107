//! A machine in one line.

use std::collections::BTreeSet;

use super::{LogicalCpu, Machine};
use crate::format::{bytes, counted, number, plain_to};

impl Machine {
    /// The machine in one line: processor, CPUs, memory, hypervisor, limits, kernel.
    pub fn summary(&self) -> String {
        let topology = &self.topology;
        let distinct =
            |of: fn(&LogicalCpu) -> u32| topology.cpus.iter().map(of).collect::<BTreeSet<u32>>().len();
        let mut parts = vec![match self.cpu.model.value() {
            Some(model) => plain_to(model, 64),
            None => "CPU model not known".to_owned(),
        }];
        if !topology.cpus.is_empty() {
            let cpus = topology.cpus.len();
            let allowed = topology.permitted().len();
            let mut count = if topology.unknown.is_some() {
                counted(cpus, "CPU")
            } else {
                let packages = distinct(|cpu| cpu.package);
                let cores = distinct(|cpu| cpu.core);
                let cores = match topology.cores.kinds.as_slice() {
                    [] => counted(cores, "core"),
                    kinds => topology.cores_of(kinds),
                };
                format!("{}, {cores}, {}", counted(packages, "socket"), counted(cpus, "CPU"))
            };
            if allowed > 0 && allowed < cpus {
                count.push_str(&format!(" ({allowed} allowed)"));
            }
            if let Some(used) = &topology.cores.used {
                count.push_str(&format!(", used: {} cores", plain_to(used, 32)));
            }
            parts.push(count);
        }
        if let Some(total) = self.memory.total.value() {
            parts.push(bytes(*total as f64));
        }
        if let Some(peak) = self.memory.peak.value() {
            parts.push(plain_to(&peak.basis, 64));
        }
        match self.virtualisation.hypervisor.value().map(String::as_str) {
            Some("none") => {}
            Some(hypervisor) => parts.push(format!("{} guest", plain_to(hypervisor, 32))),
            None => parts.push("hypervisor not known".to_owned()),
        }
        if let Some(container) = &self.virtualisation.container {
            parts.push(format!("in {}", plain_to(container, 32)));
        }
        if let Some((quota, _)) = self.cgroup.quota_cpus() {
            parts.push(format!("CPU quota {}", number(quota)));
        }
        if let Some(release) = self.kernel.release.value() {
            parts.push(format!("Linux {}", plain_to(release, 64)));
        }
        parts.join("; ")
    }
}
