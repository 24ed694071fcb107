//! CPUs with their cores, clusters, dies and packages: /sys/devices/system/cpu
//! (Documentation/admin-guide/cputopology.rst).
//!
//! As in lscpu and hwloc, groups come from the kernel's lists of CPUs: its ids are -1 on many machines, and
//! core ids repeat in every package.

use std::collections::BTreeMap;

use figure::host::{Cgroup, CoreKinds, LogicalCpu, Numa, Topology};
use figure::{CpuList, Reading};

use super::contradictions::Contradictions;
use super::cpuinfo::{CPUS, Cpuinfo};
use super::members::{CLUSTER, CORE, DIE, Files, PACKAGE, compare, mask, members};
use crate::Tree;

/// CPUs that are read. Linux supports at most 8192 (NR_CPUS of x86-64); a damaged list may name more.
const MAX_CPUS: usize = 8192;
/// As POWER8 to 10 and UltraSPARC T2 have; Power10 reports two cores as one. A longer list is damaged.
const MAX_THREADS_PER_CORE: usize = 8;

/// The online CPUs, from the first source that names any, without those that are off by their own cpuN/online.
pub fn online(tree: &Tree, cpuinfo: &Cpuinfo, found: &Contradictions) -> CpuList {
    let directories: CpuList = tree.numbered(CPUS, "cpu").into_iter().take(MAX_CPUS).collect();
    let listed = tree.list(format!("{CPUS}/online")).into_value().unwrap_or_default();
    let present = if directories.is_empty() { listed.clone() } else { listed.intersection(&directories) };
    let some = |cpus: CpuList| (!cpus.is_empty()).then_some(cpus);
    let states: BTreeMap<u32, String> = directories
        .iter()
        .filter_map(|cpu| Some((cpu, tree.text(format!("{CPUS}/cpu{cpu}/online")).into_value()?)))
        .collect();
    let with_state = |state: &str| -> CpuList {
        states.iter().filter(|(_, text)| *text == state).map(|(cpu, _)| *cpu).collect()
    };
    let (off, on) = (with_state("0"), with_state("1"));
    let list = format!("{CPUS}/online");
    // lxcfs shows a container a list of its own. The affinity mask alone tells nothing: without restrictions it has all possible CPUs.
    let permitted = affinity(tree).unwrap_or_default().intersection(&on).difference(&present);
    if !present.is_empty() && !permitted.is_empty() {
        let sources = format!(
            "{list} has CPUs {present}, and cpuN/online is 1 of CPUs {permitted}, which are in the affinity mask"
        );
        found.add("online CPUs", sources, "cpuN/online, the state of each CPU");
        return directories.difference(&off);
    }
    let named = some(present.clone())
        .or_else(|| some(cpuinfo.cpus()))
        .or_else(|| some(proc_stat(tree)))
        .or_else(|| some(directories.difference(&off)))
        .unwrap_or(listed);
    let online = some(named.difference(&off)).unwrap_or(named);
    let online: CpuList = online.iter().take(MAX_CPUS).collect();
    compare_online(&online, &off, &[(list.as_str(), &present), ("/proc/cpuinfo", &cpuinfo.cpus())], found);
    let unlisted = on.difference(&online);
    if !present.is_empty() && !unlisted.is_empty() {
        let sources = format!("{list} has CPUs {present}, and cpuN/online is 1 of CPUs {unlisted}");
        found.add("online CPUs", sources, "the list of online CPUs");
    }
    online
}

/// Adds a contradiction if a source has CPUs that are not online.
fn compare_online(online: &CpuList, off: &CpuList, sources: &[(&str, &CpuList)], found: &Contradictions) {
    for (source, cpus) in sources {
        let extra = cpus.difference(online);
        let off = off.intersection(&extra);
        let (other, believed) = match off.is_empty() {
            true => (format!("{CPUS}/online has {online}"), "the list of online CPUs"),
            false => (format!("cpuN/online is 0 of CPUs {off}"), "cpuN/online, the state of each CPU"),
        };
        if !extra.is_empty() {
            found.add("online CPUs", format!("{source} has CPUs {extra}, and {other}"), believed);
        }
    }
}

/// The `cpuN` lines of /proc/stat: online CPUs.
fn proc_stat(tree: &Tree) -> CpuList {
    let text = tree.text("/proc/stat").into_value().unwrap_or_default();
    let names = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok());
    names.filter(|cpu| *cpu <= figure::cpulist::MAX_NUMBER).collect()
}

