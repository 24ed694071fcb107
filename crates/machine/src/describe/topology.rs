//! CPUs with their cores, clusters, dies and packages: /sys/devices/system/cpu
//! (Documentation/admin-guide/cputopology.rst).
//!
//! As in lscpu and hwloc, groups come from the kernel's lists of CPUs. Its ids are -1 on many machines, and
//! core ids repeat in every package.

use std::collections::BTreeMap;

use figure::host::{CoreKinds, LogicalCpu, Numa, Topology};
use figure::{CpuList, Reading};

use super::cpuinfo::Cpuinfo;
use crate::Tree;

pub const CPUS: &str = "/sys/devices/system/cpu";
/// CPUs that are read. Linux supports at most 8192 (NR_CPUS of x86-64); a damaged list may name more.
const MAX_CPUS: usize = 8192;
/// As POWER8 to 10 and UltraSPARC T2 have; Power10 reports two cores as one. A longer list is damaged.
const MAX_THREADS_PER_CORE: usize = 8;

/// The online CPUs, from the first source that names any.
pub fn online(tree: &Tree, cpuinfo: &Cpuinfo) -> CpuList {
    let directories: CpuList = tree.numbered(CPUS, "cpu").into_iter().take(MAX_CPUS).collect();
    let listed = tree.list(format!("{CPUS}/online")).into_value().unwrap_or_default();
    let present = if directories.is_empty() { listed.clone() } else { listed.intersection(&directories) };
    let some = |cpus: CpuList| (!cpus.is_empty()).then_some(cpus);
    let is_off =
        |cpu: &u32| tree.text(format!("{CPUS}/cpu{cpu}/online")).value().is_some_and(|text| text == "0");
    let online = some(present)
        .or_else(|| some(cpuinfo.cpus()))
        .or_else(|| some(proc_stat(tree)))
        .or_else(|| some(directories.iter().filter(|cpu| !is_off(cpu)).collect()))
        .unwrap_or(listed);
    online.iter().take(MAX_CPUS).collect()
}

/// The `cpuN` lines of /proc/stat: online CPUs.
fn proc_stat(tree: &Tree) -> CpuList {
    let text = tree.text("/proc/stat").into_value().unwrap_or_default();
    let names = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok());
    names.filter(|cpu| *cpu <= figure::cpulist::MAX_NUMBER).collect()
}

/// All but the kinds of core.
pub fn describe(tree: &Tree, cpuinfo: &Cpuinfo, online: CpuList, numa: &Numa) -> Topology {
    let lists = |cpu: u32, names: &[&str]| members(tree, &format!("{CPUS}/cpu{cpu}/topology"), names);
    let mut unknown = None;

    let cores = cores(&online, cpuinfo, |cpu| lists(cpu, &["core_cpus", "thread_siblings"]), &mut unknown);
    // Larger groups are read at each core's first CPU, so that no core is in two of them.
    let firsts: CpuList = cores.groups.iter().filter_map(CpuList::first).collect();
    let index_by_cpu = |group: Groups| -> BTreeMap<u32, u32> {
        let index = |core: &CpuList| core.first().and_then(|first| group.index.get(&first)).copied();
        cores
            .groups
            .iter()
            .filter_map(|core| Some((core, index(core)?)))
            .flat_map(|(core, index)| core.iter().map(move |cpu| (cpu, index)))
            .collect()
    };
    let packages = index_by_cpu(packages(cpuinfo, &firsts, lists));
    let clusters = index_by_cpu(optional(tree, &firsts, "cluster_id", |cpu| lists(cpu, &["cluster_cpus"])));
    let dies = index_by_cpu(optional(tree, &firsts, "die_id", |cpu| lists(cpu, &["die_cpus"])));
    let describe_cpu = |cpu: u32| {
        let core = cores.index.get(&cpu).copied().unwrap_or_default();
        let khz: Reading<u64> = tree.number(format!("{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq"));
        LogicalCpu {
            cpu,
            core,
            cluster: clusters.get(&cpu).copied(),
            die: dies.get(&cpu).copied(),
            package: packages.get(&cpu).copied().unwrap_or_default(),
            node: numa.nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.node),
            siblings: cores.groups.get(core as usize).cloned().unwrap_or_default(),
            kind: None,
            max_mhz: khz.into_value().map(|khz| khz as f64 / 1e3),
        }
    };

    Topology {
        cpus: online.iter().map(describe_cpu).collect(),
        offline: offline(tree, &online),
        possible: tree.list(format!("{CPUS}/possible")),
        allowed: allowed(tree, &online),
        unknown: unknown.or_else(|| online.is_empty().then(|| "the tree shows no CPU".to_owned())),
        cores: CoreKinds::default(),
        online,
    }
}

