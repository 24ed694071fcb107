//! Which CPU each thread gets, and where threads share cores unequally. Pure.

use std::collections::BTreeMap;

use figure::{CpuList, Machine};
use lab::placement::Placement;

use loops::words;

words! {
    pub enum Binding {
        /// Place = core with all its hardware threads. One thread on each core first, then round again.
        Cores = "cores",
        /// Place = hardware thread, in the same order.
        Threads = "threads",
        /// Place = hardware thread; all of one core before the next core.
        Packed = "packed",
    }
}

pub const BINDINGS: &[Binding] = &[Binding::Cores, Binding::Threads, Binding::Packed];

impl Binding {
    pub fn title(self) -> &'static str {
        match self {
            Binding::Cores => "place = core",
            Binding::Threads => "place = hardware thread",
            Binding::Packed => "siblings packed",
        }
    }
}

/// Cores, package by package, each with those of its hardware threads that may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores(pub Vec<CpuList>);

impl Cores {
    /// Those of these CPUs: the fastest kind first, where there are several.
    pub fn among(machine: &Machine, cpus: &CpuList) -> Cores {
        let topology = &machine.topology;
        let rank = |cpu| topology.cores.kinds.iter().position(|kind| kind.cpus.contains(cpu));
        let mut cores: BTreeMap<(Option<usize>, u32, u32), CpuList> = BTreeMap::new();
        for logical in topology.cpus.iter().filter(|logical| cpus.contains(logical.cpu)) {
            let place = (rank(logical.cpu), logical.package, logical.core);
            cores.entry(place).or_default().insert(logical.cpu);
        }
        Cores(cores.into_values().collect())
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn cpus(&self) -> usize {
        self.0.iter().map(CpuList::len).sum()
    }

    /// Whether some core has more than one hardware thread that we may use.
    pub fn has_smt(&self) -> bool {
        self.cpus() > self.count()
    }

    /// CPUs and the cores that they belong to, in the order in which they get threads.
    fn order(&self, binding: Binding) -> Vec<(usize, u32)> {
        let all = self.0.iter().enumerate();
        let mut order: Vec<(usize, usize, u32)> = all
            .flat_map(|(core, cpus)| cpus.iter().enumerate().map(move |(nth, cpu)| (nth, core, cpu)))
            .collect();
        match binding {
            Binding::Cores | Binding::Threads => order.sort_unstable(),
            Binding::Packed => {}
        }
        order.into_iter().map(|(_, core, cpu)| (core, cpu)).collect()
    }

    /// The first `threads` threads under a binding; past all CPUs they come round again.
    pub fn placement(&self, binding: Binding, threads: usize) -> Placement {
        let order = self.order(binding);
        let place = |thread: usize| {
            let (core, cpu) = order[thread % order.len()];
            if binding == Binding::Cores { self.0[core].clone() } else { CpuList::from_iter([cpu]) }
        };
        let places = if binding == Binding::Cores { "cores" } else { "threads" };
        Placement { places, bind: "close", threads: (0..threads).map(place).collect() }
    }

    /// For each core that has a thread: threads on it, and hardware threads that it offers.
    pub fn loads(&self, placement: &Placement) -> BTreeMap<usize, (usize, usize)> {
        let mut loads = BTreeMap::new();
        for cpu in placement.first_cpus() {
            if let Some((core, cpus)) = self.0.iter().enumerate().find(|(_, cpus)| cpus.contains(cpu)) {
                loads.entry(core).or_insert((0, cpus.len())).0 += 1;
            }
        }
        loads
    }

    /// Whether some threads get less of a core than others: the check `uneven-cores` decides by the same
    /// rule. With a hardware thread for each, a core must not run fewer threads than the fullest although it
    /// could; beyond that, all CPUs must have equally many.
    pub fn uneven(&self, placement: &Placement) -> bool {
        let loads = self.loads(placement);
        let most = loads.values().map(|(used, _)| *used).max().unwrap_or(0);
        if loads.values().any(|(used, offered)| used > offered) {
            loads
                .values()
                .any(|(used, offered)| loads.values().any(|(others, there)| used * there != others * offered))
        } else {
            loads.values().any(|(used, offered)| *used < most.min(*offered))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::LogicalCpu;
    use proptest::prelude::*;

    fn cores(each: &[&str]) -> Cores {
        Cores(each.iter().map(|cpus| cpus.parse().unwrap()).collect())
    }

    /// The study's machine in small: two packages of two cores, siblings half the machine apart.
    fn server() -> Cores {
        cores(&["0,4", "1,5", "2,6", "3,7"])
    }

    fn shown(cores: &Cores, binding: Binding, threads: usize) -> Vec<String> {
        cores.placement(binding, threads).threads.iter().map(CpuList::to_string).collect()
    }

    #[test]
    fn the_studys_bindings_fill_cores_first_and_come_round() {
        assert_eq!(shown(&server(), Binding::Cores, 5), ["0,4", "1,5", "2,6", "3,7", "0,4"]);
        assert_eq!(shown(&server(), Binding::Threads, 6), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(shown(&server(), Binding::Packed, 3), ["0", "4", "1"]);
        assert_eq!(shown(&cores(&["0", "1"]), Binding::Cores, 3), ["0", "1", "0"]);
    }

    #[test]
    fn one_thread_more_than_cores_is_uneven_and_twice_as_many_are_not() {
        let uneven = |binding, threads| server().uneven(&server().placement(binding, threads));
        for binding in [Binding::Cores, Binding::Threads] {
            let counts: Vec<usize> = (1..=8).filter(|threads| uneven(binding, *threads)).collect();
            assert_eq!(counts, [5, 6, 7], "{binding:?}");
        }
        let packed: Vec<usize> = (1..=8).filter(|threads| uneven(Binding::Packed, *threads)).collect();
        assert_eq!(packed, [3, 5, 7]);
        let two = cores(&["0", "1"]);
        let counts: Vec<usize> =
            (1..=6).filter(|threads| two.uneven(&two.placement(Binding::Cores, *threads))).collect();
        assert_eq!(counts, [3, 5], "3 threads on 2 CPUs");
    }

    #[test]
    fn a_hybrid_machine_full_of_threads_is_even() {
        let hybrid = cores(&["0-1", "2-3", "4", "5"]);
        let uneven = |threads| hybrid.uneven(&hybrid.placement(Binding::Threads, threads));
        assert_eq!((4..=7).map(uneven).collect::<Vec<_>>(), [false, true, false, true]);
    }

    #[test]
    fn cores_are_taken_package_by_package_and_only_where_we_may() {
        let mut machine = Machine::default();
        for cpu in 0..4 {
            // Packages alternate by CPU number, as some firmware counts.
            let logical = LogicalCpu { cpu, core: cpu, package: cpu % 2, ..LogicalCpu::default() };
            machine.topology.cpus.push(logical);
        }
        machine.topology.online = "0-3".parse().unwrap();
        machine.topology.allowed = "0-2".parse().unwrap();
        assert_eq!(Cores::among(&machine, &machine.topology.permitted()), cores(&["0", "2", "1"]));
        assert_eq!(Cores::among(&machine, &"1".parse().unwrap()), cores(&["1"]));
    }

    proptest! {
        #[test]
        fn all_cores_once_is_even(count in 1..20u32, smt in 1..5u32, rounds in 1..4usize) {
            let cores = Cores((0..count).map(|c| (0..smt).map(|t| c + t * count).collect()).collect());
            for binding in BINDINGS {
                let all = cores.placement(*binding, cores.cpus() * rounds);
                prop_assert!(!cores.uneven(&all));
            }
            prop_assert!(!cores.uneven(&cores.placement(Binding::Cores, cores.count())));
        }
    }
}
