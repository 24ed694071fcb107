//! How much memory a plan may count on. Pure.
//!
//! What a plan decides must be the same each time on one machine, so that two records of it compare: the size of the machine and the
//! limits of its control groups decide, and what happens to be free now only where that is less.
//!
//! Memory on nodes without CPUs (CXL, HBM, GPUs) does not count: what threads touch first comes from there only when their own
//! node is full, and is then another memory.

use crate::host::Node;
use crate::{Machine, Reading, format};

/// Share of all memory, and of every limit, that a plan counts on: on a machine with little else to do, more than that is free.
pub const SHARE: f64 = 0.75;

/// Memory that may be used without swapping or meeting a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes.
    pub bytes: u64,
    /// What bounds it.
    pub bound: String,
    /// Whether what is free now bounds it: another time it may be more.
    pub is_momentary: bool,
}

/// The memory that a plan may count on: 75 % of the machine's and of every limit of our control groups; less where less is available now
/// (MemAvailable, the room below these limits, and what may be mapped).
pub fn room(machine: &Machine) -> Reading<Room> {
    let (of_nodes, now) = near(machine);
    let of_nodes =
        of_nodes.map(|room| Room { bytes: (room.bytes as f64 * SHARE) as u64, is_momentary: false, ..room });
    least(everywhere(machine), of_nodes.into_iter().chain(now))
}

/// What is available now: for sizes that were asked for.
pub fn now(machine: &Machine) -> Reading<Room> {
    least(everywhere_now(machine), near(machine).1)
}

fn least(room: Reading<Room>, others: impl IntoIterator<Item = Room>) -> Reading<Room> {
    others.into_iter().fold(room, |least, other| match least {
        Reading::Value(least) if least.bytes <= other.bytes => Reading::Value(least),
        _ => Reading::Value(other),
    })
}