/// CPUs divided into disjoint groups.
#[derive(Debug, Default)]
struct Groups {
    /// Ascending by their first CPU.
    groups: Vec<CpuList>,
    index: BTreeMap<u32, u32>,
}

impl Groups {
    /// Divides `cpus` by the `members` of the first CPU of each group. The lists of the others are ignored,
    /// so that contradicting lists cannot put a CPU into two groups. CPUs without members have no group.
    fn divide(cpus: &CpuList, mut members: impl FnMut(u32) -> Option<CpuList>) -> Groups {
        let mut groups = Groups::default();
        for cpu in cpus.iter() {
            if groups.index.contains_key(&cpu) {
                continue;
            }
            let Some(members) = members(cpu) else { continue };
            let is_free = |other: &u32| cpus.contains(*other) && !groups.index.contains_key(other);
            let group: CpuList = members.iter().filter(is_free).chain([cpu]).collect();
            let index = groups.groups.len() as u32;
            groups.index.extend(group.iter().map(|member| (member, index)));
            groups.groups.push(group);
        }
        groups
    }
}

/// Cores by sibling lists, else by the ids in /proc/cpuinfo, else one core per CPU.
fn cores(
    online: &CpuList,
    cpuinfo: &Cpuinfo,
    siblings: impl Fn(u32) -> Option<CpuList>,
    unknown: &mut Option<String>,
) -> Groups {
    let by_ids = ids(online, cpuinfo, &["physical id", "core id"]);
    let (mut unlisted, mut oversized) = (0, 0);
    let groups = Groups::divide(online, |cpu| {
        match siblings(cpu).or_else(|| by_ids.get(&cpu).cloned()) {
            Some(list) if list.len() <= MAX_THREADS_PER_CORE => return Some(list),
            Some(_) => oversized += 1,
            None => unlisted += 1,
        }
        Some(CpuList::new())
    });
    if oversized > 0 {
        *unknown = Some(format!(
            "{oversized} CPUs claim to share a core with more than {MAX_THREADS_PER_CORE} threads, as no \
             processor has: each counts as a core"
        ));
    } else if unlisted > 0 {
        let cpus = if unlisted == online.len() { "the CPUs".to_owned() } else { format!("{unlisted} CPUs") };
        *unknown = Some(format!(
            "neither {CPUS}/cpuN/topology nor /proc/cpuinfo shows the cores of {cpus}: each counts as a core"
        ));
    }
    groups
}

/// Packages by lists, else by ids. A core without either counts to the first package.
/// Arm kernels before 4.19 reported each cluster as a package; their trees do not show it.
fn packages(cpuinfo: &Cpuinfo, firsts: &CpuList, lists: impl Fn(u32, &[&str]) -> Option<CpuList>) -> Groups {
    let by_ids = ids(firsts, cpuinfo, &["physical id"]);
    Groups::divide(firsts, |cpu| {
        lists(cpu, &["package_cpus", "core_siblings"]).or_else(|| by_ids.get(&cpu).cloned())
    })
}

