//! Which files make a machine: the one list that capture goes by. What `describe` or the counters read must stand
//! here; the round trip of every synthetic machine is the test of that.

use crate::Tree;
use crate::describe::{smbios, telling_parameters, udev, virtualisation};

/// How much of a file is kept.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// All of it.
    All,
    /// Only that it is there.
    Presence,
    /// What this makes of it.
    Part(fn(&[u8]) -> Vec<u8>),
}

/// Files by a path whose parts may hold `*` for any characters.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// From the root, without the leading slash.
    pub path: &'static str,
    /// How much of each.
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

/// The files, apart from those of our control groups, whose place the tree tells (see `pack`).
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
    // Ourselves: masks, capabilities and groups.
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
    // Virtualisation. Of DMI no serial number, no UUID, no asset tag.
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
    // Performance counters: which there are; what those of memory controllers count, `pack` adds.
    all("sys/bus/event_source/devices/*/type"),
    // Counters: their values mean nothing elsewhere, but which there are does.
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

/// The paths in `tree` that fit a pattern, in order.
pub fn expand(tree: &Tree, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        let mut next = Vec::new();
        for directory in found {
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
        found = next;
    }
    found.retain(|path| tree.exists(path));
    found
}

/// Whether a name fits a part of a pattern with one `*`. A `*` behind a word stands for a number (`cpu*` is
/// not `cpufreq`), save where a unit follows it in the name.
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
        let kept = ["Cpus_allowed", "Mems_allowed", "CapEff", "THP", "VmSize:"];
        kept.iter().any(|field| line.starts_with(field))
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
    (telling_parameters(&String::from_utf8_lossy(line)) + "\n").into_bytes()
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
    fn a_star_behind_a_word_is_a_number() {
        assert!(fits("cpu12", "cpu*") && !fits("cpufreq", "cpu*") && !fits("cpu", "cpu*"));
        assert!(fits("core_cpus_list", "*_list") && !fits("core_cpus", "*_list"));
        assert!(fits("BAT0", "*") && fits("hugepages-2048kB", "hugepages-*"));
    }

    #[test]
    fn nothing_of_a_process_but_our_masks() {
        let kept = masks(b"Name:\ttruebench\nPid:\t7\nGroups:\t4 24\nCpus_allowed_list:\t0-3\n");
        assert_eq!(kept, b"Cpus_allowed_list:\t0-3\n");
        for pattern in FILES {
            assert!(
                !pattern.path.contains("environ") && !pattern.path.contains("serial"),
                "{}",
                pattern.path
            );
        }
    }
}
