//! Properties of a machine that can distort measurements, each with its reason and, where possible, the
//! command that changes it. Pure: truebench changes nothing and never runs these commands.

use std::fmt::Display;

use figure::host::{CgroupLevel, Contradiction, CoreKind, CpuClaim, HostNote, Machine, Node};
use figure::{CpuList, Reading, format};

use crate::blind;

const CPU: &str = "/sys/devices/system/cpu";

/// Returns a note if the machine has this hazard.
type Hazard = fn(&Machine) -> Option<HostNote>;

/// The hazards by their effect on figures, largest first: limits, interference by others, changes during a
/// measurement, and settings.
const HAZARDS: &[Hazard] = &[
    quota,
    allowed,
    allowed_nodes,
    memory_limit,
    shared_cpus,
    task_limit,
    guest,
    last_level,
    battery,
    kinds_of_core,
    governor,
    boost,
    offline,
    numa_balancing,
    demotion,
    memory_side_cache,
    smt,
    huge_pages,
    swap,
    clocksource,
    same_page_merging,
    mitigations,
    dimms,
];

/// The hazards of a machine, most important first. What is known of the machine itself comes before all.
pub fn notes(machine: &Machine) -> Vec<HostNote> {
    let contradictions = machine.contradictions.iter().filter_map(contradiction);
    let hazards = HAZARDS.iter().filter_map(|hazard| hazard(machine));
    contradictions.chain(hazards).chain(blind::notes(machine)).collect()
}

fn contradiction(found: &Contradiction) -> Option<HostNote> {
    let reason = format!(
        "{}. Believed: {}. Compare with the machine itself before you trust figures for each part of it",
        found.sources, found.believed
    );
    note(&format!("contradiction: {}", found.about), reason, None)
}

fn note(about: &str, reason: impl Into<String>, command: Option<String>) -> Option<HostNote> {
    Some(HostNote { about: about.to_owned(), reason: reason.into(), command, blinds: Vec::new() })
}

/// The command that writes `value` to a file.
fn write(value: impl Display, file: &str) -> String {
    format!("echo {value} | sudo tee {}", quoted(file))
}

fn setting<'a>(machine: &'a Machine, name: &str) -> Option<&'a str> {
    machine.kernel.setting(name)?.value.value().map(String::as_str)
}

fn cpu_count(count: usize) -> String {
    format!("{count} CPU{}", if count == 1 { "" } else { "s" })
}

fn quota(machine: &Machine) -> Option<HostNote> {
    let allowed = machine.topology.allowed.len();
    let (quota, level) = machine.cgroup.quota_cpus().filter(|(quota, _)| *quota < allowed as f64)?;
    let command = match level.version {
        1 => write(-1, &format!("{}/cpu.cfs_quota_us", level.directory)),
        _ => write("max", &format!("{}/cpu.max", level.directory)),
    };
    let (quota, cpus) = (format::number(quota), cpu_count(allowed));
    let reason = format!(
        "{} may use {quota} CPUs' worth of time, and its threads may run on {cpus}: more threads than that are stopped \
         in the middle of every period. In a container set the limit where it was started, or use fewer threads",
        level.directory
    );
    note("CPU quota", reason, Some(command))
}

fn allowed(machine: &Machine) -> Option<HostNote> {
    let topology = &machine.topology;
    if topology.allowed.len() >= topology.online.len() {
        return None;
    }
    let narrow =
        |level: &&CgroupLevel| level.cpuset.as_ref().is_some_and(|set| !topology.online.is_subset(set));
    // A user can widen the mask up to the cpuset, but not the cpuset.
    let (cause, command) = match machine.cgroup.levels.iter().find(narrow) {
        Some(level) => (format!("the cpuset of {}", level.directory), None),
        None => (
            "the affinity mask that truebench was started with".to_owned(),
            Some(format!("taskset -c {} truebench …", topology.online)),
        ),
    };
    let reason = format!(
        "truebench may run on {} of {} ({}), by {cause}: figures are of this part of the machine",
        topology.allowed.len(),
        cpu_count(topology.online.len()),
        topology.allowed
    );
    note("allowed CPUs", reason, command)
}

fn allowed_nodes(machine: &Machine) -> Option<HostNote> {
    let allowed = machine.numa.memory_allowed.value()?;
    let has_memory = |node: &&Node| node.memory != Some(0);
    let closed: CpuList = machine
        .numa
        .nodes
        .iter()
        .filter(has_memory)
        .map(|node| node.node)
        .filter(|node| !allowed.contains(*node))
        .collect();
    if closed.is_empty() {
        return None;
    }
    let reason = format!(
        "a cpuset closes the memory of {} {closed} to truebench, and allows that of {allowed}: figures are of this part of the memory",
        if closed.len() == 1 { "node" } else { "nodes" }
    );
    note("allowed nodes", reason, None)
}

