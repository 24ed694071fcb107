//! What is hidden from truebench here, and the checks that lack their evidence by it. Pure.
//!
//! Such a check answers unknown, never pass. Checks are named by their ids: the crate that judges tests that each exists.

use figure::Machine;
use figure::host::{HostNote, Source};

/// Something hidden.
#[derive(Debug)]
pub struct Blind {
    /// What, in a few words.
    pub about: &'static str,
    /// Checks without evidence. One that only loses a detail is named in the effect.
    pub checks: &'static [&'static str],
    /// Why; `None` where it is shown. A command that shows it may follow: `CAUSE: sudo …`, `CAUSE: docker run …`.
    why: fn(&Machine) -> Option<String>,
    effect: &'static str,
    /// What shows it to a container.
    remedy: Option<Remedy>,
}

/// With what a container must be started to see something.
#[derive(Clone, Copy, Debug)]
struct Remedy {
    /// The command of Docker and nerdctl.
    docker: &'static str,
    /// The part of a pod's specification.
    pod: &'static str,
}

pub const ALL: &[Blind] = &[
    Blind {
        about: "hidden limits",
        checks: &["quota", "throttled", "memory-limit"],
        why: hidden_limits,
        effect: "They may throttle truebench; where the throttling counters are shown they count it",
        remedy: Some(Remedy {
            docker: "docker run --cgroupns host -v /sys/fs/cgroup:/sys/fs/cgroup:ro …",
            pod: "volumes: [{name: cgroup, hostPath: {path: /sys/fs/cgroup}}]",
        }),
    },
    Blind {
        about: "cores",
        checks: &["threads-on-distinct-cores", "sibling-load"],
        why: |machine| machine.topology.unknown.clone(),
        effect: "Two threads may share a core unseen",
        remedy: Some(SHOW_SYS),
    },
    Blind {
        about: "last-level cache",
        checks: &["array-size"],
        why: |machine| machine.caches.unknown.clone().filter(|_| machine.caches.instances.is_empty()),
        effect: "A memory figure needs arrays of four times the real cache: trust the doubling check",
        remedy: Some(SHOW_SYS),
    },
    Blind {
        about: "NUMA nodes",
        checks: &["numa-placement"],
        why: |machine| machine.numa.unknown.clone().filter(|_| machine.numa.nodes.is_empty()),
        effect: "Memory may be on another node than its thread",
        remedy: Some(SHOW_SYS),
    },
    Blind {
        about: "CPU time of the machine",
        checks: &["foreign-load", "steal", "interrupts", "sibling-load"],
        why: |machine| machine.hidden(Source::CpuTimes).map(str::to_owned),
        effect: "Other containers on the same CPUs are not seen; run-queue-delay shows that our threads waited",
        remedy: None,
    },
    Blind {
        about: "pinning",
        checks: &["placement-held"],
        why: |machine| machine.hidden(Source::Pinning).map(str::to_owned),
        effect: "No figure that depends on where it runs is available",
        remedy: Some(NO_FILTER),
    },
    Blind {
        about: "memory placement",
        checks: &["numa-placement"],
        why: |machine| {
            machine.hidden(Source::MemoryPlacement).filter(|_| !machine.has_one_memory()).map(str::to_owned)
        },
        effect: "Memory is not bound to a node, and the node of its pages is not known",
        remedy: Some(NO_FILTER),
    },
    Blind {
        about: "performance events",
        checks: &["fault-coverage"],
        why: |machine| machine.hidden(Source::PerfEvents).map(str::to_owned),
        effect: "Causes of page faults, and page walks, are not available",
        remedy: Some(Remedy {
            docker: "docker run --cap-add PERFMON …",
            pod: "securityContext: {capabilities: {add: [PERFMON]}}",
        }),
    },
    Blind {
        about: "performance counters",
        checks: &["traffic-channels", "traffic-multiplexed", "traffic-background", "traffic-agreement"],
        why: |machine| machine.uncore.refused.clone().filter(|_| !machine.uncore.channels.is_empty()),
        effect: "Without root the memory controllers' counters cannot confirm the traffic (truebench memory counters)",
        remedy: None,
    },
    Blind {
        about: "interrupts",
        checks: &[],
        why: |machine| machine.hidden(Source::Interrupts).map(str::to_owned),
        effect: "The check interrupts knows their time and not their number",
        remedy: Some(Remedy {
            docker: "docker run --security-opt systempaths=unconfined …",
            pod: "securityContext: {procMount: Unmasked}",
        }),
    },
    Blind {
        about: "other processes",
        checks: &[],
        why: |machine| machine.hidden(Source::Processes).map(str::to_owned),
        effect: "The check foreign-load knows their CPU time and cannot name them",
        remedy: Some(Remedy { docker: "docker run --pid host …", pod: "hostPID: true" }),
    },
];

