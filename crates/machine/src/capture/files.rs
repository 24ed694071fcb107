//! The list of captured files. It must contain every file that `describe` or the counters read. The round
//! trip of every synthetic machine tests this.

use crate::Tree;
use crate::describe::{cgroup, numa, recorded_parameters, smbios, udev, virtualisation};

/// How much of a file is captured.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    All,
    /// Only that the file exists.
    Presence,
    /// The result of this function.
    Part(fn(&[u8]) -> Vec<u8>),
    /// The target of a symbolic link, as the text of a file in its place.
    Link,
}

type Names = &'static [&'static str];

/// Files with one of `names` in `directory`, without a leading slash. `*` stands for any characters of one part.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub directory: &'static str,
    pub names: Names,
    pub keep: Keep,
}

const fn all(directory: &'static str, names: Names) -> Pattern {
    Pattern { directory, names, keep: Keep::All }
}

const fn part(directory: &'static str, names: Names, part: fn(&[u8]) -> Vec<u8>) -> Pattern {
    Pattern { directory, names, keep: Keep::Part(part) }
}

const fn presence(directory: &'static str, names: Names) -> Pattern {
    Pattern { directory, names, keep: Keep::Presence }
}

/// All files except those of control groups and of memory controllers, which `pack` finds in the tree.
pub const FILES: &[Pattern] = &[
    // The kernel and the processor. Of the counters only the names matter on another machine.
    all("proc", &["cpuinfo", "version", "sysinfo", "meminfo", "stat", "vmstat", "interrupts", "pressure/*"]),
    part("proc", &["cmdline"], command_line),
    all("proc/sys/kernel", &["arch", "osrelease", "numa_balancing", "randomize_va_space"]),
    all("proc/sys/kernel", &["perf_event_paranoid", "sched_autogroup_enabled"]),
    all("sys/kernel/sched_ext", &["state", "root/ops"]),
    all("proc/sys/vm", &["overcommit_memory", "swappiness", "zone_reclaim_mode"]),
    // This process: masks, capabilities and groups.
    part("proc/self", &["status"], masks),
    part("proc/self", &["limits"], address_space),
    all("proc/self", &["cgroup", "cpuset"]),
    part("proc/self", &["numa_maps"], memory_policy),
    part("proc/self", &["mountinfo"], group_mounts),
    part("proc", &["mounts"], group_file_systems),
    Pattern { directory: "proc/self/ns", names: &["pid"], keep: Keep::Link },
    part("var/lib/kubelet", &["cpu_manager_state"], cpu_manager_policy),
    // CPUs and caches.
    all("sys/devices/system/cpu", &["online", "offline", "possible", "present", "isolated", "nohz_full"]),
    all("sys/devices/system/cpu", &["smt/*", "vulnerabilities/*", "intel_pstate/*", "amd_pstate/*"]),
    all("sys/devices/system/cpu/cpufreq", &["boost"]),
    all("sys/devices/system/cpu/cpufreq/policy*", &["scaling_driver", "scaling_governor"]),
    all("sys/devices/system/cpu/cpufreq/policy*", &["energy_performance_preference"]),
    all("sys/devices/system/cpu/cpu*", &["online", "cpu_capacity"]),
    all("sys/devices/system/cpu/cpu*/cpufreq", &["cpuinfo_max_freq", "scaling_driver", "scaling_governor"]),
    all("sys/devices/system/cpu/cpu*/topology", &["*_list", "*_id", "core_siblings", "thread_siblings"]),
    all("sys/devices/system/cpu/cpu*/topology", &["core_cpus", "package_cpus", "cluster_cpus", "die_cpus"]),
    all("sys/devices/system/cpu/cpu*/regs/identification", &["midr_el1"]),
    all("sys/devices/system/cpu/cpu*", &["l1_dcache_size", "l1_dcache_line_size", "l1_icache_size"]),
    all("sys/devices/system/cpu/cpu*", &["l1_icache_line_size", "l2_cache_size", "l2_cache_line_size"]),
    all("sys/devices/system/cpu/cpu*/cache/index*", &["level", "type", "size", "coherency_line_size"]),
    all("sys/devices/system/cpu/cpu*/cache/index*", &["ways_of_associativity"]),
    all("sys/devices/system/cpu/cpu*/cache/index*", &["shared_cpu_list", "shared_cpu_map"]),
    all("sys/devices/system/cpu/cpu*/thermal_throttle", &["*_count"]),
    all("sys/devices/system/cpu/cpu*/acpi_cppc", &["highest_perf"]),
    all("sys/devices", &["cpu_core/cpus", "cpu_atom/cpus", "cpu_lowpower/cpus"]),
    all("sys/devices/system/clocksource/clocksource0", &["current_clocksource", "available_clocksource"]),
    // Memory.
    all("sys/devices/system/node", &["online"]),
    all("sys/devices/system/node/node*", &["cpulist", "cpumap", "distance", "meminfo"]),
    all("sys/devices/system/node/node*/hugepages/hugepages-*", &["nr_hugepages", "free_hugepages"]),
    all("sys/devices/system/node/node*/access*/initiators", &["*_bandwidth", "*_latency"]),
    presence("sys/devices/system/node/node*/access*/initiators", &["node*"]),
    all("sys/devices/system/node/node*/memory_side_cache/index*", &["size"]),
    all("sys/devices/system/memory", &["block_size_bytes"]),
    all("sys/devices/virtual/memory_tiering/memory_tier*", &["nodelist"]),
    all("sys/kernel/mm", &["numa/demotion_enabled", "mempolicy/weighted_interleave/*"]),
    // Who brought memory in.
    Pattern { directory: "sys/bus/dax/drivers/kmem", names: &["dax*"], keep: Keep::Link },
    all("sys/bus/dax/devices/dax*", &["target_node"]),
    all("sys/bus/cxl/devices/region*", &["resource", "size"]),
    all("proc/driver/nvidia/gpus/*", &["numa_status"]),
    all("sys/kernel/mm", &["transparent_hugepage/enabled", "transparent_hugepage/defrag", "ksm/run"]),
    all("sys/kernel/mm/hugepages/hugepages-*", &["nr_hugepages", "free_hugepages"]),
    all("sys/devices/system/edac/mc/mc*", &["ce_count"]),
    part("sys/firmware/dmi/tables", &["DMI"], smbios::reduced),
    part("sys/firmware/dmi/entries/17-*", &["raw"], smbios::reduced),
    part("run/udev/data", &["+dmi:id"], memory_devices),
    // Power.
    all("sys/class/power_supply/*", &["type", "online", "scope"]),
    // Virtualisation. No serial numbers, UUIDs or asset tags of DMI.
    all("sys/class/dmi/id", &["sys_vendor", "product_name", "bios_vendor"]),
    all("sys/hypervisor", &["type"]),
    part("sys/firmware/acpi/tables", &["FACP"], acpi_header),
    all("proc/device-tree", &["model", "compatible", "hypervisor/compatible"]),
    presence("proc/device-tree", &["ibm,partition-name"]),
    presence("", &[".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io"]),
    all("run/systemd", &["container"]),
    // Performance counters. `pack` adds the events of memory controllers.
    all("sys/bus/event_source/devices/*", &["type"]),
];