fn memory_limit(machine: &Machine) -> Option<HostNote> {
    let available = *machine.memory.available.value().unwrap_or(&u64::MAX);
    let (room, level) = machine.cgroup.memory_room().filter(|(room, _)| *room < available)?;
    let reason = format!(
        "{} has room for {} more under its limit of {}: arrays stay below that, however much memory the machine has",
        level.directory,
        format::bytes(room as f64),
        format::bytes(level.memory_limit.unwrap_or(0) as f64)
    );
    let file = |name: &str| format!("{}/memory.{name}", level.directory);
    let command = match level.version {
        1 => write(-1, &file("limit_in_bytes")),
        _ => write("max", &file("max")) + " " + &quoted(&file("high")),
    };
    note("memory limit", reason, Some(command))
}

/// Who else may run there by the same rules. What is not exclusive is shared, whoever uses it now.
fn shared_cpus(machine: &Machine) -> Option<HostNote> {
    if !machine.virtualisation.is_contained() {
        return None;
    }
    let (cpus, all) = match machine.cpu_claim() {
        CpuClaim::Pool(cpus) => (cpus.to_string(), "a cpuset alone keeps nobody else off these CPUs"),
        CpuClaim::Weight => ("all CPUs".to_owned(), "only a weight divides them where they are short"),
        CpuClaim::Partition(_) | CpuClaim::Static(_) => return None,
    };
    let reason = format!(
        "other containers may run on {cpus} as well: {all}. Watch foreign-load and run-queue-delay. A pod gets CPUs of its \
         own by whole CPUs as request and limit, and the CPU manager policy static"
    );
    note("shared CPUs", reason, None)
}

/// Tasks that a mode may need at a time: shell8's 8 scripts of several processes each, and threads for each CPU.
const TASKS: u64 = 64;

fn task_limit(machine: &Machine) -> Option<HostNote> {
    let needed = TASKS + 2 * machine.topology.allowed.len() as u64;
    let (room, level) = machine.cgroup.task_room().filter(|(room, _)| *room < needed)?;
    let reason = format!(
        "{} has room for {room} more processes and threads: figures that start more are not available (EAGAIN)",
        level.directory
    );
    note("process limit", reason, Some(write("max", &format!("{}/pids.max", level.directory))))
}

fn guest(machine: &Machine) -> Option<HostNote> {
    let name = machine.virtualisation.hypervisor.value().filter(|name| *name != "none")?;
    if machine.virtualisation.is_emulated() {
        let reason = format!(
            "the processor is emulated ({name}): each instruction costs what the emulator makes of it. Topology and the \
             kernel's choices are real; rates, times and bandwidths are the emulator's. Run the guest under KVM"
        );
        return note("emulated", reason, None);
    }
    let reason = format!(
        "this is a guest ({name}): the hypervisor may take CPUs away (steal), share cores and caches with \
         other guests, and choose how memory is backed. Watch the checks steal and run-queue-delay; repeat at another time"
    );
    note("virtual machine", reason, None)
}

fn last_level(machine: &Machine) -> Option<HostNote> {
    // Where none is shown at all, more than this is hidden.
    let unknown = machine.caches.unknown.as_ref().filter(|_| !machine.caches.instances.is_empty())?;
    let reason = format!(
        "{unknown}. A memory figure needs arrays of four times the real cache: trust the doubling check"
    );
    note("last-level cache", reason, None)
}

fn battery(machine: &Machine) -> Option<HostNote> {
    setting(machine, "power").filter(|power| *power == "battery")?;
    note("battery", "on battery the firmware lowers clocks and power limits. Plug in", None)
}

fn kinds_of_core(machine: &Machine) -> Option<HostNote> {
    let cores = &machine.topology.cores;
    let unknown = cores.unknown.as_ref().map(|what| format!("unknown: {what}"));
    if cores.kinds.is_empty() {
        let reason = format!("{}. Measure CPUs of one kind at a time: --places", unknown?);
        return note("kinds of core", reason, None);
    }
    let text = |kind: &CoreKind| {
        let part = kind.part.as_ref().filter(|part| **part != kind.name);
        let part = part.map_or(String::new(), |part| format!(", {part}"));
        format!("{}: {}{part}", kind.name, kind.cpus)
    };
    let listed: Vec<String> = cores.kinds.iter().map(text).collect();
    let kinds = format!("{} kinds of core ({})", cores.kinds.len(), listed.join("; "));
    let (reason, class) = match &unknown {
        None => {
            let fastest = &cores.kinds[0].name;
            let reason =
                format!("{kinds}: the fastest first. Figures are of {fastest} cores; --class takes others");
            (reason, &cores.kinds[1].name)
        }
        Some(unknown) => {
            let reason =
                format!("{kinds}; {unknown}. The slowest thread decides. Measure one kind at a time");
            (reason, &cores.kinds[0].name)
        }
    };
    note("kinds of core", reason, Some(format!("truebench memory --class {}", quoted(class))))
}

