//! Where threads run, in OpenMP's terms (specification 5.2, section 10.1.3 and OMP_PLACES): places are sets
//! of CPUs, and threads are bound to places. Pure.

use std::collections::BTreeMap;
use std::str::FromStr;

use figure::{CpuList, Machine};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Places {
    Threads,
    /// Each core, with all its hardware threads.
    #[default]
    Cores,
    /// Each last-level cache, with all CPUs that share it.
    LlCaches,
    /// Each NUMA node that has CPUs.
    NumaDomains,
    Sockets,
    /// These places, in this order.
    List(Vec<CpuList>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// Consecutive threads on consecutive places.
    #[default]
    Close,
    /// Threads as far apart as the places allow.
    Spread,
    /// All threads on the first place.
    Primary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// OpenMP's word for the places, or `list`.
    pub places: &'static str,
    pub bind: &'static str,
    pub threads: Vec<CpuList>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    #[error("--threads 0: at least one thread must work")]
    NoThreads,
    #[error(
        "--threads {requested}: at most {most} threads are started ({per_cpu} for each of the {allowed} allowed CPUs); ask for fewer"
    )]
    TooManyThreads { requested: usize, most: usize, per_cpu: usize, allowed: usize },
    #[error("--places {list}: CPU {cpu} {problem}; CPUs that may be used: {allowed}")]
    ForbiddenCpu {
        /// The requested places, as [`describe`] formats them.
        list: String,
        cpu: u32,
        problem: &'static str,
        allowed: String,
    },
    #[error("no CPU may be used: the affinity mask of this process is empty or unreadable")]
    NoCpus,
    #[error(
        "--places '{0}': write threads, cores, ll_caches, numa_domains, sockets, or CPUs such as 0-3,8 or {{0,1}},{{2,3}}"
    )]
    NotPlaces(String),
    #[error("--bind '{0}': write close, spread or primary")]
    NotBind(String),
}

/// More threads than CPUs are allowed and judged; beyond this number they only exhaust memory.
pub const MOST_THREADS_PER_CPU: usize = 64;

impl FromStr for Places {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let compact: String = text.split_whitespace().collect();
        Ok(match compact.as_str() {
            "threads" => Places::Threads,
            "cores" => Places::Cores,
            "ll_caches" => Places::LlCaches,
            "numa_domains" => Places::NumaDomains,
            "sockets" => Places::Sockets,
            list => {
                let error = || PlacementError::NotPlaces(text.to_owned());
                let parse = |part: &str| match part.parse::<CpuList>() {
                    Ok(cpus) if !cpus.is_empty() => Ok(cpus),
                    _ => Err(error()),
                };
                if list.starts_with('{') {
                    let inner = list.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                    let parts = inner.ok_or_else(error)?.split("},{");
                    Places::List(parts.map(parse).collect::<Result<_, _>>()?)
                } else {
                    // The order counts: 3,1 puts the first thread on CPU 3.
                    let parts = list.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
                    let single = |cpu| CpuList::from_iter([cpu]);
                    Places::List(parts.iter().flat_map(CpuList::iter).map(single).collect())
                }
            }
        })
    }
}

impl FromStr for Bind {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "close" => Ok(Bind::Close),
            "spread" => Ok(Bind::Spread),
            "primary" | "master" => Ok(Bind::Primary),
            _ => Err(PlacementError::NotBind(text.to_owned())),
        }
    }
}

impl Places {
    pub fn word(&self) -> &'static str {
        match self {
            Places::Threads => "threads",
            Places::Cores => "cores",
            Places::LlCaches => "ll_caches",
            Places::NumaDomains => "numa_domains",
            Places::Sockets => "sockets",
            Places::List(_) => "list",
        }
    }

    /// Places within the affinity mask, in the order of libgomp: core by core, with its hardware threads.
    fn on(&self, machine: &Machine) -> Result<Vec<CpuList>, PlacementError> {
        let topology = &machine.topology;
        let allowed = machine.topology.usable();
        if let Places::List(places) = self {
            for cpu in places.iter().flat_map(CpuList::iter) {
                let problem = match (topology.online.contains(cpu), allowed.contains(cpu)) {
                    (false, _) if topology.offline.contains(cpu) => "is offline",
                    (false, _) => "does not exist",
                    (true, false) => "is outside the affinity mask of this process (taskset, cpuset)",
                    (true, true) => continue,
                };
                let allowed = allowed.to_string();
                return Err(PlacementError::ForbiddenCpu { list: describe(places), cpu, problem, allowed });
            }
            return Ok(places.clone());
        }
        // Grouped by the key of the place. The order of the map is the order of the places.
        let mut groups: BTreeMap<(u32, u32, u32), CpuList> = BTreeMap::new();
        for logical in topology.cpus.iter().filter(|logical| allowed.contains(logical.cpu)) {
            let key = match self {
                Places::Threads => (logical.package, logical.core, logical.cpu),
                Places::Cores | Places::List(_) => (logical.package, logical.core, 0),
                Places::LlCaches => {
                    let first = machine.last_level_of(logical.cpu).and_then(|cache| cache.cpus.first());
                    (logical.package, first.unwrap_or(logical.cpu), 0)
                }
                Places::NumaDomains => (logical.node.unwrap_or(0), 0, 0),
                Places::Sockets => (logical.package, 0, 0),
            };
            groups.entry(key).or_default().insert(logical.cpu);
        }
        Ok(groups.into_values().collect())
    }
}

