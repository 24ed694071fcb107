//! Packages, NUMA nodes, dies, caches, clusters and cores as sets of CPUs, one inside the other.
//!
//! No fixed order of levels holds on all machines: with sub-NUMA clusters a node lies inside a package and
//! inside or around an L3, elsewhere around several packages; a die may be an L3, or hold many. So the
//! levels are not declared: every set is put inside the smallest that contains it, and sets that are equal
//! become one domain with several names.

use std::collections::BTreeMap;

use figure::format::bytes;
use figure::host::CacheKind;
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
    /// With what sort of core it is on a hybrid machine.
    Core(Option<String>),
    /// One CPU of which nothing is known.
    Cpu,
}

impl Part {
    /// `package 0`; without its number, `package`, where many are spoken of. Cores have no title.
    fn name(&self, numbered: bool) -> Option<String> {
        let name = |what: &str, number: &u32| {
            if numbered { format!("{what} {number}") } else { what.to_owned() }
        };
        match self {
            Part::Package(number) => Some(name("package", number)),
            Part::Node(number) => Some(name("node", number)),
            Part::Die(number) => Some(name("die", number)),
            Part::Cluster(number) => Some(name("cluster", number)),
            Part::Cache(level, size) => Some(format!("L{} {}", -level, bytes(*size as f64))),
            Part::Core(_) | Part::Cpu => None,
        }
    }
}

/// A set of CPUs that have something in common, and the smaller sets in it, by first CPU.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    pub cpus: CpuList,
    pub parts: Vec<Part>,
    pub children: Vec<Domain>,
    /// Which child a CPU is in.
    owner: BTreeMap<u32, usize>,
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
        let told = |part: &Part| matches!(part, Part::Cache(..) | Part::Core(_) | Part::Package(_));
        if parts.iter().any(told) {
            parts.retain(|part| !matches!(part, Part::Cluster(_)));
        }
        root.insert(cpus, parts);
    }
    root.sort();
    root
}

/// Sets that the topology tells, each under the number that the kernel or the description gave it.
fn sets_of_cpus(machine: &Machine) -> Vec<(Part, CpuList)> {
    let mut sets: BTreeMap<Part, CpuList> = BTreeMap::new();
    let mut cores: BTreeMap<u32, (Option<String>, CpuList)> = BTreeMap::new();
    let cpus = &machine.topology.cpus;
    if machine.topology.unknown.is_some() || cpus.is_empty() {
        return machine.topology.online.iter().map(|cpu| (Part::Cpu, [cpu].into_iter().collect())).collect();
    }
    let packages: CpuList = cpus.iter().map(|cpu| cpu.package).collect();
    let dies: CpuList = cpus.iter().filter_map(|cpu| cpu.die).collect();
    for cpu in cpus {
        let die = cpu.die.filter(|_| dies.len() > packages.len()).map(Part::Die);
        let cluster = cpu.cluster.map(Part::Cluster);
        for part in [Some(Part::Package(cpu.package)), die, cluster].into_iter().flatten() {
            sets.entry(part).or_default().insert(cpu.cpu);
        }
        cores.entry(cpu.core).or_insert_with(|| (cpu.kind.clone(), CpuList::new())).1.insert(cpu.cpu);
    }
    if machine.numa.nodes.len() > 1 {
        for node in &machine.numa.nodes {
            sets.insert(Part::Node(node.node), node.cpus.clone());
        }
    }
    let cores = cores.into_values().map(|(kind, cpus)| (Part::Core(kind), cpus));
    sets.into_iter().chain(cores).collect()
}

/// Caches from L2 up. Every core has an L1 of its own; the table of caches tells its size.
fn sets_of_caches(machine: &Machine) -> Vec<(Part, CpuList)> {
    let caches = machine.caches.instances.iter();
    caches
        .filter(|cache| cache.level >= 2 && cache.kind != CacheKind::Instruction)
        .map(|cache| {
            (Part::Cache(-i32::try_from(cache.level).unwrap_or(i32::MAX), cache.size), cache.cpus.clone())
        })
        .collect()
}