fn governor(machine: &Machine) -> Option<HostNote> {
    let governors = setting(machine, "governor").filter(|governors| *governors != "performance")?;
    let reason =
        format!("the clock follows the load ({governors}): a short figure may be taken on the way up");
    let command = format!("echo performance | sudo tee {CPU}/cpufreq/policy*/scaling_governor");
    note("frequency governor", reason, Some(command))
}

fn boost(machine: &Machine) -> Option<HostNote> {
    setting(machine, "boost").filter(|boost| *boost == "on")?;
    let file = &machine.kernel.setting("boost")?.source;
    let off = if file.ends_with("no_turbo") { 1 } else { 0 };
    let reason = "the clock rises above its base while few cores are busy and the package is cool: figures depend on \
                  what ran before, and do not scale with threads";
    note("turbo", reason, Some(write(off, file)))
}

fn offline(machine: &Machine) -> Option<HostNote> {
    let offline = &machine.topology.offline;
    if offline.is_empty() {
        return None;
    }
    let count = cpu_count(offline.len());
    // Only the SMT control switches such siblings on again.
    if matches!(setting(machine, "smt"), Some("off" | "forceoff")) {
        let reason = format!("{count} ({offline}) are off, some or all as SMT siblings");
        return note("offline CPUs", reason, Some(write("on", &format!("{CPU}/smt/control"))));
    }
    let reason = format!("{count} ({offline}) are switched off: this is not the whole machine");
    let each: Vec<String> = offline.iter().map(|cpu| cpu.to_string()).collect();
    let command = format!("for cpu in {}; do echo 1 | sudo tee {CPU}/cpu$cpu/online; done", each.join(" "));
    note("offline CPUs", reason, Some(command))
}

fn numa_balancing(machine: &Machine) -> Option<HostNote> {
    let on = setting(machine, "numa_balancing").is_some_and(|value| value != "0");
    if !on || machine.numa.nodes.iter().filter(|node| node.memory != Some(0)).count() < 2 {
        return None;
    }
    let reason =
        "the kernel unmaps pages to find their users, and moves them between nodes during measurements";
    note("NUMA balancing", reason, Some("sudo sysctl kernel.numa_balancing=0".to_owned()))
}

fn demotion(machine: &Machine) -> Option<HostNote> {
    let setting = machine.kernel.setting("numa_demotion")?;
    setting.value.value().filter(|value| matches!(value.as_str(), "true" | "1"))?;
    let node = machine.memory_only_nodes().next()?;
    let reason = format!(
        "where memory is short the kernel moves pages that are little used to a slower tier, such as node {} ({}): a figure may \
         be of both",
        node.node,
        node.memory_title()
    );
    note("demotion to a memory tier", reason, Some(write(false, &setting.source)))
}

fn memory_side_cache(machine: &Machine) -> Option<HostNote> {
    let with: Vec<&Node> = machine.numa.nodes.iter().filter(|node| node.side_cache.is_some()).collect();
    let (least, most) = (
        with.iter().filter_map(|node| node.side_cache).min()?,
        with.iter().filter_map(|node| node.side_cache).max()?,
    );
    let nodes: CpuList = with.iter().map(|node| node.node).collect();
    let sizes = match least == most {
        true => format::bytes(most as f64),
        false => format!("{} to {}", format::bytes(least as f64), format::bytes(most as f64)),
    };
    let whose =
        if nodes.len() == 1 { format!("of node {nodes}") } else { format!("of each of nodes {nodes}") };
    let reason = format!(
        "the memory {whose} has a cache of {sizes} in front of it that software does not see (HBM in cache mode, DRAM before \
         persistent memory): figures over smaller arrays are of that cache"
    );
    note("memory-side cache", reason, None)
}

fn smt(machine: &Machine) -> Option<HostNote> {
    if machine.topology.cpus.iter().all(|cpu| cpu.siblings.len() < 2) {
        return None;
    }
    let reason = "two CPUs of one core share its caches and units: a task on the sibling slows the measurement, and threads beyond \
                  one for each core add little. truebench places one thread on each core; switch SMT off only to exclude other tasks";
    note("SMT", reason, Some(write("off", &format!("{CPU}/smt/control"))))
}

