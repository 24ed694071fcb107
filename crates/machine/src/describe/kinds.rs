//! The kinds of core of a machine that has several, the fastest first.
//!
//! - Intel: the kernel has a PMU for each kind (`cpu_core`, `cpu_atom`, `cpu_lowpower`; arch/x86/events/intel/core.c).
//!   Meteor Lake's low-power cores are in `cpu_atom` too; they are its cores without an L3. Without PMUs the live
//!   machine's CPUID tells, else `cpu_capacity` (Linux 6.12), else the L1d of models that have two kinds.
//! - Arm: the parts of /proc/cpuinfo. `cpu_capacity` (drivers/base/arch_topology.c) says which is faster, and divides
//!   cores of one part that are clocked apart.
//! - AMD: CPUID of the live machine alone. `acpi_cppc/highest_perf` differs among equal cores too (preferred cores,
//!   Documentation/admin-guide/pm/amd-pstate.rst), as it does on Intel's and on Arm's machines.

use std::collections::BTreeMap;

use figure::CpuList;
use figure::host::{
    CacheKind, Caches, CoreKind, CoreKinds, EFFICIENCY, LOW_POWER, MIDDLE, PERFORMANCE, Topology,
};

use super::contradictions::Contradictions;
use super::cpuinfo::{CPUS, Cpuinfo};
use super::parts;
use crate::Tree;

/// Cores of one part with capacities this close are one kind. NVIDIA's GB10 ranks ten equal cores from 997 to 1024;
/// Qualcomm's prime cores of the same part as the next ones are 17 % faster (Snapdragon 865).
const SAME_CAPACITY: f64 = 1.1;
/// Today's machines have up to four. More are those of a damaged tree.
const MAX_KINDS: usize = 8;
/// Intel's PMUs and the kinds that they count on, the fastest first.
const PMUS: [(&str, &str); 3] =
    [("cpu_core", PERFORMANCE), ("cpu_atom", EFFICIENCY), ("cpu_lowpower", LOW_POWER)];

/// Fills in the kinds, and the kind of each CPU.
pub fn describe(
    tree: &Tree,
    cpuinfo: &Cpuinfo,
    caches: &Caches,
    topology: &mut Topology,
    found: &Contradictions,
) {
    let online = &topology.online;
    let cores = by_pmu(tree, caches, online, found)
        .or_else(|| by_cpuid(tree, caches, online))
        .or_else(|| by_intel_capacity(tree, cpuinfo, caches, online))
        .or_else(|| by_intel_caches(cpuinfo, caches, online))
        .or_else(|| by_part(tree, cpuinfo, online, found))
        .unwrap_or_else(|| CoreKinds { unknown: hint(tree, cpuinfo, caches, online), ..Default::default() });
    for kind in &cores.kinds {
        for logical in topology.cpus.iter_mut().filter(|logical| kind.cpus.contains(logical.cpu)) {
            logical.kind = Some(kind.name.clone());
        }
    }
    topology.cores = cores;
}

/// Kinds in this order; none of them if there is only one.
fn of(kinds: Vec<CoreKind>, basis: &str) -> CoreKinds {
    if kinds.len() < 2 {
        return CoreKinds::default();
    }
    CoreKinds { kinds, basis: basis.to_owned(), ..Default::default() }
}

/// Intel's, by the PMUs of their kinds. `None` without such PMUs.
fn by_pmu(tree: &Tree, caches: &Caches, online: &CpuList, found: &Contradictions) -> Option<CoreKinds> {
    let mut cpus_of: BTreeMap<&str, CpuList> = BTreeMap::new();
    let mut left = online.clone();
    let mut twice = Vec::new();
    for (pmu, kind) in PMUS {
        let listed = tree.list(format!("/sys/devices/{pmu}/cpus")).into_value().unwrap_or_default();
        let own = listed.intersection(&left);
        let shared = listed.intersection(online).difference(&own);
        if !shared.is_empty() {
            twice.push(format!("{pmu} has CPUs {shared} of another PMU"));
        }
        left = left.difference(&own);
        cpus_of.insert(kind, own);
    }
    if cpus_of.values().all(CpuList::is_empty) {
        return None;
    }
    for sources in twice {
        found.add(ABOUT, sources, "the PMU of the faster kind");
    }
    if !left.is_empty() {
        let sources = format!("{CPUS}/online has CPUs {online}, and no PMU in /sys/devices has {left}");
        found.add(ABOUT, sources, "both: the kind of these CPUs is unknown");
    }
    let kinds = by_role(cpus_of, caches);
    compare_capacity(tree, &kinds, found);
    Some(of(kinds, "PMUs in /sys/devices"))
}

