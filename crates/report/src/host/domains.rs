//! Packages, NUMA nodes, dies, caches, clusters and cores as sets of CPUs, one inside the other.
//!
//! No fixed order of levels holds on all machines: with sub-NUMA clusters a node lies inside a package and
//! inside or around an L3, elsewhere around several packages; a die may be an L3, or hold many. So the
//! levels are not declared: every set is put inside the smallest that contains it, and sets that are equal
//! become one domain with several names.

use std::collections::BTreeMap;

use figure::format::{bytes, counted, plain};
use figure::host::{Cache, CacheKind};
use figure::{CpuList, Machine};

/// What a domain is. The order is that of its names in a title.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Package(u32),
    Node(u32),
    Die(u32),
    /// Level (negative, so that the larger cache is named first) and bytes.
    Cache(i32, u64),
    Cluster(u32),
    /// With its sort on a hybrid machine.
    Core(u32, Option<String>),
    /// One CPU without any topology.
    Cpu,
}

impl Part {
    /// `package 0`; without its number, `package`, for several. Cores have no title.
    fn name(&self, numbered: bool) -> Option<String> {
        let (what, number) = match self {
            Part::Package(number) => ("package", number),
            Part::Node(number) => ("node", number),
            Part::Die(number) => ("die", number),
            Part::Cluster(number) => ("cluster", number),
            Part::Cache(level, size) => return Some(format!("L{} {}", -level, bytes(*size as f64))),
            Part::Core(..) | Part::Cpu => return None,
        };
        Some(if numbered { format!("{what} {number}") } else { what.to_owned() })
    }
}

/// A set of CPUs that have something in common, and the smaller sets in it, by first CPU.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    pub cpus: CpuList,
    pub parts: Vec<Part>,
    pub children: Vec<Domain>,
}