fn huge_pages(machine: &Machine) -> Option<HostNote> {
    let chosen = setting(machine, "transparent_hugepage").filter(|chosen| *chosen != "always")?;
    let effect = "pages of 4 KiB need more TLB entries than there are, which costs bandwidth";
    let (reason, command) = match chosen {
        "madvise" => (
            format!("only programs that ask get huge pages: {effect} in those that do not. --pages thp asks"),
            "truebench memory --pages thp".to_owned(),
        ),
        _ => (
            format!("no program gets huge pages without reserving them: {effect}"),
            write("madvise", "/sys/kernel/mm/transparent_hugepage/enabled"),
        ),
    };
    note("transparent huge pages", reason, Some(command))
}

fn swap(machine: &Machine) -> Option<HostNote> {
    let bytes = machine.memory.swap.value().filter(|bytes| **bytes > 0)?;
    let size = format::bytes(*bytes as f64);
    let reason = format!("{size} of swap: under pressure arrays may be written out while they are measured");
    note("swap", reason, Some("sudo swapoff -a".to_owned()))
}

/// Clock sources that user code reads without a system call.
const FAST_CLOCKS: [&str; 5] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

fn clocksource(machine: &Machine) -> Option<HostNote> {
    let current = setting(machine, "clocksource").filter(|current| !FAST_CLOCKS.contains(current))?;
    let available = setting(machine, "clocksource_available").unwrap_or_default();
    let better = FAST_CLOCKS.iter().find(|fast| available.split(' ').any(|name| name == **fast));
    let reason = format!(
        "time is read from {current}, which costs a system call or worse: short samples lose precision"
    );
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    note("clock source", reason, better.map(|fast| write(fast, file)))
}

fn same_page_merging(machine: &Machine) -> Option<HostNote> {
    setting(machine, "ksm").filter(|ksm| *ksm == "1")?;
    let reason = "the kernel compares and merges equal pages in the background";
    note("same-page merging (KSM)", reason, Some(write(0, "/sys/kernel/mm/ksm/run")))
}

fn mitigations(machine: &Machine) -> Option<HostNote> {
    let state = setting(machine, "mitigations").filter(|state| *state != "none needed")?;
    let reason = format!(
        "system calls, faults and context switches cost what the mitigations add ({state}): compare only machines \
         with the same. To see the cost, boot with mitigations=off, on a machine without secrets"
    );
    note("mitigations", reason, None)
}

fn dimms(machine: &Machine) -> Option<HostNote> {
    let Reading::Unknown(reason) = &machine.memory.peak else { return None };
    let reason = format!("no peak bandwidth to hold figures against: {reason}");
    // Only root can read the table. If there is none, the user can state the modules.
    let command = if reason.contains("permission denied") {
        "sudo dmidecode -t memory | grep -E 'Locator|Speed'"
    } else {
        "truebench memory --dimms 12x2666"
    };
    note("memory modules", reason, Some(command.to_owned()))
}

/// A path as one word of a shell command. The tree, and so its paths, may be untrusted.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-,:@+=".contains(&byte);
    if path.bytes().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untrusted_path_cannot_become_a_command() {
        assert_eq!(quoted("/sys/fs/cgroup/a.slice/cpu.max"), "/sys/fs/cgroup/a.slice/cpu.max");
        assert_eq!(quoted("/a b/$(reboot)"), "'/a b/$(reboot)'");
        assert_eq!(quoted("/a';reboot;'"), "'/a'\\'';reboot;'\\'''");
    }

    #[test]
    fn tiers_are_a_hazard_where_pages_may_go_there_unasked() {
        let about = |machine: &Machine| -> Vec<String> {
            notes(machine)
                .into_iter()
                .map(|note| note.about)
                .filter(|about| about.contains("memory-side") || about.contains("tier"))
                .collect()
        };
        let mut machine = crate::synthetic::described(crate::synthetic::cxl_expander);
        assert_eq!(about(&machine), ["demotion to a memory tier"]);
        machine.numa.nodes[0].side_cache = Some(64 << 30);
        machine.kernel.settings.retain(|setting| setting.name != "numa_demotion");
        assert_eq!(about(&machine), ["memory-side cache"]);
        for (_, write) in crate::synthetic::ALL.iter().filter(|(name, _)| *name != "cxl_expander") {
            assert_eq!(about(&crate::synthetic::described(*write)), [""; 0]);
        }
    }

    #[test]
    fn an_unknown_machine_only_lacks_its_peak() {
        let about: Vec<String> = notes(&Machine::default()).into_iter().map(|note| note.about).collect();
        assert_eq!(about, ["memory modules"]);
    }
}
