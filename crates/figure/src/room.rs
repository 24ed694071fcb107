//! How much memory a plan may count on. Pure.
//!
//! What a plan decides must be the same each time on one machine, so that two records of it compare: the size of the machine and the
//! limits of its control groups decide, and what happens to be free now only where that is less.

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
    let (of_machine, now) = (of_machine(machine), now(machine));
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

/// What is available now: for sizes that were asked for.
pub fn now(machine: &Machine) -> Reading<Room> {
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
