//! Classifies pairs of CPUs by what they share, and chooses the pairs to measure. Pure.

use std::collections::BTreeMap;

use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::{CpuList, Machine, format};
use serde::{Deserialize, Serialize};

/// What two CPUs share, nearest first; `absence` describes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    Smt,
    Cluster,
    Llc,
    Package,
    /// Sub-NUMA clustering.
    Node,
    Socket,
    /// The machine does not expose which CPUs are one core.
    Unknown,
}

/// The classes of a machine with a known topology, nearest first.
pub const CLASSES: [Class; 6] =
    [Class::Smt, Class::Cluster, Class::Llc, Class::Package, Class::Node, Class::Socket];

impl Class {
    /// The word in ids and conditions.
    pub fn word(self) -> &'static str {
        match self {
            Class::Smt => "smt",
            Class::Cluster => "cluster",
            Class::Llc => "llc",
            Class::Package => "package",
            Class::Node => "node",
            Class::Socket => "socket",
            Class::Unknown => "unknown",
        }
    }

    /// Why there is no such pair, to follow "there are".
    fn absence(self) -> &'static str {
        match self {
            Class::Smt => "no two hardware threads of one core",
            Class::Cluster => "no two cores that share an L2 or a cluster",
            Class::Llc => "no two cores that share a last-level cache beyond L2",
            Class::Package => "no two cores of one package and node that share no cache",
            Class::Node => "no two cores of one package on different NUMA nodes",
            Class::Socket => "no two cores of different packages",
            Class::Unknown => "no two CPUs",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The CPU that holds the lines.
    pub owner: u32,
    /// The CPU that requests them.
    pub requester: u32,
    pub class: Class,
    /// The part of the topology that decides the class, for the user.
    pub basis: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPairs {
    pub class: Class,
    pub pairs: Vec<Pair>,
    /// On the machine; `pairs` are those to measure.
    pub existing: usize,
    pub absent: Option<String>,
}

/// A CPU with its caches, read once.
struct CpuCaches<'a> {
    cpu: &'a LogicalCpu,
    l2: Option<&'a Cache>,
    /// The last-level cache, if it is beyond L2.
    last_level: Option<&'a Cache>,
}

/// The pairs among `cpus` by class, at most `most` of each. They are evenly spread over the pairs in order of
/// CPU number and include the first. Pairs of equal kinds of core are preferred.
pub fn find_by_class(machine: &Machine, cpus: &CpuList, most: usize) -> Vec<ClassPairs> {
    let cpu_caches: Vec<CpuCaches> =
        cpus.iter().filter_map(|cpu| CpuCaches::new(machine, machine.cpu(cpu)?)).collect();
    let classes = if machine.topology.unknown.is_some() { &[Class::Unknown][..] } else { &CLASSES };
    let mut by_class: BTreeMap<Class, Vec<(usize, usize)>> =
        classes.iter().map(|class| (*class, Vec::new())).collect();
    for (i, a) in cpu_caches.iter().enumerate() {
        for (j, b) in cpu_caches.iter().enumerate().skip(i + 1) {
            by_class.entry(a.class_with(b, machine)).or_default().push((i, j));
        }
    }
    let mut result: Vec<ClassPairs> = Vec::new();
    for (class, mut pairs) in by_class {
        let is_same_kind = |(i, j): &(usize, usize)| cpu_caches[*i].cpu.kind == cpu_caches[*j].cpu.kind;
        if pairs.iter().any(is_same_kind) {
            pairs.retain(is_same_kind);
        }
        let take = pairs.len().min(most);
        let chosen = (0..take).map(|k| pairs[k * pairs.len() / take]).map(|(i, j)| Pair {
            owner: cpu_caches[i].cpu.cpu,
            requester: cpu_caches[j].cpu.cpu,
            class,
            basis: basis(machine, class, &cpu_caches[i], &cpu_caches[j]),
        });
        let chosen: Vec<Pair> = chosen.collect();
        let absent = chosen.is_empty().then(|| absence(machine, cpus, class));
        result.push(ClassPairs { class, existing: pairs.len(), pairs: chosen, absent });
    }
    result
}