/// All but the kinds of core.
pub fn describe(
    tree: &Tree,
    cpuinfo: &Cpuinfo,
    online: CpuList,
    numa: &Numa,
    cgroup: &Cgroup,
    found: &Contradictions,
) -> Topology {
    let directory = |cpu: u32| format!("{CPUS}/cpu{cpu}/topology");
    let lists = |cpu: u32, files: &[Files], about: &str| members(tree, &directory(cpu), files, about, found);
    let mut unknown = None;

    let cores = cores(tree, &online, cpuinfo, |cpu| lists(cpu, CORE, "cores"), &mut unknown);
    for group in cores.groups.iter().filter(|group| group.len() > 1) {
        compare(tree, group, &online, directory, CORE, "cores", found);
        compare_core_ids(tree, group, found);
    }
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
    let packages = packages(tree, cpuinfo, &firsts, |cpu| lists(cpu, PACKAGE, "packages"), found);
    let packages = index_by_cpu(packages);
    let clusters = optional(tree, &firsts, "cluster_id", |cpu| lists(cpu, CLUSTER, "clusters"));
    let clusters = index_by_cpu(clusters);
    let dies = index_by_cpu(optional(tree, &firsts, "die_id", |cpu| lists(cpu, DIE, "dies")));
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
        allowed: allowed(tree, &online, cgroup, found),
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

/// Cores by sibling lists, else by ids, else one core per CPU.
fn cores(
    tree: &Tree,
    online: &CpuList,
    cpuinfo: &Cpuinfo,
    siblings: impl Fn(u32) -> Option<CpuList>,
    unknown: &mut Option<String>,
) -> Groups {
    let mut by_ids = None;
    let mut of_ids = |cpu: u32| {
        let by_ids = by_ids.get_or_insert_with(|| {
            sysfs_ids(tree, online, &["core_id"], CORE_SCOPE)
                .unwrap_or_else(|| ids(online, cpuinfo, &["physical id", "core id"]))
        });
        by_ids.get(&cpu).cloned()
    };
    let (mut unlisted, mut oversized) = (0, 0);
    let groups = Groups::divide(online, |cpu| {
        match siblings(cpu).or_else(|| of_ids(cpu)) {
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

/// Ids within which core ids may repeat.
const CORE_SCOPE: &[&str] = &["physical_package_id", "die_id", "cluster_id", "book_id", "drawer_id"];
/// Ids within which package ids may repeat: those of s390.
const PACKAGE_SCOPE: &[&str] = &["book_id", "drawer_id"];

/// Adds a contradiction if the threads of a core have several core ids, as the cores of an AMD module have (family 15h).
fn compare_core_ids(tree: &Tree, core: &CpuList, found: &Contradictions) {
    let ids: Option<Vec<i64>> = core.iter().map(|cpu| id(tree, cpu, "core_id")).collect();
    let Some(ids) = ids else { return };
    if ids.windows(2).any(|pair| pair[0] != pair[1]) {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let sources = format!("CPUs {core} are siblings, and have the core ids {}", ids.join(", "));
        found.add("cores", sources, "the siblings");
    }
}

/// Packages by the sibling lists; on x86 as most of lists, physical_package_id, and `physical id` in /proc/cpuinfo show them, else by
/// ids: with Cluster-on-Die, Linux 3.10 lists the cores of a NUMA node. Elsewhere ids may repeat, as of ia64.
/// A core without any counts to the first package. Arm kernels before 4.19 reported each cluster as a package; their trees do not show it.
fn packages(
    tree: &Tree,
    cpuinfo: &Cpuinfo,
    firsts: &CpuList,
    lists: impl Fn(u32) -> Option<CpuList>,
    found: &Contradictions,
) -> Groups {
    let divided = |ids: BTreeMap<u32, CpuList>| Groups::divide(firsts, |cpu| ids.get(&cpu).cloned());
    let listed = Groups::divide(firsts, lists);
    for group in listed.groups.iter().filter(|group| group.len() > 1) {
        let directory = |cpu| format!("{CPUS}/cpu{cpu}/topology");
        compare(tree, group, firsts, directory, PACKAGE, "packages", found);
    }
    let by_ids = sysfs_ids(tree, firsts, &["physical_package_id"], PACKAGE_SCOPE).map(divided);
    let in_cpuinfo = divided(ids(firsts, cpuinfo, &["physical id"]));
    let mut sources = vec![
        ("the sibling lists", listed),
        ("physical_package_id", by_ids.unwrap_or_default()),
        ("/proc/cpuinfo", in_cpuinfo),
    ];
    let is_x86 = cpuinfo.is_x86();
    if is_x86 {
        sources.swap(0, 1);
    }
    // Where none has all cores, what there is.
    if let Some(at) = sources.iter().position(|(_, groups)| groups.index.len() == firsts.len()) {
        sources.drain(..at);
        sources.retain(|(_, groups)| groups.index.len() == firsts.len());
    } else {
        sources.retain(|(_, groups)| !groups.groups.is_empty());
    }
    believed(sources, is_x86, found)
}

/// The groups of most of these sources, if most decide, else of the first. Adds a contradiction if they differ.
fn believed(mut sources: Vec<(&str, Groups)>, most_decide: bool, found: &Contradictions) -> Groups {
    let agreeing =
        |groups: &Groups| sources.iter().filter(|(_, other)| other.groups == groups.groups).count();
    let counts: Vec<usize> = sources.iter().map(|(_, groups)| agreeing(groups)).collect();
    let most = counts.iter().max().copied().unwrap_or_default();
    let is_believed = |count: &usize| !most_decide || *count == most;
    let Some(at) = counts.iter().position(is_believed) else { return Groups::default() };
    if counts[at] < sources.len() {
        let text = |(name, groups): &(&str, Groups)| {
            let first = groups.groups.first().map_or(String::new(), CpuList::to_string);
            format!("{name}: {} packages (the first has CPUs {first})", groups.groups.len())
        };
        let texts: Vec<String> = sources.iter().map(text).collect();
        let names: Vec<&str> = sources
            .iter()
            .filter(|(_, groups)| groups.groups == sources[at].1.groups)
            .map(|(name, _)| *name)
            .collect();
        found.add("packages", texts.join("; "), &names.join(" and "));
    }
    sources.swap_remove(at).1
}

/// An id of a CPU; `None` if the kernel has none: -1, or that printed unsigned.
fn id(tree: &Tree, cpu: u32, name: &str) -> Option<i64> {
    let id: i64 = tree.number(format!("{CPUS}/cpu{cpu}/topology/{name}")).into_value()?;
    (id >= 0 && id != i64::from(u16::MAX) && id != i64::from(u32::MAX)).then_some(id)
}

/// CPUs with equal ids in /sys, by the first. `None` unless each has an id of these `names`; ids of `scope` count where they are.
fn sysfs_ids(tree: &Tree, cpus: &CpuList, names: &[&str], scope: &[&str]) -> Option<BTreeMap<u32, CpuList>> {
    let mut groups: BTreeMap<Vec<Option<i64>>, Vec<u32>> = BTreeMap::new();
    for cpu in cpus.iter() {
        let ids: Option<Vec<Option<i64>>> = names.iter().map(|name| id(tree, cpu, name).map(Some)).collect();
        let scope = scope.iter().map(|name| id(tree, cpu, name));
        groups.entry(ids?.into_iter().chain(scope).collect()).or_default().push(cpu);
    }
    Some(by_first(groups.into_values()))
}

fn by_first(groups: impl Iterator<Item = Vec<u32>>) -> BTreeMap<u32, CpuList> {
    groups.filter_map(|group| Some((*group.first()?, group.into_iter().collect()))).collect()
}

/// Clusters or dies. Without an id the list has only the core itself.
fn optional(tree: &Tree, firsts: &CpuList, id: &str, list: impl Fn(u32) -> Option<CpuList>) -> Groups {
    Groups::divide(firsts, |cpu| self::id(tree, cpu, id).and_then(|_| list(cpu)))
}

/// CPUs with equal values of these /proc/cpuinfo fields, by the first, which [`Groups::divide`] reads.
fn ids(cpus: &CpuList, cpuinfo: &Cpuinfo, keys: &[&str]) -> BTreeMap<u32, CpuList> {
    let mut groups: BTreeMap<Vec<&str>, Vec<u32>> = BTreeMap::new();
    for cpu in cpus.iter() {
        if let Some(id) = keys.iter().map(|key| cpuinfo.field(cpu, key)).collect::<Option<Vec<_>>>() {
            groups.entry(id).or_default().push(cpu);
        }
    }
    by_first(groups.into_values())
}

fn offline(tree: &Tree, online: &CpuList) -> CpuList {
    let present = tree.list(format!("{CPUS}/present")).into_value();
    let directories = || tree.numbered(CPUS, "cpu").into_iter().take(MAX_CPUS).collect();
    present.unwrap_or_else(directories).difference(online)
}

/// The affinity mask of this process.
fn affinity(tree: &Tree) -> Option<CpuList> {
    let field = |name| tree.field("/proc/self/status", name);
    let list = field("Cpus_allowed_list:").and_then(|list| list.parse().ok());
    list.or_else(|| mask(&field("Cpus_allowed:")?))
}

/// The CPUs of the affinity mask of this process that the innermost cpuset leaves. All, in a tree that has neither.
/// The kernel keeps the mask within the cpuset; a tree may have the mask of another process, or none.
fn allowed(tree: &Tree, online: &CpuList, cgroup: &Cgroup, found: &Contradictions) -> CpuList {
    let affinity = affinity(tree).map(|list| list.intersection(online)).filter(|list| !list.is_empty());
    // Of a partition (cpuset.cpus.partition) the ancestors lack the CPUs, so only the innermost counts.
    let cpuset = cgroup.levels.iter().find_map(|level| level.cpuset.as_ref()).filter(|set| !set.is_empty());
    let (affinity, cpuset) = match (affinity, cpuset) {
        (Some(affinity), Some(cpuset)) => (affinity, cpuset),
        (None, Some(cpuset)) => return cpuset.clone(),
        (affinity, None) => return affinity.unwrap_or_else(|| online.clone()),
    };
    if affinity.is_subset(cpuset) {
        return affinity;
    }
    let both = affinity.intersection(cpuset);
    let (allowed, believed) = match both.is_empty() {
        true => (affinity.clone(), "the affinity mask"),
        false => (both, "both: a CPU must be in both"),
    };
    let sources =
        format!("the affinity mask in /proc/self/status has CPUs {affinity}, the cpuset has {cpuset}");
    found.add("allowed CPUs", sources, believed);
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

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