/// Without `threads`: one for each place of a list or of hardware threads, else one for each usable core.
pub fn place(
    machine: &Machine,
    places: &Places,
    bind: Bind,
    threads: Option<usize>,
) -> Result<Placement, PlacementError> {
    let allowed = machine.topology.usable().len();
    if allowed == 0 {
        return Err(PlacementError::NoCpus);
    }
    let sets = places.on(machine)?;
    if sets.is_empty() {
        return Err(PlacementError::NoCpus);
    }
    let count = match (threads, places) {
        (Some(threads), _) => threads,
        (None, Places::List(_) | Places::Threads) => sets.len(),
        (None, _) => Places::Cores.on(machine)?.len(),
    };
    if count == 0 {
        return Err(PlacementError::NoThreads);
    }
    let most = allowed * MOST_THREADS_PER_CPU;
    if count > most {
        let per_cpu = MOST_THREADS_PER_CPU;
        return Err(PlacementError::TooManyThreads { requested: count, most, per_cpu, allowed });
    }
    let index = |thread: usize| match bind {
        Bind::Primary => 0,
        Bind::Close if count <= sets.len() => thread,
        // Spread uses sub-partitions. More threads than places: both put consecutive threads on each.
        Bind::Close | Bind::Spread => thread * sets.len() / count,
    };
    let bind = match bind {
        Bind::Close => "close",
        Bind::Spread => "spread",
        Bind::Primary => "primary",
    };
    let threads = (0..count).map(|thread| sets[index(thread)].clone()).collect();
    Ok(Placement { places: places.word(), bind, threads })
}

/// In OpenMP's braces: `{0},{1,3}`; `{0} to {63}` one CPU apart; `4 x {0}` for equal places.
pub fn describe(places: &[CpuList]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = places;
    while let [first, ..] = rest {
        let run_length = |next: &dyn Fn(&CpuList) -> CpuList| {
            1 + rest.windows(2).take_while(|pair| next(&pair[0]) == pair[1]).count()
        };
        let equal = run_length(&CpuList::clone);
        let rising = run_length(&|cpus| cpus.iter().map(|cpu| cpu + 1).collect());
        let (part, length) = match (equal, rising) {
            (2.., _) => (format!("{equal} x {{{first}}}"), equal),
            (_, 3..) => (format!("{{{first}}} to {{{}}}", rest[rising - 1]), rising),
            _ => (format!("{{{first}}}"), 1),
        };
        parts.push(part);
        rest = &rest[length..];
    }
    parts.join(",")
}

impl Placement {
    pub fn cpus(&self) -> CpuList {
        self.threads.iter().flat_map(CpuList::iter).collect()
    }