/// The pair of these two CPUs; `None` if the machine does not have one of them.
pub fn classify(machine: &Machine, owner: u32, requester: u32) -> Option<Pair> {
    let cpu_caches = |cpu| CpuCaches::new(machine, machine.cpu(cpu)?);
    let (a, b) = (cpu_caches(owner)?, cpu_caches(requester)?);
    let class = a.class_with(&b, machine);
    Some(Pair { owner, requester, class, basis: basis(machine, class, &a, &b) })
}

impl<'a> CpuCaches<'a> {
    fn new(machine: &'a Machine, cpu: &'a LogicalCpu) -> Option<Self> {
        let l2 = machine.caches.instances.iter().find(|cache| {
            cache.level == 2 && cache.kind != CacheKind::Instruction && cache.cpus.contains(cpu.cpu)
        });
        let last_level = machine.last_level_of(cpu.cpu).filter(|cache| cache.level > 2);
        Some(CpuCaches { cpu, l2, last_level })
    }

    /// The nearest class that applies to a pair.
    fn class_with(&self, other: &CpuCaches, machine: &Machine) -> Class {
        let (a, b) = (self.cpu, other.cpu);
        // Compares by address: equal caches may be different instances, and there may be a million pairs.
        let shares = |x: Option<&Cache>, y: Option<&Cache>| x.zip(y).is_some_and(|(x, y)| std::ptr::eq(x, y));
        if machine.topology.unknown.is_some() {
            Class::Unknown
        } else if a.core == b.core {
            Class::Smt
        } else if shares(self.l2, other.l2) || (a.cluster.is_some() && a.cluster == b.cluster) {
            Class::Cluster
        } else if a.package != b.package {
            Class::Socket
        } else if a.node != b.node {
            Class::Node
        } else if shares(self.last_level, other.last_level) {
            Class::Llc
        } else {
            Class::Package
        }
    }
}

fn basis(machine: &Machine, class: Class, a: &CpuCaches, b: &CpuCaches) -> String {
    let share = |cache: &Cache| format!("share an L{} of {}", cache.level, format::bytes(cache.size as f64));
    let node = |cpu: &LogicalCpu| cpu.node.map_or("?".to_owned(), |node| node.to_string());
    let text = match class {
        Class::Smt => "hardware threads of one core".to_owned(),
        Class::Cluster => match a.l2.filter(|cache| Some(*cache) == b.l2) {
            Some(cache) => share(cache),
            None => "one cluster".to_owned(),
        },
        Class::Llc => a.last_level.map_or_else(String::new, share),
        Class::Package => match (a.last_level, b.last_level) {
            (Some(_), Some(_)) => "one package, each with a last-level cache of its own".to_owned(),
            _ => "one package; no cache is shown that they share".to_owned(),
        },
        Class::Node => format!("one package, nodes {} and {}", node(a.cpu), node(b.cpu)),
        Class::Socket => format!("packages {} and {}", a.cpu.package, b.cpu.package),
        Class::Unknown => machine.topology.unknown.clone().unwrap_or_default(),
    };
    if machine.virtualisation.is_guest() { format!("{text}, by what the hypervisor shows") } else { text }
}