/// Everything online, as nested domains: the packages and what is in them are the children.
pub fn domains(machine: &Machine) -> Domain {
    let mut sets: BTreeMap<CpuList, Vec<Part>> = BTreeMap::new();
    for (part, cpus) in sets_of_cpus(machine).into_iter().chain(sets_of_caches(machine)) {
        let cpus = cpus.intersection(&machine.topology.online);
        if !cpus.is_empty() {
            let parts = sets.entry(cpus).or_default();
            // Twice the same where sysfs is damaged.
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    // The larger first: whatever contains a set is there before it.
    sets.sort_by_key(|(cpus, _)| std::cmp::Reverse(cpus.len()));
    let mut root = Domain { cpus: machine.topology.online.clone(), ..Domain::default() };
    for (cpus, mut parts) in sets {
        parts.sort();
        // A cluster is news only where it is not what shares an L2, nor a single core.
        let is_other = |part: &Part| matches!(part, Part::Cache(..) | Part::Core(..) | Part::Package(_));
        if parts.iter().any(is_other) {
            parts.retain(|part| !matches!(part, Part::Cluster(_)));
        }
        root.insert(cpus, parts);
    }
    root.sort();
    root
}

/// Sets of the topology, each under the number that the kernel or the description gave it.
fn sets_of_cpus(machine: &Machine) -> Vec<(Part, CpuList)> {
    let cpus = &machine.topology.cpus;
    if machine.topology.unknown.is_some() || cpus.is_empty() {
        return machine.topology.online.iter().map(|cpu| (Part::Cpu, [cpu].into_iter().collect())).collect();
    }
    let packages: CpuList = cpus.iter().map(|cpu| cpu.package).collect();
    let dies: CpuList = cpus.iter().filter_map(|cpu| cpu.die).collect();
    let mut sets: BTreeMap<Part, CpuList> = BTreeMap::new();
    for cpu in cpus {
        let die = cpu.die.filter(|_| dies.len() > packages.len()).map(Part::Die);
        let core = Part::Core(cpu.core, cpu.kind.clone());
        let larger = [Some(Part::Package(cpu.package)), die, cpu.cluster.map(Part::Cluster)];
        for part in larger.into_iter().flatten().chain([core]) {
            sets.entry(part).or_default().insert(cpu.cpu);
        }
    }
    if machine.numa.nodes.len() > 1 {
        sets.extend(machine.numa.nodes.iter().map(|node| (Part::Node(node.node), node.cpus.clone())));
    }
    sets.into_iter().collect()
}

/// Caches from L2 up. Every core has an L1 of its own; its size is in the table of caches.
fn sets_of_caches(machine: &Machine) -> Vec<(Part, CpuList)> {
    let caches = machine.caches.instances.iter();
    let caches = caches.filter(|cache| cache.level >= 2 && cache.kind != CacheKind::Instruction);
    let part = |cache: &Cache| Part::Cache(-i32::try_from(cache.level).unwrap_or(i32::MAX), cache.size);
    caches.map(|cache| (part(cache), cache.cpus.clone())).collect()
}

impl Domain {
    /// Puts a set where it belongs. One that lies across others is no domain (the tree is damaged, or the
    /// hypervisor made it up) and is left out of the drawing.
    fn insert(&mut self, cpus: CpuList, parts: Vec<Part>) {
        let overlaps = |child: &&mut Domain| cpus.iter().any(|cpu| child.cpus.contains(cpu));
        match self.children.iter_mut().find(overlaps) {
            Some(child) if cpus.is_subset(&child.cpus) => child.insert(cpus, parts),
            Some(_) => {}
            None => self.children.push(Domain { cpus, parts, ..Domain::default() }),
        }
    }

    fn sort(&mut self) {
        self.children.sort_by_key(|child| child.cpus.first());
        self.children.iter_mut().for_each(Domain::sort);
    }

    /// `package 0 · node 0 · L3 33 MiB`.
    pub fn title(&self) -> String {
        self.names(true).join(" · ")
    }

    fn names(&self, numbered: bool) -> Vec<String> {
        self.parts.iter().filter_map(|part| part.name(numbered)).collect()
    }

    /// A core or CPU without anything of its own that is worth a name.
    fn is_bare_core(&self) -> bool {
        self.parts.len() == 1 && matches!(self.parts[0], Part::Core(..) | Part::Cpu)
    }

    /// Levels of boxes that must be drawn around its cells; 0 if it is a cell itself: a core, or cores that
    /// share an L2 or make a cluster.
    pub fn height(&self) -> usize {
        let shares = |part: &Part| matches!(part, Part::Cache(-2, _) | Part::Cluster(_));
        let small = self.parts.iter().any(shares) && self.children.iter().all(Domain::is_bare_core);
        if self.children.is_empty() || small {
            return 0;
        }
        1 + self.children.iter().map(Domain::height).max().unwrap_or(0)
    }

    /// `count` domains of this shape, from the outside to the inside: `24 × L2 1 MiB › 1 core › 2
    /// threads`. Domains are alike if their shapes are the same text.
    pub fn shape(&self, count: usize) -> String {
        let names = self.names(false).join(" · ");
        let each = if names.is_empty() { count } else { 1 };
        let core = self.parts.iter().find_map(|part| match part {
            Part::Core(_, kind) => Some(kind),
            _ => None,
        });
        let inside = if let Some(kind) = core {
            let threads = match self.cpus.len() {
                1 => String::new(),
                threads => format!(" › {threads} threads"),
            };
            format!("{}{threads}", cores(each, kind.as_deref()))
        } else if self.parts.contains(&Part::Cpu) {
            counted(each, "CPU")
        } else if self.children.is_empty() {
            // A package with unknown cores.
            format!("{} CPUs", self.cpus.len())
        } else {
            let runs = runs(&self.children).into_iter().map(|run| run[0].shape(run.len()));
            runs.collect::<Vec<_>>().join(", and ")
        };
        match (names.as_str(), count) {
            ("", _) => inside,
            (names, 1) => format!("{names} › {inside}"),
            (names, count) => format!("{count} × {names} › {inside}"),
        }
    }
}

/// `1 core`, `6 performance cores`.
fn cores(count: usize, kind: Option<&str>) -> String {
    match kind {
        None => counted(count, "core"),
        Some(kind) => counted(count, &format!("{} core", plain(kind))),
    }
}

/// Neighbours that are alike, together.
pub fn runs(domains: &[Domain]) -> Vec<&[Domain]> {
    domains.chunk_by(|a, b| a.shape(1) == b.shape(1)).collect()
}
