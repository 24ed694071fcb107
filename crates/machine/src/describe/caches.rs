//! Caches: every instance once, from /sys/devices/system/cpu/cpuN/cache
//! (Documentation/ABI/testing/sysfs-devices-system-cpu), and their oddities.
//!
//! A hypervisor may hide the last level, report one for each virtual CPU, or report the whole cache of the
//! host. A rule such as "arrays of four times the cache" must take this into account.

use std::collections::{BTreeMap, BTreeSet};

use figure::host::{Cache, CacheKind, Caches, Topology, Virtualisation};
use figure::{CpuList, Reading, format};

use super::cpuinfo::Cpuinfo;
use super::topology::{CPUS, mask, members};
use crate::Tree;
use crate::tree::{MAX_LINE, printable};

/// Cache directories that are read per CPU. Real CPUs have four or five.
const MAX_INDICES: usize = 16;
/// The largest last-level cache per core on the market: 32 MiB (AMD EPYC 9175F, 512 MiB for 16 cores). A
/// guest with more per CPU shares the cache with other guests.
const MAX_LAST_LEVEL_PER_CPU: u64 = 32 << 20;

pub fn describe(
    tree: &Tree,
    cpuinfo: &Cpuinfo,
    topology: &Topology,
    virtualisation: &Virtualisation,
) -> Caches {
    let (mut instances, unsized_ones) = from_sysfs(tree, &topology.online);
    let mut remarks = Vec::new();
    if unsized_ones > 0 {
        remarks.push(format!("{unsized_ones} cache instances are listed without a size"));
    }
    let in_sysfs = !instances.is_empty();
    if !in_sysfs {
        remarks.push(no_caches(cpuinfo, unsized_ones));
    }
    #[cfg(target_arch = "x86_64")]
    if tree.is_live() {
        let leaves = super::cpuid::caches();
        if in_sysfs {
            remarks.extend(super::cpuid::contradiction(&instances, &leaves));
        } else if !leaves.is_empty() {
            instances = super::cpuid::instances(&leaves, topology);
            remarks.push("these are CPUID's; which CPUs share one is assumed from its counts".to_owned());
        }
    }
    remarks.extend(oddities(&instances, cpuinfo.is_x86(), topology, virtualisation));
    instances.sort_by_key(|cache| (cache.level, cache.cpus.first(), cache.kind));
    Caches { instances, unknown: (!remarks.is_empty()).then(|| remarks.join("; ")), measured: Vec::new() }
}

/// All instances with a size, and the number of instances without.
fn from_sysfs(tree: &Tree, online: &CpuList) -> (Vec<Cache>, usize) {
    let mut instances = Vec::new();
    let mut without_size = 0;
    // CPUs with a known cache of a level and kind. An instance is read once, at its first CPU, and
    // contradicting lists cannot give a CPU two of them.
    let mut served: BTreeMap<(u32, CacheKind), BTreeSet<u32>> = BTreeMap::new();
    for cpu in online.iter() {
        let directory = format!("{CPUS}/cpu{cpu}/cache");
        for index in tree.numbered(&directory, "index").into_iter().take(MAX_INDICES) {
            let directory = format!("{directory}/index{index}");
            let Some(level) = tree.number(format!("{directory}/level")).into_value() else { continue };
            let Some(kind) = kind(tree.text(format!("{directory}/type"))) else { continue };
            let served = served.entry((level, kind)).or_default();
            if served.contains(&cpu) {
                continue;
            }
            let sharers = members(tree, &directory, &["shared_cpu"])
                .or_else(|| mask(tree.text(format!("{directory}/shared_cpu_map")).value()?))
                .unwrap_or_default();
            let is_free = |other: &u32| online.contains(*other) && !served.contains(other);
            let cpus: CpuList = sharers.iter().filter(is_free).chain([cpu]).collect();
            served.extend(cpus.iter());
            let size = tree.text(format!("{directory}/size")).value().and_then(|text| size(text));
            let Some(size) = size.filter(|size| *size > 0) else {
                without_size += 1;
                continue;
            };
            let number = |name| tree.number(format!("{directory}/{name}")).into_value().filter(|n| *n > 0);
            instances.push(Cache {
                level,
                kind,
                size,
                line: number("coherency_line_size"),
                // The kernel prints 0 for a fully associative cache, and if the number is unknown.
                ways: number("ways_of_associativity"),
                cpus,
            });
        }
    }
    (instances, without_size)
}

fn kind(text: Reading<String>) -> Option<CacheKind> {
    match text.value()?.as_str() {
        "Data" => Some(CacheKind::Data),
        "Instruction" => Some(CacheKind::Instruction),
        "Unified" => Some(CacheKind::Unified),
        _ => None,
    }
}

/// `48K`. The kernel always prints KiB; the oldest dumps of lscpu also contain M.
fn size(text: &str) -> Option<u64> {
    let units = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)];
    let with_unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (digits, factor) = with_unit.unwrap_or((text, 1));
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

fn no_caches(cpuinfo: &Cpuinfo, without_size: usize) -> String {
    let mut remark = if without_size > 0 {
        "so no cache is known".to_owned()
    } else {
        format!("{CPUS}/cpuN/cache is missing: no cache is shown here")
    };
    if let Some(size) = cpuinfo.first(&["cache size"]) {
        let size = printable(size, MAX_LINE);
        remark += &format!(" (/proc/cpuinfo names one of {size} without its level)");
    }
    remark
}

fn oddities(
    instances: &[Cache],
    x86: bool,
    topology: &Topology,
    virtualisation: &Virtualisation,
) -> Option<String> {
    // On hardware the kernel reads the caches from the processor. Only a hypervisor can change them.
    if !virtualisation.is_guest() {
        return None;
    }
    let data = || instances.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let level = data().map(|cache| cache.level).max()?;
    let last: Vec<&Cache> = data().filter(|cache| cache.level == level).collect();
    let largest = last.iter().max_by_key(|cache| cache.size / cache.cpus.len().max(1) as u64)?;
    let sharers = largest.cpus.len();
    let size = format::bytes(largest.size as f64);
    let cores = topology.cpus.iter().map(|cpu| cpu.core).collect::<BTreeSet<_>>().len();
    let plural = if sharers == 1 { "" } else { "s" };
    if largest.size / sharers.max(1) as u64 > MAX_LAST_LEVEL_PER_CPU {
        Some(format!(
            "L{level} of {size} for {sharers} CPU{plural} in a guest: probably the host's whole cache, shared with others"
        ))
    } else if level < 3 && x86 {
        Some(format!("no L3 in a guest, L{level} is the last: the hypervisor probably hides the host's L3"))
    } else if level >= 3 && last.len() > 1 && last.len() >= cores {
        Some(format!(
            "an L{level} of {size} for each of {cores} cores in a guest: probably one and the same cache of the host"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_suffix_and_cannot_overflow() {
        assert_eq!(size("48K"), Some(49152));
        assert_eq!(size("32M"), Some(32 << 20));
        assert_eq!(size("99999999999999999999K"), None);
        assert_eq!(size("18446744073709551615K"), None);
        assert_eq!(size("K"), None);
        assert_eq!(size("é"), None);
    }
}
