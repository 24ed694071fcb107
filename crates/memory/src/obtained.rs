//! What a worker got of what it asked for, as evidence: clock, places, caches, pages.

use std::collections::BTreeSet;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine, Reading};
use lab::pool::Pool;

use crate::region::Region;
use crate::sizes;

/// The clock and the places of a pool.
pub fn of_pool(pool: &Pool) -> Evidence {
    let mut evidence = Evidence::default();
    pool.clock.write(&mut evidence);
    evidence.put(PLACE_READBACK, pool.readback);
    evidence
}

/// The last-level caches that these CPUs can fill.
pub fn of_caches(machine: &Machine, cpus: &CpuList) -> Evidence {
    let mut evidence = Evidence::default();
    let cache = sizes::last_level(machine, cpus);
    evidence.put_reading(LLC_BYTES, cache.clone().map(|cache| cache.bytes as f64));
    evidence.put_reading(LLC_BASIS, cache.map(|cache| cache.basis));
    evidence
}

/// Size of the pages behind these regions, of which `bytes` are used, and `local`: the share of sampled pages on
/// the right node.
pub fn of_memory(regions: &[&Region], bytes: u64, local: Reading<f64>) -> Evidence {
    let mut evidence = Evidence::default();
    let (mut resident, mut huge, mut size) = (0, 0, Reading::unknown("no memory was mapped"));
    for region in regions {
        match region.backing() {
            Reading::Value(backing) => {
                resident += backing.resident;
                huge += backing.huge;
                size = Reading::Value(backing.page as f64);
            }
            Reading::Unknown(reason) => {
                size = Reading::Unknown(reason);
                break;
            }
        }
    }
    let share = |part: u64| size.clone().map(|_| (part as f64 / bytes as f64).min(1.0));
    evidence.put_reading(MEMORY_RESIDENT, share(resident));
    evidence.put_reading(PAGES_HUGE_SHARE, share(huge));
    evidence.put_reading(PAGES_SIZE, size);
    evidence.put_reading(NUMA_LOCAL_SHARE, local);
    evidence
}

/// The same over all rounds: the worse of start and end. The kernel may join pages, move them, or take them away
/// meanwhile.
pub fn throughout(start: &Evidence, mut end: Evidence) -> Evidence {
    for key in [MEMORY_RESIDENT, PAGES_HUGE_SHARE, NUMA_LOCAL_SHARE] {
        let (first, last) = (start.get(key).into_value(), end.get(key).into_value());
        if let Some((first, last)) = first.zip(last) {
            end.put(key, first.min(last));
        }
    }
    end
}

/// Share of sampled pages that lie on a node of the thread that uses them: `places` and `nodes` in thread order.
pub fn local_share(
    machine: &Machine,
    places: &[CpuList],
    nodes: Vec<Reading<Vec<Option<u32>>>>,
) -> Reading<f64> {
    let (mut local, mut all) = (0usize, 0usize);
    for (place, nodes) in places.iter().zip(nodes) {
        let nodes = match nodes {
            Reading::Value(nodes) => nodes,
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        };
        // A wide place may span nodes; each of them is near to some CPU of it.
        let own: BTreeSet<u32> = place.iter().filter_map(|cpu| machine.cpu(cpu)?.node).collect();
        if own.is_empty() {
            return Reading::unknown("the kernel shows no NUMA node for the CPUs in use");
        }
        all += nodes.len();
        local += nodes.iter().flatten().filter(|node| own.contains(node)).count();
    }
    Reading::Value(local as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::host::LogicalCpu;

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
    fn what_was_worse_at_the_start_stays_so() {
        let with = |resident, huge| {
            let mut evidence = Evidence::default();
            evidence.put(MEMORY_RESIDENT, resident);
            evidence.put(PAGES_HUGE_SHARE, huge);
            evidence
        };
        let all = throughout(&with(1.0, 0.2), with(0.9, 0.8));
        assert_eq!(all.get(MEMORY_RESIDENT).into_value(), Some(0.9));
        assert_eq!(all.get(PAGES_HUGE_SHARE).into_value(), Some(0.2));
        assert!(all.get(NUMA_LOCAL_SHARE).reason().is_some());
    }
}
