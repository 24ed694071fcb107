//! Limits between this process and the machine: hypervisor, container, CPUs, control groups, counters.

use figure::format::{bytes, plain};
use figure::host::CgroupLevel;
use figure::{CpuList, Machine};

use super::drawing::compact;
use super::sheet::{DIM, Sheet, unknown};

/// Virtualisation and limits.
pub fn limits(sheet: &mut Sheet, machine: &Machine) {
    sheet.title("Virtualisation and limits");
    let virtualisation = &machine.virtualisation;
    sheet.reading("hypervisor", &virtualisation.hypervisor, |name| plain(name));
    if let Some(container) = &virtualisation.container {
        sheet.entry("container", &plain(container));
    }
    if !virtualisation.evidence.is_empty() {
        let evidence: Vec<String> = virtualisation.evidence.iter().map(|text| plain(text)).collect();
        sheet.more(&format!("by {}", evidence.join("; ")));
    }
    let topology = &machine.topology;
    if topology.allowed.is_empty() {
        sheet.unknown("CPUs", "the affinity mask of this process is not shown");
    } else if topology.online.is_subset(&topology.allowed) {
        sheet.entry("CPUs", "we may use all that are online");
    } else {
        let usable = topology.permitted();
        let counts = format!("{} of {}", usable.len(), topology.online.len());
        sheet.entry("CPUs", &format!("we may use {counts}: {}", compact(&usable)));
    }
    cgroups(sheet, machine);
    counters(sheet, machine);
}

/// The counters of memory traffic, and whether they are open.
fn counters(sheet: &mut Sheet, machine: &Machine) {
    const NAME: &str = "memory counters";
    let uncore = &machine.uncore;
    if let Some(first) = uncore.channels.first() {
        let open = if uncore.refused.is_some() { "closed to us" } else { "open to us" };
        let channels = format!("{} channels ({} and its like)", uncore.channels.len(), plain(&first.name));
        sheet.entry(NAME, &format!("{channels}, {open}"));
        for problem in uncore.refused.iter().chain(&uncore.unknown) {
            sheet.more(&plain(problem));
        }
    } else if let Some(reason) = &uncore.unknown {
        sheet.styled(NAME, DIM, &plain(reason));
    }
}

/// Every group that limits this process, from its own outwards; the tightest counts.
fn cgroups(sheet: &mut Sheet, machine: &Machine) {
    const NAME: &str = "control groups";
    let cgroup = &machine.cgroup;
    let limits = cgroup.levels.iter().map(|level| (level, limits_of(level, &machine.topology.online)));
    let limiting: Vec<_> = limits.filter(|(_, limits)| !limits.is_empty()).collect();
    for (at, (level, limits)) in limiting.iter().enumerate() {
        sheet.entry(if at == 0 { NAME } else { "" }, &limits.join(", "));
        sheet.more(&plain(&level.directory));
    }
    if let (Some((quota, _)), true) = (cgroup.quota_cpus(), limiting.len() > 1) {
        sheet.more(&format!("the tightest CPU quota counts: {}", share(quota)));
    }
    match &cgroup.unknown {
        Some(reason) if cgroup.levels.is_empty() => sheet.unknown(NAME, reason),
        Some(reason) => sheet.more(&unknown(reason)),
        None if cgroup.levels.is_empty() => sheet.entry(NAME, "none"),
        None if limiting.is_empty() => sheet.entry(NAME, "none sets a limit"),
        None => {}
    }
}

/// A quota: `1.5 CPUs of time`.
fn share(quota: f64) -> String {
    let rounded = (quota * 100.0).round() / 100.0;
    format!("{rounded} CPU{} of time", if rounded == 1.0 { "" } else { "s" })
}

/// The limits of one group: `1.5 CPUs`, `2 GiB of memory (0.4 GiB used)`, `CPUs 0-3`.
fn limits_of(level: &CgroupLevel, online: &CpuList) -> Vec<String> {
    let memory = level.memory_limit.map(|limit| {
        let used = level.memory_used.map_or(String::new(), |used| format!(" ({} used)", bytes(used as f64)));
        format!("{} of memory{used}", bytes(limit as f64))
    });
    let cpuset = level.cpuset.as_ref().filter(|set| !online.is_subset(set));
    let cpuset = cpuset.map(|set| format!("CPUs {}", compact(set)));
    [level.quota_cpus.map(share), memory, cpuset].into_iter().flatten().collect()
}