pub const GROUP_FILES: &[&str] = &[
    "cgroup.controllers",
    "cgroup.events",
    "cpu.max",
    "cpu.stat",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "cpu.weight",
    "cpu.shares",
    "cpuset.cpus",
    "cpuset.cpus.effective",
    "cpuset.effective_cpus",
    "cpuset.cpus.partition",
    "cpuset.cpu_exclusive",
    "cpu_exclusive",
    "cpuset.mems",
    "cpuset.mems.effective",
    "cpuset.effective_mems",
    "cpus",
    "mems",
    "effective_cpus",
    "effective_mems",
    "memory.max",
    "memory.high",
    "memory.low",
    "memory.min",
    "memory.soft_limit_in_bytes",
    "memory.current",
    "memory.stat",
    "memory.events",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.failcnt",
    "pids.max",
    "pids.current",
];

impl Pattern {
    /// The paths in `tree` that match, in the order of the names.
    pub fn expand(&self, tree: &Tree) -> Vec<String> {
        let directories = expand(tree, vec![String::new()], self.directory);
        self.names.iter().flat_map(|name| expand(tree, directories.clone(), name)).collect()
    }
}

/// The paths below `directories` that match a pattern.
fn expand(tree: &Tree, directories: Vec<String>, pattern: &str) -> Vec<String> {
    let mut paths = directories;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let names = |directory: &str| match part.contains('*') {
            true => tree.names(directory).into_iter().filter(|name| fits(name, part)).collect(),
            false => vec![part.to_owned()],
        };
        let below = |directory: &String| {
            let path = |name: String| if directory.is_empty() { name } else { format!("{directory}/{name}") };
            names(directory).into_iter().map(path).collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(below).collect();
    }
    paths.retain(|path| tree.exists(path));
    paths
}

