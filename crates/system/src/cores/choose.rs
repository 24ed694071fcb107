//! Selects pairs of CPUs if there is no time for all. Pure.

use std::collections::BTreeSet;

use figure::{CpuList, Machine};
use lab::pairs::{self, Pair};

/// Pairs of each advertised class that are selected first.
const PAIRS_PER_CLASS: usize = 4;

/// Two CPUs, the lower number first.
type CpuPair = (u32, u32);

/// All pairs of `cpus` if there are at most `most`. Otherwise as many as fit, evenly spread, first from some
/// pairs of every advertised class, then from pairs of neighbours so that every CPU has a pair, then from
/// pairs of cores by their first thread, then from all others. In the order of CPU numbers.
pub fn choose(machine: &Machine, cpus: &CpuList, most: usize) -> Vec<Pair> {
    let cpu_numbers: Vec<u32> = cpus.iter().filter(|cpu| machine.cpu(*cpu).is_some()).collect();
    let mut chosen: BTreeSet<CpuPair> = BTreeSet::new();
    if cpu_numbers.len() * cpu_numbers.len().saturating_sub(1) / 2 <= most {
        chosen.extend(all_pairs(&cpu_numbers));
    } else {
        let cores = first_threads(machine, &cpu_numbers);
        let stages: [&dyn Fn() -> Vec<CpuPair>; 4] =
            [&|| class_pairs(machine, cpus), &|| neighbours(&cpu_numbers), &|| all_pairs(&cores), &|| {
                all_pairs(&cpu_numbers)
            }];
        for stage in stages {
            if chosen.len() >= most {
                break;
            }
            let new: Vec<CpuPair> = stage().into_iter().filter(|pair| !chosen.contains(pair)).collect();
            let take = new.len().min(most - chosen.len());
            chosen.extend((0..take).map(|k| new[k * new.len() / take]));
        }
    }
    chosen.into_iter().filter_map(|(a, b)| pairs::classify(machine, a, b)).collect()
}

/// CPUs that are in none of the pairs.
pub fn left_out(cpus: &CpuList, pairs: &[Pair]) -> CpuList {
    let paired: BTreeSet<u32> = pairs.iter().flat_map(|pair| [pair.owner, pair.requester]).collect();
    cpus.iter().filter(|cpu| !paired.contains(cpu)).collect()
}

fn all_pairs(cpus: &[u32]) -> Vec<CpuPair> {
    cpus.iter().enumerate().flat_map(|(i, a)| cpus[i + 1..].iter().map(|b| (*a, *b))).collect()
}

fn class_pairs(machine: &Machine, cpus: &CpuList) -> Vec<CpuPair> {
    let classes = pairs::find_by_class(machine, cpus, PAIRS_PER_CLASS);
    classes.iter().flat_map(|class| &class.pairs).map(|pair| (pair.owner, pair.requester)).collect()
}

/// Each CPU once, with the next. The last CPU of an odd number is paired with the one before.
fn neighbours(cpus: &[u32]) -> Vec<CpuPair> {
    let mut pairs: Vec<CpuPair> = cpus.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    if let [.., previous, last] = cpus
        && cpus.len() % 2 == 1
    {
        pairs.push((*previous, *last));
    }
    pairs
}

/// The first of these CPUs in each core.
fn first_threads(machine: &Machine, cpus: &[u32]) -> Vec<u32> {
    let mut cores = BTreeSet::new();
    let core = |cpu: u32| machine.cpu(cpu).map(|logical| logical.core);
    cpus.iter().copied().filter(|cpu| core(*cpu).is_some_and(|core| cores.insert(core))).collect()
}

#[cfg(test)]
pub(super) mod unit {

    use super::*;
    use lab::pairs::Class;
    use machine::synthetic;

    /// 2 packages x 24 cores x 2 threads: 4560 pairs.
    pub(in crate::cores) fn server() -> Machine {
        synthetic::described(synthetic::two_socket_smt_server)
    }

    fn classes(pairs: &[Pair]) -> BTreeSet<&'static str> {
        pairs.iter().map(|pair| pair.class.word()).collect()
    }

    #[test]
    fn all_pairs_if_there_is_room() {
        let machine = server();
        let cpus: CpuList = "0-3,24,48".parse().unwrap();
        let pairs = choose(&machine, &cpus, 15);
        let numbers: Vec<CpuPair> = pairs.iter().map(|pair| (pair.owner, pair.requester)).collect();
        assert_eq!(numbers.len(), 15);
        assert!(numbers.is_sorted() && numbers.iter().all(|(a, b)| a < b), "{numbers:?}");
        let class = |pair| pairs[numbers.iter().position(|other| *other == pair).unwrap()].class;
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
    fn an_odd_number_leaves_no_cpu_out() {
        let machine = server();
        let cpus: CpuList = "0-20".parse().unwrap();
        let pairs = choose(&machine, &cpus, 15);
        assert_eq!((pairs.len(), left_out(&cpus, &pairs)), (15, CpuList::default()));
    }
}
