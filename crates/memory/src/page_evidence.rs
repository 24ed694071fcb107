//! Evidence about the pages behind a worker's memory: resident or not, how large, on which NUMA node.

use std::collections::BTreeSet;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine, Reading};

use crate::pages::{Backing, SampledNodes};

pub fn of_backing(backing: Reading<Backing>, bytes: f64) -> Evidence {
    let mut evidence = Evidence::default();
    let share = |part: fn(&Backing) -> u64| {
        backing.clone().map(|backing| (part(&backing) as f64 / bytes.max(1.0)).min(1.0))
    };
    evidence.put_reading(MEMORY_RESIDENT, share(|backing| backing.resident));
    evidence.put_reading(PAGES_HUGE_SHARE, share(|backing| backing.huge));
    evidence.put_reading(PAGES_SIZE, backing.map(|backing| backing.page as f64));
    evidence
}

/// As [`of_backing`], with the share of pages on a node of their thread. `places`, `nodes`: by thread.
pub fn of_threads(
    backing: Reading<Backing>,
    bytes: f64,
    machine: &Machine,
    places: &[CpuList],
    nodes: Vec<SampledNodes>,
) -> Evidence {
    let mut evidence = of_backing(backing, bytes);
    if let Some(shares) = shares(machine, &nodes) {
        evidence.put(NUMA_SHARES, shares);
    }
    evidence.put_reading(NUMA_LOCAL_SHARE, local_share(machine, places, nodes));
    evidence
}

/// As [`of_backing`], with the share of pages on the node that they were bound to.
pub fn of_node(backing: Reading<Backing>, bytes: f64, node: u32, nodes: SampledNodes) -> Evidence {
    let mut evidence = of_backing(backing, bytes);
    evidence.put_reading(NUMA_NODE_SHARE, nodes.map(|nodes| share_on(&nodes, node)));
    evidence
}

/// Share of pages on a node. A page that is nowhere is not on it.
fn share_on(pages: &[Option<u32>], node: u32) -> f64 {
    pages.iter().filter(|page| **page == Some(node)).count() as f64 / pages.len().max(1) as f64
}

/// Share of all sampled pages on each node of the machine; unknown with one node, where it says nothing.
fn shares(machine: &Machine, nodes: &[SampledNodes]) -> Option<Vec<f64>> {
    let all: Option<Vec<&Vec<Option<u32>>>> = nodes.iter().map(Reading::value).collect();
    let pages: Vec<Option<u32>> = all?.into_iter().flatten().copied().collect();
    let known = &machine.numa.nodes;
    (known.len() > 1 && !pages.is_empty())
        .then(|| known.iter().map(|node| share_on(&pages, node.node)).collect())
}

/// The worse of start and end: the kernel may move pages between them. Unknown at the start is unknown.
pub fn worse_of(start: &Evidence, mut end: Evidence) -> Evidence {
    // The shares belong to the local share that counts.
    let local = |evidence: &Evidence| evidence.get(NUMA_LOCAL_SHARE).into_value();
    if let Some((first, last)) = local(start).zip(local(&end))
        && first < last
        && let Reading::Value(shares) = start.get(NUMA_SHARES)
    {
        end.put(NUMA_SHARES, shares);
    }
    for key in [MEMORY_RESIDENT, PAGES_HUGE_SHARE, NUMA_LOCAL_SHARE, NUMA_NODE_SHARE] {
        if let Reading::Value(last) = end.get(key) {
            end.put_reading(key, start.get(key).map(|first| first.min(last)));
        }
    }
    end
}

