//! Limits between this process and the machine: hypervisor, container, CPUs, control groups, counters.

use figure::format::{bytes, counted, plain};
use figure::host::{CgroupLevel, CpuClaim, CpuRequest};
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
    if virtualisation.is_contained() {
        claims(sheet, machine);
    }
    counters(sheet, machine);
}

/// What a container is promised: its requests, and CPUs that are its own or not.
fn claims(sheet: &mut Sheet, machine: &Machine) {
    let levels = &machine.cgroup.levels;
    let weighted = levels.iter().find(|level| level.cpu_weight.is_some());
    let cpus = machine.cpu_request().zip(weighted).map(|(request, level)| requested(request, level));
    let kept = levels.iter().find_map(|level| level.memory_request);
    let memory = kept.map(|kept| format!("{} of memory", bytes(kept as f64)));
    let requests: Vec<String> = cpus.into_iter().chain(memory).collect();
    if !requests.is_empty() {
        sheet.entry("requests", &requests.join(", "));
    }
    if let Some(level) = weighted.filter(|level| !machine.is_pod() && !level.has_default_weight()) {
        sheet.entry("CPU weight", &weight(level));
    }
    let policy = machine.cgroup.cpu_manager.as_ref();
    let policy = policy.map_or(String::new(), |policy| format!("; CPU manager policy {}", plain(policy)));
    let claim = match machine.cpu_claim() {
        CpuClaim::Partition(set) => format!("{} exclusively: a partition of the kernel's", compact(&set)),
        CpuClaim::Static(set) => {
            format!("{} exclusively, by request and limit: CPU manager policy static", compact(&set))
        }
        CpuClaim::Pool(set) => format!("{}, which others may use as well", compact(&set)),
        CpuClaim::Weight => "all CPUs, divided by weight".to_owned(),
    };
    sheet.entry("CPU claim", &(claim + &policy));
    let numa = &machine.numa;
    if let (Some(allowed), true) = (numa.memory_allowed.value(), numa.nodes.len() > 1) {
        let policy = numa.policy.as_deref().unwrap_or("default");
        sheet.entry("memory nodes", &format!("{}, memory policy {}", compact(allowed), plain(policy)));
    }
}

/// `about 1 CPU (cpu.weight 39)`.
fn requested(request: CpuRequest, level: &CgroupLevel) -> String {
    let cpus = |cpus: f64| {
        let rounded = if cpus < 1.0 { (cpus * 100.0).round() / 100.0 } else { (cpus * 10.0).round() / 10.0 };
        format!("{rounded} CPU{}", if rounded == 1.0 { "" } else { "s" })
    };
    match request {
        CpuRequest::Exact(exact) => format!("{} ({})", cpus(exact), weight(level)),
        CpuRequest::Either { linear, quadratic } => format!(
            "about {} ({}), or {} where runc 1.3.2, crun 1.23 or later set it",
            cpus(linear),
            weight(level),
            cpus(quadratic)
        ),
    }
}

/// `cpu.weight 39; 100 is the default`.
fn weight(level: &CgroupLevel) -> String {
    let (file, default) = if level.version == 1 { ("cpu.shares", 1024) } else { ("cpu.weight", 100) };
    let weight = level.cpu_weight.unwrap_or(default);
    if weight == default {
        format!("{file} {weight}")
    } else {
        format!("{file} {weight}; {default} is the default")
    }
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
    let is_contained = machine.virtualisation.is_contained();
    let limits =
        cgroup.levels.iter().map(|level| (level, limits_of(level, &machine.topology.online, is_contained)));
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

/// The limits of one group: `1.5 CPUs`, `2 GiB of memory (0.4 GiB used)`, `CPUs 0-3`. Services have a limit of tasks that nothing
/// reaches, so that it counts in containers alone.
fn limits_of(level: &CgroupLevel, online: &CpuList, is_contained: bool) -> Vec<String> {
    let memory = level.memory_limit.map(|limit| {
        let used = level.memory_used.map_or(String::new(), |used| format!(" ({} used)", bytes(used as f64)));
        format!("{} of memory{used}", bytes(limit as f64))
    });
    let cpuset = level.cpuset.as_ref().filter(|set| !online.is_subset(set));
    let cpuset = cpuset.map(|set| format!("CPUs {}", compact(set)));
    let tasks = level.tasks_limit.filter(|_| is_contained).map(|limit| {
        let used = level.tasks.map_or(String::new(), |tasks| format!(" ({tasks} used)"));
        format!("{}{used}", counted(limit as usize, "task"))
    });
    [level.quota_cpus.map(share), memory, cpuset, tasks].into_iter().flatten().collect()
}
