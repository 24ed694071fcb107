//! /proc/vmstat: events of the whole machine's memory management.

use figure::evidence::{
    Key, VM_COMPACT_STALL, VM_DIRECT_SCAN, VM_NUMA_HINTS, VM_NUMA_MIGRATED, VM_SWAPPED, VM_THP_SPLIT,
};
use figure::{Evidence, Reading};

use super::{both, grown};
use crate::Tree;

const FILE: &str = "/proc/vmstat";

struct Event {
    key: Key<f64>,
    name: &'static str,
    /// Why a kernel may not have it.
    lacking: &'static str,
    /// Whether the line with this name counts.
    counts: fn(&str) -> bool,
}

const EVENTS: [Event; 6] = [
    Event {
        key: VM_SWAPPED,
        name: "pswpin and pswpout",
        lacking: "the kernel is built without swap or without event counters",
        counts: |name| matches!(name, "pswpin" | "pswpout"),
    },
    Event {
        key: VM_DIRECT_SCAN,
        name: "pgscan_direct",
        lacking: "the kernel is built without event counters",
        // Before Linux 4.8 there was one per zone, such as pgscan_direct_normal. pgscan_direct_throttle
        // counts waits, not pages.
        counts: |name| name.starts_with("pgscan_direct") && name != "pgscan_direct_throttle",
    },
    Event {
        key: VM_NUMA_MIGRATED,
        name: "numa_pages_migrated",
        lacking: "the kernel is built without CONFIG_NUMA_BALANCING",
        counts: |name| name == "numa_pages_migrated",
    },
    Event {
        key: VM_NUMA_HINTS,
        name: "numa_hint_faults",
        lacking: "the kernel is built without CONFIG_NUMA_BALANCING",
        counts: |name| name == "numa_hint_faults",
    },
    Event {
        key: VM_THP_SPLIT,
        name: "thp_split_page",
        lacking: "the kernel is built without CONFIG_TRANSPARENT_HUGEPAGE",
        // Called thp_split before Linux 4.5.
        counts: |name| matches!(name, "thp_split_page" | "thp_split"),
    },
    Event {
        key: VM_COMPACT_STALL,
        name: "compact_stall",
        lacking: "the kernel is built without CONFIG_COMPACTION",
        counts: |name| name == "compact_stall",
    },
];

/// Counts in the order of [`EVENTS`]; `None` if the kernel has no such counter.
pub type Events = [Option<u64>; EVENTS.len()];

pub fn read(tree: &Tree) -> Reading<Events> {
    tree.text(FILE).and_then(|text| parse(&text))
}

fn parse(text: &str) -> Reading<Events> {
    let mut events: Events = [None; EVENTS.len()];
    for line in text.lines() {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        let Some(event) = EVENTS.iter().position(|event| (event.counts)(name)) else { continue };
        let Ok(value) = value.trim().parse::<u64>() else {
            return Reading::Unknown(format!("{FILE}: {name} is not a number"));
        };
        events[event] = Some(events[event].unwrap_or(0).saturating_add(value));
    }
    Reading::Value(events)
}

pub fn write(evidence: &mut Evidence, before: &Reading<Events>, after: &Reading<Events>) {
    for (index, event) in EVENTS.iter().enumerate() {
        let growth = both(before, after, |before, after| match (before[index], after[index]) {
            (Some(before), Some(after)) => grown(&format!("{FILE}: {}", event.name), before, after),
            _ => Reading::Unknown(format!("{FILE}: no {}: {}", event.name, event.lacking)),
        });
        evidence.put_reading(event.key, growth.map(|count| count as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_count_too() {
        let text = "pgscan_direct_dma 1\npgscan_direct_normal 20\npgscan_direct_throttle 400\nthp_split 5\n";
        let events = parse(text).into_value().unwrap();
        assert_eq!(events, [None, Some(21), None, None, Some(5), None]);
    }

    #[test]
    fn an_event_that_the_kernel_lacks_is_unknown() {
        let read = parse("pswpin 1\npswpout 2\n");
        let mut evidence = Evidence::default();
        write(&mut evidence, &read, &read);
        assert_eq!(evidence.get(VM_SWAPPED), Reading::Value(0.0));
        let reason = "/proc/vmstat: no numa_hint_faults: the kernel is built without CONFIG_NUMA_BALANCING";
        assert_eq!(evidence.get(VM_NUMA_HINTS).reason(), Some(reason));
    }

    #[test]
    fn a_damaged_number_is_unknown() {
        assert!(parse("pswpin x\n").reason().unwrap().contains("pswpin"));
        assert!(parse("pswpin").reason().unwrap().contains("pswpin"));
    }
}