const ABOUT: &str = "kinds of core";

/// Adds a contradiction if a core of a slower kind has more capacity than one of the fastest kind.
fn compare_capacity(tree: &Tree, kinds: &[CoreKind], found: &Contradictions) {
    let capacities =
        |kind: &CoreKind| -> Vec<u32> { kind.cpus.iter().filter_map(|cpu| capacity(tree, cpu)).collect() };
    let Some((fastest, others)) = kinds.split_first() else { return };
    let Some(least) = capacities(fastest).into_iter().min() else { return };
    for kind in others {
        if let Some(most) = capacities(kind).into_iter().max().filter(|most| *most > least) {
            let sources = format!(
                "PMUs name CPUs {} as {}, and their cpu_capacity is up to {most}, that of {} cores from {least}",
                kind.cpus, kind.name, fastest.name
            );
            found.add(ABOUT, sources, "the PMUs");
        }
    }
}

fn capacity(tree: &Tree, cpu: u32) -> Option<u32> {
    tree.number(format!("{CPUS}/cpu{cpu}/cpu_capacity")).into_value()
}

/// Intel's, by capacity. `None` on another processor, and where capacities do not tell.
fn by_intel_capacity(tree: &Tree, cpuinfo: &Cpuinfo, caches: &Caches, online: &CpuList) -> Option<CoreKinds> {
    if cpuinfo.first(&["vendor_id"]) != Some("GenuineIntel") {
        return None;
    }
    let capacities: Option<Vec<(u32, u32)>> =
        online.iter().map(|cpu| Some((capacity(tree, cpu)?, cpu))).collect();
    let mut capacities = capacities?;
    capacities.sort_unstable();
    let groups: Vec<CpuList> = capacities
        .chunk_by(|(a, _), (b, _)| is_same(Some(*a), Some(*b)))
        .map(|group| group.iter().map(|(_, cpu)| *cpu).collect())
        .collect();
    if !(2..=PMUS.len()).contains(&groups.len()) {
        return None;
    }
    let cpus_of = PMUS.iter().map(|(_, kind)| *kind).zip(groups.into_iter().rev()).collect();
    Some(of(by_role(cpus_of, caches), "cpu_capacity"))
}

/// Models of family 6 that have performance and efficiency cores: Lakefield, Alder Lake, Raptor Lake, Meteor Lake, Arrow Lake and
/// Lunar Lake (arch/x86/include/asm/intel-family.h).
const HYBRID_MODELS: [u32; 12] = [0x8a, 0x97, 0x9a, 0xaa, 0xac, 0xb5, 0xb7, 0xba, 0xbd, 0xbf, 0xc5, 0xc6];

/// Intel's, by L1d: that of a performance core is the larger one. `None` on a model with one kind, and where there are not two sizes.
fn by_intel_caches(cpuinfo: &Cpuinfo, caches: &Caches, online: &CpuList) -> Option<CoreKinds> {
    let number = |key: &str| cpuinfo.first(&[key]).and_then(|text| text.parse::<u32>().ok());
    let is_hybrid = cpuinfo.first(&["vendor_id"]) == Some("GenuineIntel")
        && number("cpu family") == Some(6)
        && number("model").is_some_and(|model| HYBRID_MODELS.contains(&model));
    if !is_hybrid {
        return None;
    }
    let by_size = first_levels(caches);
    let known = by_size.values().map(CpuList::len).sum::<usize>();
    if by_size.len() != 2 || known != online.len() {
        return None;
    }
    let cpus_of = [PERFORMANCE, EFFICIENCY].into_iter().zip(by_size.into_values().rev()).collect();
    Some(of(by_role(cpus_of, caches), "L1d caches, of a model with two kinds"))
}

/// CPUs by the size of their L1d.
fn first_levels(caches: &Caches) -> BTreeMap<u64, CpuList> {
    let first_levels = caches.instances.iter().filter(|c| c.level == 1 && c.kind == CacheKind::Data);
    let mut by_size: BTreeMap<u64, CpuList> = BTreeMap::new();
    for cache in first_levels {
        cache.cpus.iter().for_each(|cpu| by_size.entry(cache.size).or_default().insert(cpu));
    }
    by_size
}