/// Clusters or dies. Without an id (-1, or 65535 if printed unsigned) the list has only the core itself.
fn optional(tree: &Tree, firsts: &CpuList, id: &str, list: impl Fn(u32) -> Option<CpuList>) -> Groups {
    Groups::divide(firsts, |cpu| {
        let id: i64 = tree.number(format!("{CPUS}/cpu{cpu}/topology/{id}")).into_value()?;
        if (0..i64::from(u16::MAX)).contains(&id) { list(cpu) } else { None }
    })
}

/// CPUs with equal values of these /proc/cpuinfo fields, by the first, which [`Groups::divide`] reads.
fn ids(cpus: &CpuList, cpuinfo: &Cpuinfo, keys: &[&str]) -> BTreeMap<u32, CpuList> {
    let mut groups: BTreeMap<Vec<&str>, Vec<u32>> = BTreeMap::new();
    for cpu in cpus.iter() {
        if let Some(id) = keys.iter().map(|key| cpuinfo.field(cpu, key)).collect::<Option<Vec<_>>>() {
            groups.entry(id).or_default().push(cpu);
        }
    }
    groups.into_values().filter_map(|group| Some((*group.first()?, group.into_iter().collect()))).collect()
}

/// CPUs from the first of `names` in `directory`: from `NAME_list`, else from the mask `NAME` of old kernels.
pub fn members(tree: &Tree, directory: &str, names: &[&str]) -> Option<CpuList> {
    names.iter().find_map(|name| {
        let list = tree.list(format!("{directory}/{name}_list")).into_value();
        list.or_else(|| mask(tree.text(format!("{directory}/{name}")).value()?))
            .filter(|list| !list.is_empty())
    })
}

/// The kernel's mask format: 32-bit words in hexadecimal, the highest first, with commas between.
pub fn mask(text: &str) -> Option<CpuList> {
    let mut cpus = CpuList::new();
    for (word, digits) in text.trim().rsplit(',').enumerate() {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let base =
            u32::try_from(word).ok()?.checked_mul(32).filter(|base| *base <= figure::cpulist::MAX_NUMBER)?;
        for bit in (0..32).filter(|bit| bits & (1 << bit) != 0) {
            cpus.insert(base + bit);
        }
    }
    Some(cpus)
}

fn offline(tree: &Tree, online: &CpuList) -> CpuList {
    let present = tree.list(format!("{CPUS}/present")).into_value();
    let directories = || tree.numbered(CPUS, "cpu").into_iter().take(MAX_CPUS).collect();
    present.unwrap_or_else(directories).difference(online)
}

/// The affinity mask of this process. In a tree without it, which another program saved, all are allowed.
fn allowed(tree: &Tree, online: &CpuList) -> CpuList {
    let field = |name| tree.field("/proc/self/status", name);
    let list = field("Cpus_allowed_list:").and_then(|list| list.parse::<CpuList>().ok());
    let allowed = list.or_else(|| mask(&field("Cpus_allowed:")?)).map(|list| list.intersection(online));
    allowed.filter(|list| !list.is_empty()).unwrap_or_else(|| online.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_parsed_as_the_kernel_prints_them() {
        assert_eq!(mask("0000,11111111,00000001").unwrap().to_string(), "0,32,36,40,44,48,52,56,60");
        assert_eq!(mask("3").unwrap().to_string(), "0-1");
        assert_eq!(mask("xyz"), None);
        assert_eq!(mask("1ffffffff"), None);
    }

    #[test]
    fn contradicting_lists_give_disjoint_groups() {
        let cpus: CpuList = "0-3".parse().unwrap();
        let members = |cpu: u32| match cpu {
            0 => Some("0-1,77".parse().unwrap()),
            2 => Some("1-3".parse().unwrap()),
            _ => None,
        };
        let groups = Groups::divide(&cpus, members);
        assert_eq!(groups.groups.iter().map(CpuList::to_string).collect::<Vec<_>>(), ["0-1", "2-3"]);
    }
}