impl Domain {
    /// Puts a set where it belongs. One that lies across others is no domain (the tree is damaged, or the
    /// hypervisor made it up) and is left out of the drawing.
    fn insert(&mut self, cpus: CpuList, parts: Vec<Part>) {
        let owner = |cpu: u32| self.owner.get(&cpu).copied();
        let first = cpus.first().and_then(owner);
        if cpus.iter().any(|cpu| owner(cpu) != first) {
            return;
        }
        match first {
            Some(child) => self.children[child].insert(cpus, parts),
            None => {
                self.owner.extend(cpus.iter().map(|cpu| (cpu, self.children.len())));
                self.children.push(Domain { cpus, parts, ..Domain::default() });
            }
        }
    }

    fn sort(&mut self) {
        self.children.sort_by_key(|child| child.cpus.first());
        // Positions have changed, and nothing is inserted any more.
        self.owner.clear();
        self.children.iter_mut().for_each(Domain::sort);
    }

    /// `package 0 · node 0 · L3 33 MiB`.
    pub fn title(&self) -> String {
        self.names(true).join(" · ")
    }

    fn names(&self, numbered: bool) -> Vec<String> {
        self.parts.iter().filter_map(|part| part.name(numbered)).collect()
    }

    fn core(&self) -> Option<&Option<String>> {
        self.parts.iter().find_map(|part| if let Part::Core(kind) = part { Some(kind) } else { None })
    }

    /// A core or CPU without anything of its own that is worth a name.
    fn is_bare_core(&self) -> bool {
        self.parts.len() == 1 && matches!(self.parts[0], Part::Core(_) | Part::Cpu)
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

    /// What `count` domains of this shape are, from the outside to the inside: `24 × L2 1 MiB › 1 core › 2
    /// threads`. Domains are alike if their shapes are the same text.
    pub fn shape(&self, count: usize) -> String {
        let names = self.names(false).join(" · ");
        let times = |count: usize, name: &str| {
            if count == 1 { name.to_owned() } else { format!("{count} × {name}") }
        };
        if let Some(kind) = self.core() {
            let inside = cores(if names.is_empty() { count } else { 1 }, kind.as_deref());
            let threads = match self.cpus.len() {
                1 => String::new(),
                threads => format!(" › {threads} threads"),
            };
            return match names.as_str() {
                "" => format!("{inside}{threads}"),
                names => format!("{} › {inside}{threads}", times(count, names)),
            };
        }
        if self.parts.contains(&Part::Cpu) {
            let cpus = if names.is_empty() { count } else { 1 };
            let cpus = format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" });
            return if names.is_empty() { cpus } else { format!("{} › {cpus}", times(count, &names)) };
        }
        let inside: Vec<String> =
            runs(&self.children).into_iter().map(|run| run[0].shape(run.len())).collect();
        match inside.join(", and ") {
            // A package whose cores are not known.
            inside if inside.is_empty() => format!("{} › {} CPUs", times(count, &names), self.cpus.len()),
            inside => format!("{} › {inside}", times(count, &names)),
        }
    }
}

/// `1 core`, `6 performance cores`, `4 cores (capacity 446)`.
fn cores(count: usize, kind: Option<&str>) -> String {
    let plural = if count == 1 { "" } else { "s" };
    match kind {
        None => format!("{count} core{plural}"),
        Some(kind @ ("performance" | "efficiency")) => format!("{count} {kind} core{plural}"),
        Some(kind) => format!("{count} core{plural} ({})", figure::format::plain(kind)),
    }
}

/// Neighbours that are alike, together.
pub fn runs(domains: &[Domain]) -> Vec<&[Domain]> {
    let shapes: Vec<String> = domains.iter().map(|domain| domain.shape(1)).collect();
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 1..=domains.len() {
        if end == domains.len() || shapes[end] != shapes[start] {
            runs.push(&domains[start..end]);
            start = end;
        }
    }
    runs
}