    pub fn first_cpus(&self) -> Vec<u32> {
        self.threads.iter().filter_map(CpuList::first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::LogicalCpu;
    use proptest::prelude::*;

    /// `packages` x `cores` x 2 hardware threads. As on x86, sibling CPU numbers differ by half the number of
    /// CPUs.
    fn server(packages: u32, cores: u32) -> Machine {
        let mut machine = Machine::default();
        let half = packages * cores;
        for cpu in 0..2 * half {
            let core = cpu % half;
            machine.topology.cpus.push(LogicalCpu {
                cpu,
                core,
                package: core / cores,
                node: Some(core / cores),
                siblings: CpuList::from_iter([core, core + half]),
                ..LogicalCpu::default()
            });
            machine.topology.online.insert(cpu);
            machine.topology.allowed.insert(cpu);
        }
        machine
    }

    fn lists(placement: &Placement) -> Vec<String> {
        placement.threads.iter().map(CpuList::to_string).collect()
    }

    #[test]
    fn places_are_formatted_briefly() {
        let text = |list: &str| {
            describe(match &list.parse() {
                Ok(Places::List(places)) => places,
                _ => &[],
            })
        };
        assert_eq!(text("0-99"), "{0} to {99}");
        assert_eq!(text("0,1,3"), "{0},{1},{3}");
        assert_eq!(text("3,0,0,0,1"), "{3},3 x {0},{1}");
        assert_eq!(text("{0,4},{1,5},{2,6},{8-9}"), "{0,4} to {2,6},{8-9}");
        assert_eq!(describe(&[]), "");
    }

    #[test]
    fn the_default_is_one_thread_for_each_core() {
        let placement = place(&server(2, 2), &Places::Cores, Bind::Close, None).unwrap();
        assert_eq!(lists(&placement), ["0,4", "1,5", "2,6", "3,7"]);
    }

    #[test]
    fn close_packs_siblings_and_spread_does_not() {
        let machine = server(1, 4);
        let close = place(&machine, &Places::Threads, Bind::Close, Some(4)).unwrap();
        assert_eq!(lists(&close), ["0", "4", "1", "5"]);
        let spread = place(&machine, &Places::Threads, Bind::Spread, Some(4)).unwrap();
        assert_eq!(lists(&spread), ["0", "1", "2", "3"]);
        let primary = place(&machine, &Places::Threads, Bind::Primary, Some(2)).unwrap();
        assert_eq!(lists(&primary), ["0", "0"]);
    }

    #[test]
    fn sockets_and_nodes() {
        let machine = server(2, 2);
        let sockets = place(&machine, &Places::Sockets, Bind::Close, Some(2)).unwrap();
        assert_eq!(lists(&sockets), ["0-1,4-5", "2-3,6-7"]);
        let nodes = place(&machine, &Places::NumaDomains, Bind::Close, None).unwrap();
        assert_eq!(lists(&nodes), ["0-1,4-5", "0-1,4-5", "2-3,6-7", "2-3,6-7"]);
    }

    #[test]
    fn a_narrowed_mask_narrows_the_places() {
        let mut machine = server(1, 2);
        machine.topology.allowed = CpuList::from_iter([1]);
        let placement = place(&machine, &Places::Cores, Bind::Close, Some(2)).unwrap();
        assert_eq!(lists(&placement), ["1", "1"], "more threads than CPUs are allowed");
        assert_eq!(place(&machine, &Places::Cores, Bind::Close, None).unwrap().threads.len(), 1);
    }

    #[test]
    fn wrong_requests_are_named() {
        let mut machine = server(1, 2);
        machine.topology.allowed = CpuList::from_iter([0, 1]);
        machine.topology.offline = CpuList::from_iter([9]);
        let list =
            |text: &str| place(&machine, &text.parse().unwrap(), Bind::Close, None).unwrap_err().to_string();
        assert_eq!(
            list("0,3"),
            "--places {0},{3}: CPU 3 is outside the affinity mask of this process (taskset, cpuset); CPUs that may be used: 0-1"
        );
        assert!(list("9").contains("CPU 9 is offline"));
        assert!(list("{0},{77}").contains("CPU 77 does not exist"));
        let threads = |n| place(&machine, &Places::Cores, Bind::Close, Some(n)).unwrap_err();
        assert_eq!(threads(0), PlacementError::NoThreads);
        assert!(matches!(threads(100_000), PlacementError::TooManyThreads { .. }));
        let ordered: Places = "3,0-1".parse().unwrap();
        let single = |cpu| CpuList::from_iter([cpu]);
        assert_eq!(ordered, Places::List(vec![single(3), single(0), single(1)]));
        assert!("core".parse::<Places>().is_err() && "{0,1".parse::<Places>().is_err());
        assert!("".parse::<Places>().is_err() && "near".parse::<Bind>().is_err());
    }

    proptest! {
        #[test]
        fn every_thread_gets_a_usable_place(
            packages in 1..4u32, cores in 1..9u32, threads in 1..80usize, which in 0..5usize, bind in 0..3usize,
        ) {
            let machine = server(packages, cores);
            let places = [Places::Threads, Places::Cores, Places::LlCaches, Places::NumaDomains, Places::Sockets];
            let bind = [Bind::Close, Bind::Spread, Bind::Primary][bind];
            let placement = place(&machine, &places[which], bind, Some(threads)).unwrap();
            prop_assert_eq!(placement.threads.len(), threads);
            for place in &placement.threads {
                prop_assert!(!place.is_empty() && place.is_subset(&machine.topology.allowed));
            }
        }
    }
}