/// The memory of the nodes with CPUs, all and available, where others have none. Under a memory policy pages come from the nodes
/// that it names.
fn near(machine: &Machine) -> (Option<Room>, Option<Room>) {
    if machine.memory_only_nodes().next().is_none() || machine.numa.policy.is_some() {
        return (None, None);
    }
    let nodes = || machine.numa.nodes.iter().filter(|node| !node.cpus.is_empty());
    let of = |bytes: Option<u64>, is: &str| {
        let bytes = bytes.filter(|bytes| *bytes > 0)?;
        let bound = format!("{} {is} on nodes with CPUs", format::bytes(bytes as f64));
        Some(Room { bytes, bound, is_momentary: true })
    };
    let sum = |bytes: fn(&Node) -> Option<u64>| {
        nodes().map(bytes).try_fold(0u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
    };
    let all = of(sum(|node| node.memory), "of memory are");
    // Without memory next to any CPU all of it is far.
    let available = all.as_ref().and_then(|_| of(sum(|node| node.available), "are available"));
    (all, available)
}

/// The room on all nodes together: for memory that is bound to them.
pub fn everywhere(machine: &Machine) -> Reading<Room> {
    let (of_machine, now) = (of_machine(machine), everywhere_now(machine));
    match (of_machine, now) {
        (Some(of_machine), Reading::Value(now)) if now.bytes < of_machine.bytes => Reading::Value(now),
        (Some(of_machine), _) => Reading::Value(of_machine),
        (None, now) => now,
    }
}

/// What the machine and its limits decide, whatever is free now.
fn of_machine(machine: &Machine) -> Option<Room> {
    let of = |bytes: u64, bound: String| Room {
        bytes: (bytes as f64 * SHARE) as u64,
        bound: format!("{} of {bound}", format::percent(SHARE)),
        is_momentary: false,
    };
    let total = machine.memory.total.value();
    let total = total.map(|bytes| of(*bytes, format!("the memory of {}", format::bytes(*bytes as f64))));
    let groups = machine.cgroup.levels.iter().filter_map(|level| {
        let limit = level.memory_limit?;
        Some(of(limit, format!("the memory limit of {}, {}", level.directory, format::bytes(limit as f64))))
    });
    total.into_iter().chain(groups).min_by_key(|room| room.bytes)
}

/// The same that is available now.
pub fn everywhere_now(machine: &Machine) -> Reading<Room> {
    let of = |bytes: u64, bound: String| Room { bytes, bound, is_momentary: true };
    let available = machine.memory.available.clone();
    let available =
        available.map(|bytes| of(bytes, format!("{} of memory are available", format::bytes(bytes as f64))));
    let group = machine.cgroup.memory_room().map(|(bytes, level)| {
        let bound =
            format!("{} are left below the memory limit of {}", format::bytes(bytes as f64), level.directory);
        of(bytes, bound)
    });
    let bounds = machine.memory.bounds.iter().map(|bound| {
        of(bound.bytes, format!("{} may be mapped under {}", format::bytes(bound.bytes as f64), bound.by))
    });
    match (available, group.into_iter().chain(bounds).min_by_key(|room| room.bytes)) {
        (Reading::Value(available), Some(bound)) if bound.bytes < available.bytes => Reading::Value(bound),
        (Reading::Unknown(_), Some(bound)) => Reading::Value(bound),
        (available, _) => available,
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::host::CgroupLevel;

    fn machine(total: u64, available: u64) -> Machine {
        let mut machine = Machine::default();
        machine.memory.total = Reading::Value(total);
        machine.memory.available = Reading::Value(available);
        machine
    }

    #[test]
    fn what_is_free_matters_only_where_it_is_less() {
        let of = |total, available| room(&machine(total, available)).into_value().unwrap();
        assert_eq!(of(1000, 900), of(1000, 760));
        assert_eq!((of(1000, 900).bytes, of(1000, 900).is_momentary), (750, false));
        assert_eq!((of(1000, 700).bytes, of(1000, 700).is_momentary), (700, true));
    }

    #[test]
    fn memory_without_cpus_is_no_room() {
        let node = |node, cpus: &str, memory, available| Node {
            node,
            cpus: cpus.parse().unwrap(),
            memory: Some(memory),
            available: Some(available),
            ..Node::default()
        };
        let mut machine = machine(1000, 950);
        machine.numa.nodes = vec![node(0, "0-3", 200, 190), node(1, "", 800, 760)];
        let bytes = |machine: &Machine| {
            let is_momentary = room(machine).into_value().unwrap().is_momentary;
            (
                room(machine).into_value().unwrap().bytes,
                is_momentary,
                now(machine).into_value().unwrap().bytes,
            )
        };
        assert_eq!(bytes(&machine), (150, false, 190));
        assert_eq!(everywhere(&machine).into_value().unwrap().bytes, 750);
        machine.numa.nodes[0].available = Some(20);
        assert_eq!(bytes(&machine), (20, true, 20));
        machine.numa.policy = Some("weighted interleave:0-1".to_owned());
        assert_eq!(bytes(&machine), (750, false, 950), "the policy takes pages from both");
        machine.numa.policy = None;
        machine.numa.nodes[0].memory = Some(0);
        assert_eq!(bytes(&machine).0, 750, "all memory is on nodes without CPUs");
        machine.numa.nodes[1].memory = Some(0);
        assert_eq!(bytes(&machine).0, 750);
    }

    #[test]
    fn limits_of_control_groups_count_like_memory() {
        let level = |limit, used| CgroupLevel {
            memory_limit: Some(limit),
            memory_used: Some(used),
            directory: "/box".into(),
            ..CgroupLevel::default()
        };
        let limited = |used| {
            let mut machine = machine(1000, 900);
            machine.cgroup.levels = vec![level(400, used)];
            room(&machine).into_value().unwrap()
        };
        assert_eq!(limited(10), limited(90));
        assert_eq!((limited(10).bytes, limited(10).is_momentary), (300, false));
        assert_eq!((limited(200).bytes, limited(200).is_momentary), (200, true));
    }
}
