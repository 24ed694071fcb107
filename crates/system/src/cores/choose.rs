//! Which pairs of CPUs are measured where there is no time for all. Pure.

use std::collections::BTreeSet;

use figure::{CpuList, Machine};
use lab::pairs::{self, Pair};

/// Pairs of each advertised class that come first.
const OF_EACH_CLASS: usize = 4;

/// Two CPUs, the lower number first.
type Two = (u32, u32);

/// All pairs of `cpus` if there are at most `most`; else of each of these as many as there is room for, evenly spread:
/// some pairs of every advertised class; every CPU with its neighbour, so that none is in no pair; pairs of cores, each by
/// its first thread; all others. In the order of the CPUs' numbers.
pub fn choose(machine: &Machine, cpus: &CpuList, most: usize) -> Vec<Pair> {
    let known: Vec<u32> = cpus.iter().filter(|cpu| machine.cpu(*cpu).is_some()).collect();
    let mut chosen: BTreeSet<Two> = BTreeSet::new();
    if known.len() * known.len().saturating_sub(1) / 2 <= most {
        chosen.extend(all(&known));
    } else {
        let cores = first_threads(machine, &known);
        let stages: [&dyn Fn() -> Vec<Two>; 4] =
            [&|| of_classes(machine, cpus), &|| neighbours(&known), &|| all(&cores), &|| all(&known)];
        for stage in stages {
            if chosen.len() >= most {
                break;
            }
            let new: Vec<Two> = stage().into_iter().filter(|two| !chosen.contains(two)).collect();
            let take = new.len().min(most - chosen.len());
            chosen.extend((0..take).map(|k| new[k * new.len() / take]));
        }
    }
    chosen.into_iter().filter_map(|(a, b)| pairs::of(machine, a, b)).collect()
}

/// CPUs that are in none of the pairs.
pub fn left_out(cpus: &CpuList, pairs: &[Pair]) -> CpuList {
    let met: BTreeSet<u32> = pairs.iter().flat_map(|pair| [pair.owner, pair.requester]).collect();
    cpus.iter().filter(|cpu| !met.contains(cpu)).collect()
}

fn all(cpus: &[u32]) -> Vec<Two> {
    cpus.iter().enumerate().flat_map(|(i, a)| cpus[i + 1..].iter().map(|b| (*a, *b))).collect()
}

fn of_classes(machine: &Machine, cpus: &CpuList) -> Vec<Two> {
    let found = pairs::find(machine, cpus, OF_EACH_CLASS);
    found.iter().flat_map(|found| &found.pairs).map(|pair| (pair.owner, pair.requester)).collect()
}

/// Each CPU once, with the next; a last one without a next with the one before.
fn neighbours(cpus: &[u32]) -> Vec<Two> {
    let mut twos: Vec<Two> = cpus.chunks_exact(2).map(|two| (two[0], two[1])).collect();
    if let [.., before, last] = cpus
        && cpus.len() % 2 == 1
    {
        twos.push((*before, *last));
    }
    twos
}

/// The first of these CPUs of each core.
fn first_threads(machine: &Machine, cpus: &[u32]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let core = |cpu: u32| machine.cpu(cpu).map(|logical| logical.core);
    cpus.iter().copied().filter(|cpu| core(*cpu).is_some_and(|core| seen.insert(core))).collect()
}

#[cfg(test)]
pub(super) mod unit {
    use std::sync::LazyLock;

    use super::*;
    use lab::pairs::Class;
    use machine::{Asked, Tree, synthetic};

    /// 2 packages x 24 cores x 2 threads: 4560 pairs. Its tree has thousands of files.
    pub(in crate::cores) fn server() -> Machine {
        static SERVER: LazyLock<Machine> = LazyLock::new(|| {
            let root = tempfile::tempdir().unwrap();
            synthetic::two_socket_smt_server(root.path()).unwrap();
            machine::describe(&Tree::at(root.path()), &Asked { dimms: None })
        });
        SERVER.clone()
    }

    fn classes(pairs: &[Pair]) -> BTreeSet<&'static str> {
        pairs.iter().map(|pair| pair.class.word()).collect()
    }

    #[test]
    fn all_where_there_is_room() {
        let machine = server();
        let cpus: CpuList = "0-3,24,48".parse().unwrap();
        let pairs = choose(&machine, &cpus, 15);
        let twos: Vec<Two> = pairs.iter().map(|pair| (pair.owner, pair.requester)).collect();
        assert_eq!(twos.len(), 15);
        assert!(twos.is_sorted() && twos.iter().all(|(a, b)| a < b), "{twos:?}");
        let class = |two| pairs[twos.iter().position(|other| *other == two).unwrap()].class;
        assert_eq!([(0, 48), (0, 1), (0, 24)].map(class), [Class::Smt, Class::Llc, Class::Socket]);
        assert_eq!(choose(&machine, &"5".parse().unwrap(), 15), []);
    }

    #[test]
    fn every_class_then_every_cpu_then_cores() {
        let machine = server();
        let cpus = &machine.topology.online;
        let few = choose(&machine, cpus, 12);
        assert_eq!((few.len(), classes(&few)), (12, BTreeSet::from(["llc", "smt", "socket"])));
        assert!(!left_out(cpus, &few).is_empty());
        let more = choose(&machine, cpus, 60);
        assert_eq!((more.len(), left_out(cpus, &more)), (60, CpuList::default()));
        let many = choose(&machine, cpus, 1128 + 60);
        let cores = |pair: &&Pair| pair.owner < 48 && pair.requester < 48;
        assert_eq!(
            (many.len(), many.iter().filter(cores).count()),
            (1188, 1128),
            "all pairs of the 48 cores"
        );
        assert_eq!(choose(&machine, cpus, 5000).len(), 4560);
        assert_eq!(choose(&machine, cpus, 60), more, "always the same");
    }

    #[test]
    fn an_odd_number_leaves_nobody_alone() {
        let machine = server();
        let cpus: CpuList = "0-20".parse().unwrap();
        let pairs = choose(&machine, &cpus, 15);
        assert_eq!((pairs.len(), left_out(&cpus, &pairs)), (15, CpuList::default()));
    }
}