/// Share of sampled pages on a node of the thread that uses them. `places` and `nodes`: by thread.
pub fn local_share(machine: &Machine, places: &[CpuList], nodes: Vec<SampledNodes>) -> Reading<f64> {
    let (mut local, mut all) = (0usize, 0usize);
    for (place, nodes) in places.iter().zip(nodes) {
        let nodes = match nodes {
            Reading::Value(nodes) => nodes,
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        };
        // A wide place may span nodes; each of them is near to some CPU of it.
        let near: BTreeSet<u32> = place.iter().filter_map(|cpu| machine.cpu(cpu)?.node).collect();
        if near.is_empty() {
            return Reading::unknown("the kernel shows no NUMA node for the CPUs in use");
        }
        all += nodes.len();
        local += nodes.iter().flatten().filter(|node| near.contains(node)).count();
    }
    Reading::Value(local as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::{LogicalCpu, Node};

    #[test]
    fn pages_are_local_by_the_node_of_their_own_thread() {
        let mut machine = Machine::default();
        for cpu in 0..2 {
            machine.topology.cpus.push(LogicalCpu { cpu, node: Some(cpu), ..LogicalCpu::default() });
        }
        let places: Vec<CpuList> = vec!["0".parse().unwrap(), "1".parse().unwrap()];
        let on = |nodes: &[u32]| Reading::Value(nodes.iter().copied().map(Some).collect());
        let share = |a: &[u32], b: &[u32]| local_share(&machine, &places, vec![on(a), on(b)]).into_value();
        assert_eq!(share(&[0, 0], &[1, 1]), Some(1.0));
        assert_eq!(share(&[0, 1], &[0, 0]), Some(0.25));
        let blind = local_share(&Machine::default(), &places, vec![on(&[0]), on(&[0])]);
        assert!(blind.reason().is_some());
    }

    #[test]
    fn pages_elsewhere_or_nowhere_count_against_the_node() {
        assert_eq!(share_on(&[Some(1), Some(1), Some(0), None], 1), 0.5);
        assert_eq!(share_on(&[], 1), 0.0);
    }

    #[test]
    fn the_shares_of_nodes_go_with_the_worse_local_share() {
        let mut machine = Machine::default();
        machine.topology.cpus.push(LogicalCpu { node: Some(0), ..LogicalCpu::default() });
        machine.numa.nodes = [0, 2].map(|node| Node { node, ..Node::default() }).into();
        let backing = || Reading::Value(Backing { resident: 4096, huge: 0, page: 4096 });
        let on = |machine: &Machine, nodes: [u32; 4]| {
            let nodes = vec![Reading::Value(nodes.into_iter().map(Some).collect())];
            of_threads(backing(), 4096.0, machine, &["0".parse().unwrap()], nodes)
        };
        let (good, bad) = (on(&machine, [0, 0, 0, 0]), on(&machine, [0, 0, 0, 2]));
        for worse in [worse_of(&good, bad.clone()), worse_of(&bad, good.clone())] {
            assert_eq!(worse.get(NUMA_SHARES).into_value(), Some(vec![0.75, 0.25]));
            assert_eq!(worse.get(NUMA_LOCAL_SHARE).into_value(), Some(0.75));
        }
        machine.numa.nodes.truncate(1);
        assert_eq!(on(&machine, [0; 4]).get(NUMA_SHARES).into_value(), None);
    }

    #[test]
    fn the_worse_of_start_and_end_counts_and_unknown_is_worst() {
        let with = |resident, huge| {
            let mut evidence = Evidence::default();
            evidence.put(MEMORY_RESIDENT, resident);
            evidence.put(PAGES_HUGE_SHARE, huge);
            evidence
        };
        let all = worse_of(&with(1.0, 0.2), with(0.9, 0.8));
        assert_eq!(all.get(MEMORY_RESIDENT).into_value(), Some(0.9));
        assert_eq!(all.get(PAGES_HUGE_SHARE).into_value(), Some(0.2));
        assert!(all.get(NUMA_LOCAL_SHARE).reason().is_some());
        let unknown = worse_of(&Evidence::default(), with(1.0, 1.0));
        assert!(unknown.get(MEMORY_RESIDENT).reason().is_some());
    }
}