const SHOW_SYS: Remedy = Remedy {
    docker: "docker run -v /sys:/sys:ro …",
    pod: "volumes: [{name: sys, hostPath: {path: /sys}}]",
};
/// Docker's profile lets mbind through with CAP_SYS_NICE, and move_pages never (moby, profiles/seccomp/default.json).
const NO_FILTER: Remedy = Remedy {
    docker: "docker run --security-opt seccomp=unconfined …",
    pod: "securityContext: {seccompProfile: {type: Unconfined}}",
};

/// In a container, or where nothing is shown: elsewhere a group that cannot be read is one without limits to us.
fn hidden_limits(machine: &Machine) -> Option<String> {
    let cgroup = &machine.cgroup;
    let is_near = machine.virtualisation.is_contained() || cgroup.levels.is_empty();
    cgroup.unknown.clone().filter(|_| is_near)
}

/// A note of each thing that is hidden.
pub fn notes(machine: &Machine) -> impl Iterator<Item = HostNote> {
    ALL.iter().filter_map(|blind| {
        let why = (blind.why)(machine)?;
        let split = ["sudo ", "docker "].into_iter().find_map(|word| why.split_once(&format!(": {word}")));
        let cause = split.map_or(why.as_str(), |(cause, _)| cause);
        let command = why[cause.len()..].strip_prefix(": ");
        Some(HostNote {
            about: blind.about.to_owned(),
            reason: format!("{cause}. {}", blind.effect),
            command: remedy(machine, blind.remedy, command),
            blinds: blind.checks.iter().map(|id| (*id).to_owned()).collect(),
        })
    })
}

/// What shows it: to a pod a line of its specification, to a container a flag, as it cannot write a setting of the kernel; to others
/// the command that the cause names.
fn remedy(machine: &Machine, remedy: Option<Remedy>, command: Option<&str>) -> Option<String> {
    let flag = command.filter(|command| command.starts_with("docker "));
    let chosen = match remedy.filter(|_| machine.virtualisation.is_contained()) {
        Some(remedy) if machine.is_pod() => remedy.pod,
        Some(remedy) => flag.unwrap_or(remedy.docker),
        None => command?,
    };
    let is_podman = machine.virtualisation.container.as_deref() == Some("podman");
    Some(match is_podman {
        true => chosen.replace("docker ", "podman ").replace("systempaths=unconfined", "unmask=ALL"),
        false => chosen.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use figure::host::Hidden;

    use super::*;

    #[test]
    fn a_container_gets_the_flag_and_a_machine_the_command() {
        let mut machine = Machine::default();
        let reason = "perf_event_paranoid is 4: sudo sysctl kernel.perf_event_paranoid=2".to_owned();
        machine.hidden.push(Hidden { source: Source::PerfEvents, reason });
        let command = |machine: &Machine| notes(machine).next().unwrap().command;
        assert_eq!(command(&machine).as_deref(), Some("sudo sysctl kernel.perf_event_paranoid=2"));
        machine.virtualisation.container = Some("docker".to_owned());
        assert_eq!(command(&machine).as_deref(), Some("docker run --cap-add PERFMON …"));
        machine.virtualisation.container = Some("podman".to_owned());
        assert_eq!(command(&machine).as_deref(), Some("podman run --cap-add PERFMON …"));
        machine.virtualisation.container = Some("kubernetes".to_owned());
        assert_eq!(command(&machine).as_deref(), Some("securityContext: {capabilities: {add: [PERFMON]}}"));
        // A virtual machine has settings of its own.
        machine.virtualisation.container = Some("wsl".to_owned());
        assert_eq!(command(&machine).as_deref(), Some("sudo sysctl kernel.perf_event_paranoid=2"));
        let note = notes(&machine).next().unwrap();
        assert!(note.reason.starts_with("perf_event_paranoid is 4. Causes of"), "{}", note.reason);
        assert_eq!(note.blinds, ["fault-coverage"]);
    }
}