/// Kinds by their roles, with low-power cores taken from the efficiency cores: those without an L3, where others of
/// them have one.
fn by_role(mut cpus_of: BTreeMap<&str, CpuList>, caches: &Caches) -> Vec<CoreKind> {
    let with_l3: CpuList = caches
        .instances
        .iter()
        .filter(|cache| cache.level == 3)
        .flat_map(|cache| cache.cpus.iter())
        .collect();
    let efficient = cpus_of.remove(EFFICIENCY).unwrap_or_default();
    let (inside, outside) = (efficient.intersection(&with_l3), efficient.difference(&with_l3));
    if inside.is_empty() {
        cpus_of.insert(EFFICIENCY, outside);
    } else {
        cpus_of.insert(EFFICIENCY, inside);
        let low = cpus_of.remove(LOW_POWER).unwrap_or_default();
        cpus_of.insert(LOW_POWER, low.iter().chain(outside.iter()).collect());
    }
    let kind = |name: &str| CoreKind {
        name: name.to_owned(),
        cpus: cpus_of.get(name).cloned().unwrap_or_default(),
        ..CoreKind::default()
    };
    PMUS.iter().map(|(_, name)| kind(name)).filter(|kind| !kind.cpus.is_empty()).collect()
}

/// The running machine's, by CPUID. `None` on another tree or processor, and where CPUID does not tell.
fn by_cpuid(tree: &Tree, caches: &Caches, online: &CpuList) -> Option<CoreKinds> {
    #[cfg(target_arch = "x86_64")]
    if tree.is_live() {
        let types = super::hybrid::core_types(online)?;
        let cpus_of = types.into_iter().fold(BTreeMap::new(), |mut all, (cpu, kind)| {
            all.entry(kind).or_insert_with(CpuList::new).insert(cpu);
            all
        });
        return Some(of(by_role(cpus_of, caches), "CPUID"));
    }
    let _ = (tree, caches, online);
    None
}

/// Cores of one part.
#[derive(Debug)]
struct Group {
    cpus: CpuList,
    part: Option<String>,
    /// Its size among the parts of a chip, if it is known.
    size: Option<u8>,
    capacity: Option<u32>,
}

/// By part number and capacity. `None` where neither is shown.
fn by_part(tree: &Tree, cpuinfo: &Cpuinfo, online: &CpuList, found: &Contradictions) -> Option<CoreKinds> {
    let mut by_part: BTreeMap<Option<String>, Vec<(Option<u32>, u32)>> = BTreeMap::new();
    for cpu in online.iter() {
        let part = parts::name(cpuinfo, cpu);
        if let (Some(part), Some(other)) = (&part, parts::in_registers(cpuinfo, cpu))
            && *part != other
        {
            let sources =
                format!("CPU {cpu} is a {part} in /proc/cpuinfo, and a {other} by its midr_el1 in /sys");
            found.add(ABOUT, sources, "/proc/cpuinfo");
        }
        by_part.entry(part).or_default().push((capacity(tree, cpu), cpu));
    }
    let mut groups: Vec<Group> = Vec::new();
    for (part, mut cpus) in by_part {
        cpus.sort_unstable();
        for cpus in cpus.chunk_by(|(a, _), (b, _)| is_same(*a, *b)) {
            let size = cpus.first().and_then(|(_, cpu)| parts::size(cpuinfo, *cpu));
            let capacity = cpus.iter().filter_map(|(capacity, _)| *capacity).max();
            let cpus = cpus.iter().map(|(_, cpu)| *cpu).collect();
            groups.push(Group { cpus, part: part.clone(), size, capacity });
        }
    }
    let shows_any = groups.iter().any(|group| group.part.is_some() || group.capacity.is_some());
    shows_any.then(|| match groups.len() {
        0..2 => CoreKinds::default(),
        2..=MAX_KINDS => ranked(groups, found),
        count => CoreKinds {
            unknown: Some(format!(
                "the kinds of core: {count} are shown, and no machine has more than {MAX_KINDS}"
            )),
            ..Default::default()
        },
    })
}

/// Whether two capacities of cores of one part, in ascending order, are those of one kind.
fn is_same(a: Option<u32>, b: Option<u32>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => f64::from(b) <= f64::from(a) * SAME_CAPACITY,
        // A capacity that could not be read says nothing.
        _ => true,
    }
}

