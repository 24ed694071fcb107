//! Caches: every instance once, from /sys/devices/system/cpu/cpuN/cache
//! (Documentation/ABI/testing/sysfs-devices-system-cpu), and their oddities.
//!
//! A hypervisor may hide the last level, report one for each virtual CPU, or report the whole cache of the
//! host. A rule such as "arrays of four times the cache" must take this into account.

use std::collections::{BTreeMap, BTreeSet};

use figure::host::{Cache, CacheKind, Caches, Topology, Virtualisation};
use figure::{CpuList, Reading, format};

use super::contradictions::Contradictions;
use super::cpuinfo::{CPUS, Cpuinfo};
use super::members::{CACHE, compare, members};
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
    found: &Contradictions,
) -> Caches {
    let (mut instances, unsized_ones) = from_sysfs(tree, topology, found);
    let mut remarks = Vec::new();
    if instances.is_empty() && unsized_ones == 0 {
        instances = from_sparc(tree, topology);
        if !instances.is_empty() {
            remarks.push("which CPUs share a cache is not shown: each counts as a CPU's own".to_owned());
        }
    }
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
    remarks.extend(missing(cpuinfo, &instances));
    remarks.extend(oddities(&instances, cpuinfo.is_x86(), topology, virtualisation));
    instances.sort_by_key(|cache| (cache.level, cache.cpus.first(), cache.kind));
    Caches { instances, unknown: (!remarks.is_empty()).then(|| remarks.join("; ")), measured: Vec::new() }
}

/// All instances with a size, and the number of instances without.
fn from_sysfs(tree: &Tree, topology: &Topology, found: &Contradictions) -> (Vec<Cache>, usize) {
    let online = &topology.online;
    let mut instances = Vec::new();
    let mut without_size = 0;
    // CPUs with a known cache of a level and kind. An instance is read once, at its first CPU, and
    // contradicting lists cannot give a CPU two of them.
    let mut served: BTreeMap<(u32, CacheKind), BTreeSet<u32>> = BTreeMap::new();
    for logical in &topology.cpus {
        let cpu = logical.cpu;
        let directory = format!("{CPUS}/cpu{cpu}/cache");
        for index in tree.numbered(&directory, "index").into_iter().take(MAX_INDICES) {
            let directory = format!("{directory}/index{index}");
            let Some(level) = tree.number(format!("{directory}/level")).into_value() else { continue };
            let Some(kind) = kind(tree.text(format!("{directory}/type"))) else { continue };
            let served = served.entry((level, kind)).or_default();
            if served.contains(&cpu) {
                continue;
            }
            let about = format!("L{level} caches");
            // Old ia64 kernels print empty masks of caches that are a core's own.
            let sharers =
                members(tree, &directory, CACHE, &about, found).unwrap_or_else(|| logical.siblings.clone());
            let is_free = |other: &u32| online.contains(*other) && !served.contains(other);
            let cpus: CpuList = sharers.iter().filter(is_free).chain([cpu]).collect();
            served.extend(cpus.iter());
            // The number of a directory is the same for all that share a cache, where all have the same levels.
            let of_other = |other: u32| format!("{CPUS}/cpu{other}/cache/index{index}");
            let is_same_index = |other: &u32| {
                tree.number::<u32>(format!("{}/level", of_other(*other))).value() == Some(&level)
            };
            if !tree.is_live() && cpus.iter().all(|other| is_same_index(&other)) {
                compare(tree, &cpus, online, of_other, CACHE, &about, found);
            }
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

/// sparc64 has files such as cpuN/l1_dcache_size instead, in bytes (arch/sparc/kernel/sysfs.c). They do not say what is shared.
fn from_sparc(tree: &Tree, topology: &Topology) -> Vec<Cache> {
    let files =
        [("l1_d", 1, CacheKind::Data), ("l1_i", 1, CacheKind::Instruction), ("l2_", 2, CacheKind::Unified)];
    let cache = |cpu: u32, (name, level, kind): (&str, u32, CacheKind)| {
        let number =
            |what: &str| tree.number::<u64>(format!("{CPUS}/cpu{cpu}/{name}cache_{what}")).into_value();
        let size = number("size").filter(|bytes| *bytes > 0)?;
        let line = number("line_size").and_then(|bytes| bytes.try_into().ok());
        Some(Cache { level, kind, size, line, ways: None, cpus: CpuList::from_iter([cpu]) })
    };
    let of_cpu = |cpu: u32| files.into_iter().filter_map(move |file| cache(cpu, file));
    topology.online.iter().flat_map(of_cpu).collect()
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

/// A cache that /proc/cpuinfo names and /sys lacks. Its `cache size` is that of Intel's last level, and of AMD's L2
/// (arch/x86/kernel/cpu/cacheinfo.c); s390 lists all caches (arch/s390/kernel/cache.c).
fn missing(cpuinfo: &Cpuinfo, instances: &[Cache]) -> Option<String> {
    if instances.is_empty() {
        return None;
    }
    let sizes =
        || instances.iter().filter(|cache| cache.kind != CacheKind::Instruction).map(|cache| cache.size);
    if matches!(cpuinfo.first(&["vendor_id"]), Some("GenuineIntel" | "AuthenticAMD" | "HygonGenuine")) {
        let text = cpuinfo.first(&["cache size"])?;
        let bytes = text.strip_suffix(" KB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
        // Without any cache in /sys it is named already.
        let is_shown = bytes == 0 || instances.is_empty() || sizes().any(|size| size == bytes);
        return (!is_shown).then(|| {
            let largest = sizes().max().map_or("none".to_owned(), |size| format::bytes(size as f64));
            format!(
                "/proc/cpuinfo names a cache of {}, which /sys does not show (its largest: {largest}); /sys is believed",
                format::bytes(bytes as f64)
            )
        });
    }
    let s390 = (0..MAX_INDICES).filter_map(|number| {
        let line = cpuinfo.first(&[format!("cache{number}").as_str()])?;
        let field = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let (level, bytes) = (field("level")?.parse::<u32>().ok()?, size(field("size")?)?);
        let is_shown = instances.iter().any(|cache| cache.level == level);
        (!is_shown).then(|| format!("an L{level} of {}", format::bytes(bytes as f64)))
    });
    let names: Vec<String> = s390.collect();
    (!names.is_empty())
        .then(|| format!("/proc/cpuinfo names {}, which /sys does not show", names.join(" and ")))
}

/// CPUs without a cache that others of their kind of core have.
pub fn gap(caches: &Caches, topology: &Topology) -> Option<String> {
    let cores = &topology.cores;
    // Kinds that are not known may have unequal caches.
    if cores.kinds.is_empty() && cores.unknown.is_some() {
        return None;
    }
    let data = || caches.instances.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let levels: BTreeSet<u32> = data().map(|cache| cache.level).collect();
    let kinds: Vec<&CpuList> = match cores.kinds.is_empty() {
        true => vec![&topology.online],
        false => cores.kinds.iter().map(|kind| &kind.cpus).collect(),
    };
    let gap = |level: &u32| {
        let with: CpuList =
            data().filter(|cache| cache.level == *level).flat_map(|cache| cache.cpus.iter()).collect();
        kinds.iter().find_map(|kind| {
            let without = kind.difference(&with);
            let is_gap = !without.is_empty() && without.len() < kind.len();
            is_gap.then(|| format!("CPUs {without} are listed without an L{level}"))
        })
    };
    let gaps: Vec<String> = levels.iter().filter_map(gap).collect();
    (!gaps.is_empty()).then(|| format!("{}, which others of their kind have", gaps.join(" and ")))
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
