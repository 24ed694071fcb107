//! The list of captured files. It must contain every file that `describe` or the counters read. The round
//! trip of every synthetic machine tests this.

use crate::Tree;
use crate::describe::{recorded_parameters, smbios, udev, virtualisation};

/// How much of a file is captured.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// All of it.
    All,
    /// Only that the file exists.
    Presence,
    /// The result of this function.
    Part(fn(&[u8]) -> Vec<u8>),
}

/// Files by a path pattern, in which `*` stands for any characters of one part.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The path without the leading slash.
    pub path: &'static str,
    /// How much of each file is captured.
    pub keep: Keep,
}

const fn all(path: &'static str) -> Pattern {
    Pattern { path, keep: Keep::All }
}

const fn part(path: &'static str, part: fn(&[u8]) -> Vec<u8>) -> Pattern {
    Pattern { path, keep: Keep::Part(part) }
}

const fn presence(path: &'static str) -> Pattern {
    Pattern { path, keep: Keep::Presence }
}

/// All files except those of control groups and of memory controllers, which `pack` finds in the tree.
pub const FILES: &[Pattern] = &[
    // The kernel and the processor.
    all("proc/cpuinfo"),
    all("proc/version"),
    all("proc/sysinfo"),
    part("proc/cmdline", command_line),
    all("proc/sys/kernel/arch"),
    all("proc/sys/kernel/osrelease"),
    all("proc/sys/kernel/numa_balancing"),
    all("proc/sys/kernel/randomize_va_space"),
    all("proc/sys/kernel/perf_event_paranoid"),
    all("proc/sys/kernel/sched_autogroup_enabled"),
    all("sys/kernel/sched_ext/state"),
    all("sys/kernel/sched_ext/root/ops"),
    all("proc/sys/vm/overcommit_memory"),
    all("proc/sys/vm/swappiness"),
    all("proc/sys/vm/zone_reclaim_mode"),
    // This process: masks, capabilities and groups.
    part("proc/self/status", masks),
    part("proc/self/limits", address_space),
    all("proc/self/cgroup"),
    part("proc/self/mountinfo", group_mounts),
    // CPUs and caches.
    all("sys/devices/system/cpu/online"),
    all("sys/devices/system/cpu/offline"),
    all("sys/devices/system/cpu/possible"),
    all("sys/devices/system/cpu/present"),
    all("sys/devices/system/cpu/isolated"),
    all("sys/devices/system/cpu/nohz_full"),
    all("sys/devices/system/cpu/smt/*"),
    all("sys/devices/system/cpu/vulnerabilities/*"),
    all("sys/devices/system/cpu/intel_pstate/*"),
    all("sys/devices/system/cpu/amd_pstate/*"),
    all("sys/devices/system/cpu/cpufreq/boost"),
    all("sys/devices/system/cpu/cpufreq/policy*/scaling_driver"),
    all("sys/devices/system/cpu/cpufreq/policy*/scaling_governor"),
    all("sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference"),
    all("sys/devices/system/cpu/cpu*/online"),
    all("sys/devices/system/cpu/cpu*/cpu_capacity"),
    all("sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq"),
    all("sys/devices/system/cpu/cpu*/cpufreq/scaling_driver"),
    all("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
    all("sys/devices/system/cpu/cpu*/topology/*_list"),
    all("sys/devices/system/cpu/cpu*/topology/*_id"),
    all("sys/devices/system/cpu/cpu*/topology/core_siblings"),
    all("sys/devices/system/cpu/cpu*/topology/thread_siblings"),
    all("sys/devices/system/cpu/cpu*/cache/index*/level"),
    all("sys/devices/system/cpu/cpu*/cache/index*/type"),
    all("sys/devices/system/cpu/cpu*/cache/index*/size"),
    all("sys/devices/system/cpu/cpu*/cache/index*/coherency_line_size"),
    all("sys/devices/system/cpu/cpu*/cache/index*/ways_of_associativity"),
    all("sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list"),
    all("sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_map"),
    all("sys/devices/system/cpu/cpu*/thermal_throttle/*_count"),
    all("sys/devices/cpu_core/cpus"),
    all("sys/devices/cpu_atom/cpus"),
    all("sys/devices/cpu_lowpower/cpus"),
    all("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    all("sys/devices/system/clocksource/clocksource0/available_clocksource"),
    // Memory.
    all("proc/meminfo"),
    all("sys/devices/system/node/online"),
    all("sys/devices/system/node/node*/cpulist"),
    all("sys/devices/system/node/node*/cpumap"),
    all("sys/devices/system/node/node*/distance"),
    all("sys/devices/system/node/node*/meminfo"),
    all("sys/devices/system/node/node*/hugepages/hugepages-*/nr_hugepages"),
    all("sys/devices/system/node/node*/hugepages/hugepages-*/free_hugepages"),
    all("sys/kernel/mm/transparent_hugepage/enabled"),
    all("sys/kernel/mm/transparent_hugepage/defrag"),
    all("sys/kernel/mm/ksm/run"),
    all("sys/kernel/mm/hugepages/hugepages-*/nr_hugepages"),
    all("sys/kernel/mm/hugepages/hugepages-*/free_hugepages"),
    all("sys/devices/system/edac/mc/mc*/ce_count"),
    part("sys/firmware/dmi/tables/DMI", smbios::reduced),
    part("run/udev/data/+dmi:id", memory_devices),
    // Power.
    all("sys/class/power_supply/*/type"),
    all("sys/class/power_supply/*/online"),
    all("sys/class/power_supply/*/scope"),
    // Virtualisation. No serial numbers, UUIDs or asset tags of DMI.
    all("sys/class/dmi/id/sys_vendor"),
    all("sys/class/dmi/id/product_name"),
    all("sys/class/dmi/id/bios_vendor"),
    all("sys/hypervisor/type"),
    part(virtualisation::ACPI, acpi_header),
    all("proc/device-tree/model"),
    all("proc/device-tree/compatible"),
    all("proc/device-tree/hypervisor/compatible"),
    presence("proc/device-tree/ibm,partition-name"),
    presence(".dockerenv"),
    presence("run/.containerenv"),
    presence("var/run/secrets/kubernetes.io"),
    all("run/systemd/container"),
    // Performance counters. `pack` adds the events of memory controllers.
    all("sys/bus/event_source/devices/*/type"),
    // Counters. Only their names matter on another machine.
    all("proc/stat"),
    all("proc/vmstat"),
    all("proc/interrupts"),
    all("proc/pressure/*"),
];

/// Files of a control group directory.
pub const GROUP_FILES: &[&str] = &[
    "cgroup.controllers",
    "cgroup.events",
    "cpu.max",
    "cpu.stat",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "cpuset.cpus",
    "cpuset.cpus.effective",
    "cpuset.effective_cpus",
    "memory.max",
    "memory.high",
    "memory.current",
    "memory.stat",
    "memory.events",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.failcnt",
];

/// The paths in `tree` that match a pattern, in order.
pub fn expand(tree: &Tree, pattern: &str) -> Vec<String> {
    let mut paths = vec![String::new()];
    for part in pattern.split('/') {
        let mut next = Vec::new();
        for directory in paths {
            let join = |name: &str| {
                if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
            };
            if part.contains('*') {
                next.extend(
                    tree.names(&directory).iter().filter(|name| fits(name, part)).map(|name| join(name)),
                );
            } else {
                next.push(join(part));
            }
        }
        paths = next;
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

/// The mounts of control groups, and that of the root.
fn group_mounts(mountinfo: &[u8]) -> Vec<u8> {
    lines(mountinfo, |line| line.contains(" - cgroup") || line.split(' ').nth(4) == Some("/"))
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
        for pattern in FILES {
            assert!(
                !pattern.path.contains("environ") && !pattern.path.contains("serial"),
                "{}",
                pattern.path
            );
        }
    }
}