/// Groups as kinds, the fastest first, if it is known which are faster.
fn ranked(mut groups: Vec<Group>, found: &Contradictions) -> CoreKinds {
    // Where the device tree has none, the kernel shows 1024 for every CPU.
    let differ = groups.iter().any(|group| group.capacity != groups[0].capacity);
    let by_capacity = differ && groups.iter().all(|group| group.capacity.is_some());
    let by_size = groups.iter().all(|group| group.size.is_some()) && {
        let mut sizes: Vec<_> = groups.iter().map(|group| group.size).collect();
        sizes.sort_unstable();
        sizes.windows(2).all(|pair| pair[0] != pair[1])
    };
    let capacity = |group: &Group| group.capacity.filter(|_| by_capacity);
    groups.sort_by_key(|group| (std::cmp::Reverse((capacity(group), group.size)), group.cpus.first()));
    let (count, is_ranked) = (groups.len(), by_capacity || by_size);
    for pair in groups.windows(2).filter(|_| by_capacity) {
        // Sizes are those of roles: a BIG core of an old chip may be slower than another BIG, not than a LITTLE of its own chip.
        if let (Some(first), Some(second)) = (pair[0].size, pair[1].size)
            && first < second
        {
            let name = |group: &Group| group.part.clone().unwrap_or_default();
            let sources = format!(
                "cpu_capacity ranks CPUs {} ({}) before CPUs {} ({})",
                pair[0].cpus,
                name(&pair[0]),
                pair[1].cpus,
                name(&pair[1])
            );
            found.add(ABOUT, sources + ", their parts the other way round", "cpu_capacity");
        }
    }
    let mut kinds: Vec<CoreKind> = Vec::new();
    for (rank, Group { cpus, part, capacity, .. }) in groups.into_iter().enumerate() {
        let unranked = part.clone().unwrap_or_else(|| "unknown part".to_owned());
        let mut name = if is_ranked { name(rank, count) } else { unranked };
        if kinds.iter().any(|kind| kind.name == name) {
            name += &format!(" ({rank})");
        }
        kinds.push(CoreKind { name, cpus, part, capacity });
    }
    let basis = match by_capacity {
        true => "CPU part in /proc/cpuinfo, cpu_capacity",
        false => "CPU part in /proc/cpuinfo",
    };
    let unknown =
        "which kind of core is the fastest: no cpu_capacity tells them apart, and not all parts are known";
    CoreKinds { unknown: (!is_ranked).then(|| unknown.to_owned()), ..of(kinds, basis) }
}

/// The name of a kind by its place among so many, 0 for the fastest.
fn name(rank: usize, count: usize) -> String {
    match rank {
        0 => PERFORMANCE.to_owned(),
        rank if rank + 1 == count => EFFICIENCY.to_owned(),
        1 => MIDDLE.to_owned(),
        rank => format!("{MIDDLE}-{rank}"),
    }
}

/// Why there may be several kinds although nothing names them.
fn hint(tree: &Tree, cpuinfo: &Cpuinfo, caches: &Caches, online: &CpuList) -> Option<String> {
    let by_size = first_levels(caches);
    if by_size.len() > 1 {
        let size = |(size, cpus): (&u64, &CpuList)| {
            format!("{} on CPUs {cpus}", figure::format::bytes(*size as f64))
        };
        let sizes: Vec<String> = by_size.iter().map(size).take(4).collect();
        return Some(format!(
            "the kinds of core: L1d caches differ ({}), but neither {} nor CPUID names kinds",
            sizes.join(", "),
            PMUS.map(|(pmu, _)| pmu).join(", ")
        ));
    }
    // Live, CPUID has said that there is one kind.
    let may_have_dense_cores = !tree.is_live() && is_zen_4_or_later(cpuinfo);
    let perf = |cpu| tree.number::<u32>(format!("{CPUS}/cpu{cpu}/acpi_cppc/highest_perf")).into_value();
    let perfs: Vec<u32> =
        if may_have_dense_cores { online.iter().filter_map(perf).collect() } else { Vec::new() };
    let (least, most) = (perfs.iter().min()?, perfs.iter().max()?);
    (least < most).then(|| {
        format!(
            "the kinds of core: acpi_cppc/highest_perf differs ({least} to {most}) among preferred cores of one kind \
             as well as between classic and dense cores; CPUID tells, on the machine itself"
        )
    })
}

/// Whether a processor may have dense cores: AMD's since Zen 4 (arch/x86/kernel/cpu/amd.c,
/// `bsp_init_amd`).
fn is_zen_4_or_later(cpuinfo: &Cpuinfo) -> bool {
    let number = |key: &str| cpuinfo.first(&[key]).and_then(|text| text.parse::<u32>().ok());
    cpuinfo.first(&["vendor_id"]) == Some("AuthenticAMD")
        && match (number("cpu family"), number("model")) {
            (Some(0x19), Some(model)) => matches!(model, 0x10..=0x1f | 0x60..=0xaf),
            (Some(family), _) => family > 0x19,
            (None, _) => false,
        }
}
