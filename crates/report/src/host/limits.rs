//! What stands between us and the machine: hypervisor, container, and the limits that control groups set.

use anstyle::Style;
use figure::format::{bytes, plain};
use figure::host::CgroupLevel;
use figure::{Machine, Reading};

use super::drawing::compact;
use super::sheet::{DIM, Sheet, unknown};

/// Virtualisation and limits.
pub fn limits(sheet: &mut Sheet, machine: &Machine) {
    sheet.title("Virtualisation and limits");
    let virtualisation = &machine.virtualisation;
    sheet.reading("hypervisor", &virtualisation.hypervisor, |name| plain(name));
    if let Some(container) = &virtualisation.container {
        sheet.entry("container", Style::new(), &plain(container));
    }
    if !virtualisation.evidence.is_empty() {
        let evidence: Vec<String> = virtualisation.evidence.iter().map(|text| plain(text)).collect();
        sheet.entry("", DIM, &format!("by {}", evidence.join("; ")));
    }
    let topology = &machine.topology;
    if topology.allowed.is_empty() {
        sheet.entry("CPUs", DIM, &unknown("the affinity mask of this process is not shown"));
    } else if topology.online.is_subset(&topology.allowed) {
        sheet.entry("CPUs", Style::new(), "we may use all that are online");
    } else {
        let ours = topology.usable();
        let text = format!("we may use {} of {}: {}", ours.len(), topology.online.len(), compact(&ours));
        sheet.entry("CPUs", Style::new(), &text);
    }
    cgroups(sheet, machine);
    counters(sheet, machine);
}

/// What counts the traffic of memory here, and whether we may look.
fn counters(sheet: &mut Sheet, machine: &Machine) {
    const NAME: &str = "memory counters";
    let uncore = &machine.uncore;
    match (uncore.channels.first(), &uncore.refused, &uncore.unknown) {
        (Some(first), refused, unknown) => {
            let open = if refused.is_some() { "closed to us" } else { "open to us" };
            let like = plain(&first.name);
            let text = format!("{} channels ({like} and its like), {open}", uncore.channels.len());
            sheet.entry(NAME, Style::new(), &text);
            for problem in refused.iter().chain(unknown) {
                sheet.entry("", DIM, &plain(problem));
            }
        }
        (None, _, Some(unknown)) => sheet.entry(NAME, DIM, &plain(unknown)),
        (None, _, None) => {}
    }
}

/// Every group that limits us, from our own outwards; the tightest counts.
fn cgroups(sheet: &mut Sheet, machine: &Machine) {
    let cgroup = &machine.cgroup;
    let limiting: Vec<&CgroupLevel> =
        cgroup.levels.iter().filter(|level| !limits_of(level, machine).is_empty()).collect();
    for (at, level) in limiting.iter().enumerate() {
        let name = if at == 0 { "control groups" } else { "" };
        sheet.entry(name, Style::new(), &limits_of(level, machine).join(", "));
        sheet.entry("", DIM, &plain(&level.directory));
    }
    if let (Some((quota, _)), true) = (cgroup.quota_cpus(), limiting.len() > 1) {
        sheet.entry("", DIM, &format!("the tightest CPU quota counts: {}", share(quota)));
    }
    match &cgroup.unknown {
        Some(reason) if cgroup.levels.is_empty() => {
            sheet.reading("control groups", &Reading::<()>::unknown(reason), |()| String::new());
        }
        Some(reason) => sheet.entry("", DIM, &unknown(reason)),
        None if limiting.is_empty() && cgroup.levels.is_empty() => {
            sheet.entry("control groups", Style::new(), "none");
        }
        None if limiting.is_empty() => {
            sheet.entry("control groups", Style::new(), "none sets a limit");
        }
        None => {}
    }
}

/// A quota: `1.5 CPUs of time`.
fn share(quota: f64) -> String {
    let rounded = (quota * 100.0).round() / 100.0;
    format!("{rounded} CPU{} of time", if rounded == 1.0 { "" } else { "s" })
}

/// What one group limits: `1.5 CPUs`, `2 GiB of memory (0.4 GiB used)`, `CPUs 0-3`.
fn limits_of(level: &CgroupLevel, machine: &Machine) -> Vec<String> {
    let mut limits = Vec::new();
    if let Some(quota) = level.quota_cpus {
        limits.push(share(quota));
    }
    if let Some(limit) = level.memory_limit {
        let used = level.memory_used.map_or(String::new(), |used| format!(" ({} used)", bytes(used as f64)));
        limits.push(format!("{} of memory{used}", bytes(limit as f64)));
    }
    if let Some(cpuset) = level.cpuset.as_ref().filter(|set| !machine.topology.online.is_subset(set)) {
        limits.push(format!("CPUs {}", compact(cpuset)));
    }
    limits
}