fn absence(machine: &Machine, cpus: &CpuList, class: Class) -> String {
    if cpus.len() < 2 {
        return format!("it takes two CPUs, and only CPU {cpus} may be used");
    }
    let scope = if *cpus == machine.topology.online {
        String::new()
    } else {
        format!(" among the CPUs that may be used ({cpus})")
    };
    let source = if machine.virtualisation.is_guest() { ", by what the hypervisor shows" } else { "" };
    let caches = match (class, &machine.caches.unknown) {
        (Class::Cluster | Class::Llc, Some(reason)) if machine.caches.instances.is_empty() => {
            format!(" ({reason})")
        }
        _ => String::new(),
    };
    format!("there are {}{scope}{source}{caches}", class.absence())
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::synthetic;

    /// Every class that a machine has: the number of pairs, and the CPUs of the first pair.
    fn classes(machine: &Machine) -> BTreeMap<&'static str, (usize, u32, u32)> {
        let by_class = find_by_class(machine, &machine.topology.online, 4);
        let first = |f: &ClassPairs| f.pairs.first().map(|pair| (f.existing, pair.owner, pair.requester));
        by_class.iter().filter_map(|f| Some((f.class.word(), first(f)?))).collect()
    }

    #[test]
    fn a_server_of_two_sockets() {
        // 2 x 24 cores x 2: 48 sibling pairs; pairs of cores of one socket x 4; of two sockets.
        let expected =
            [("llc", (2 * 24 * 23 / 2 * 4, 0, 1)), ("smt", (48, 0, 48)), ("socket", (48 * 48, 0, 24))];
        assert_eq!(classes(&synthetic::named("two_socket_smt_server")), BTreeMap::from(expected));
    }

    #[test]
    fn clusters_dies_and_nodes() {
        let atom = classes(&synthetic::named("atom_without_l3"));
        assert_eq!(atom["cluster"].0, 4, "pairs share an L2");
        assert!(atom.contains_key("package") && !atom.contains_key("llc"));
        let clusters = classes(&synthetic::named("sub_numa_clusters"));
        assert!(clusters.contains_key("node") && clusters.contains_key("llc"), "{clusters:?}");
        let arm = classes(&synthetic::named("arm_server_with_clusters"));
        assert_eq!(arm["cluster"].0, 16 * 6, "16 clusters of four");
        assert!(!arm.contains_key("smt") && arm.contains_key("socket"));
    }

    #[test]
    fn a_pair_alone_is_as_it_is_among_all() {
        for name in ["two_socket_smt_server", "arm_server_with_clusters", "microvm_2cpu", "gvisor_no_caches"]
        {
            let machine = synthetic::named(name);
            for pair in
                find_by_class(&machine, &machine.topology.online, 3).into_iter().flat_map(|class| class.pairs)
            {
                assert_eq!(classify(&machine, pair.owner, pair.requester), Some(pair));
            }
            assert_eq!(classify(&machine, 0, 60_000), None);
        }
    }

    #[test]
    fn a_missing_class_has_a_reason() {
        let machine = synthetic::named("microvm_2cpu");
        let by_class = find_by_class(&machine, &machine.topology.online, 4);
        let absent = |class| by_class.iter().find(|f| f.class == class).unwrap().absent.clone();
        assert_eq!(absent(Class::Llc), None);
        let smt = absent(Class::Smt).unwrap();
        assert_eq!(smt, "there are no two hardware threads of one core, by what the hypervisor shows");
        let pair = &by_class.iter().find(|f| f.class == Class::Llc).unwrap().pairs[0];
        assert!(pair.basis.contains("share an L3 of") && pair.basis.contains("hypervisor"), "{}", pair.basis);

        let one = find_by_class(&machine, &"0".parse().unwrap(), 4);
        assert!(one.iter().all(|f| f.absent.as_deref().unwrap().contains("only CPU 0 may be used")));
        let server = synthetic::named("two_socket_smt_server");
        let some = find_by_class(&server, &"0-3".parse().unwrap(), 4);
        let smt = some[0].absent.as_deref().unwrap();
        assert_eq!(
            smt,
            "there are no two hardware threads of one core among the CPUs that may be used (0-3)"
        );
    }

    #[test]
    fn a_hidden_topology_is_a_class_of_its_own() {
        let machine = synthetic::named("gvisor_no_caches");
        let by_class = find_by_class(&machine, &machine.topology.online, 2);
        assert_eq!(by_class.len(), 1);
        assert_eq!((by_class[0].class, by_class[0].pairs.len()), (Class::Unknown, 2));
        assert!(!by_class[0].pairs[0].basis.is_empty());
    }

    #[test]
    fn few_pairs_of_many_evenly_spread_and_always_the_same() {
        let machine = synthetic::named("two_socket_smt_server");
        let by_class = find_by_class(&machine, &machine.topology.online, 4);
        assert_eq!(by_class, find_by_class(&machine, &machine.topology.online, 4));
        let sockets = &by_class.iter().find(|f| f.class == Class::Socket).unwrap().pairs;
        assert_eq!(sockets.len(), 4);
        let owners: std::collections::BTreeSet<u32> = sockets.iter().map(|pair| pair.owner).collect();
        assert_eq!(owners.len(), 4, "{sockets:?}");
    }

    #[test]
    fn pairs_of_one_kind_of_core_are_preferred() {
        let machine = synthetic::named("hybrid_laptop");
        let kind = |cpu| machine.cpu(cpu).unwrap().kind.clone();
        for by_class in find_by_class(&machine, &machine.topology.online, 4) {
            for pair in &by_class.pairs {
                assert_eq!(kind(pair.owner), kind(pair.requester), "{pair:?}");
            }
        }
    }
}