/// Whether a name matches a part of a pattern with at most one `*`. A `*` at the end of a word stands for a
/// number: `cpu*` does not match `cpufreq`.
fn fits(name: &str, part: &str) -> bool {
    let Some((before, after)) = part.split_once('*') else { return name == part };
    let Some(middle) = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else {
        return false;
    };
    let numbered = !before.is_empty() && after.is_empty();
    !numbered || middle.starts_with(|first: char| first.is_ascii_digit())
}

fn lines(content: &[u8], keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let text = String::from_utf8_lossy(content);
    text.lines().filter(|line| keep(line)).fold(String::new(), |text, line| text + line + "\n").into_bytes()
}

fn masks(status: &[u8]) -> Vec<u8> {
    lines(status, |line| {
        let fields = ["Cpus_allowed", "Mems_allowed", "CapEff", "THP", "VmSize:"];
        fields.iter().any(|field| line.starts_with(field))
    })
}

fn address_space(limits: &[u8]) -> Vec<u8> {
    lines(limits, |line| line.starts_with("Max address space"))
}

/// The policy of the first mapping, without its address and the facts about it.
fn memory_policy(maps: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(maps);
    let policy = text.lines().next().and_then(numa::policy_of);
    policy.map(|policy| format!("0 {policy}\n")).unwrap_or_default().into_bytes()
}

/// The mounts of control groups, that of the root, and a file in place of /proc/stat.
fn group_mounts(mountinfo: &[u8]) -> Vec<u8> {
    lines(mountinfo, |line| {
        line.contains(" - cgroup") || matches!(line.split(' ').nth(4), Some("/" | "/proc/stat"))
    })
}

/// The policy in the kubelet's state, without names of pods.
fn cpu_manager_policy(state: &[u8]) -> Vec<u8> {
    let policy = cgroup::cpu_manager_policy(&String::from_utf8_lossy(state));
    policy
        .map(|policy| serde_json::json!({ "policyName": policy }).to_string())
        .unwrap_or_default()
        .into_bytes()
}

/// The mounts of control groups and cpusets in /proc/mounts.
fn group_file_systems(mounts: &[u8]) -> Vec<u8> {
    let is_group = |kind: &str| kind.starts_with("cgroup") || kind == "cpuset";
    lines(mounts, |line| line.split(' ').nth(2).is_some_and(is_group))
}

fn command_line(line: &[u8]) -> Vec<u8> {
    (recorded_parameters(&String::from_utf8_lossy(line)) + "\n").into_bytes()
}

fn memory_devices(database: &[u8]) -> Vec<u8> {
    udev::reduced(&String::from_utf8_lossy(database)).into_bytes()
}

fn acpi_header(table: &[u8]) -> Vec<u8> {
    table[..table.len().min(virtualisation::ACPI_HEADER)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_after_a_word_is_a_number() {
        assert!(fits("cpu12", "cpu*") && !fits("cpufreq", "cpu*") && !fits("cpu", "cpu*"));
        assert!(fits("core_cpus_list", "*_list") && !fits("core_cpus", "*_list"));
        assert!(fits("BAT0", "*") && fits("hugepages-2048kB", "hugepages-*"));
    }

    #[test]
    fn only_masks_of_a_process_are_captured() {
        let captured = masks(b"Name:\ttruebench\nPid:\t7\nGroups:\t4 24\nCpus_allowed_list:\t0-3\n");
        assert_eq!(captured, b"Cpus_allowed_list:\t0-3\n");
        let maps =
            b"55d0c8e0 weighted interleave:0-1 file=/home/x/app mapped=3 N0=3\n55d0c9e0 default heap\n";
        assert_eq!(memory_policy(maps), b"0 weighted interleave:0-1\n");
        for name in FILES.iter().flat_map(|pattern| pattern.names.iter().chain([&pattern.directory])) {
            assert!(!name.contains("environ") && !name.contains("serial"), "{name}");
        }
    }
}
