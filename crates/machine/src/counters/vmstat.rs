//! /proc/vmstat: events of the whole machine's memory management.

use figure::evidence::{
    Key, VM_COMPACT_STALL, VM_DEMOTED, VM_DIRECT_SCAN, VM_NUMA_HINTS, VM_NUMA_MIGRATED, VM_SWAPPED,
    VM_THP_SPLIT,
};
use figure::{Evidence, Reading};

use super::change::{both, grown};
use crate::Tree;

const FILE: &str = "/proc/vmstat";

struct Event {
    key: Key<f64>,
    name: &'static str,
    /// A kernel that is built without this does not count the event.
    requires: &'static str,
    /// Whether another line counts, too.
    counts_too: fn(&str) -> bool,
}

const fn event(key: Key<f64>, name: &'static str, requires: &'static str) -> Event {
    Event { key, name, requires, counts_too: |_| false }
}

const EVENTS: [Event; 7] = [
    Event {
        counts_too: |name| matches!(name, "pswpin" | "pswpout"),
        ..event(VM_SWAPPED, "pswpin and pswpout", "swap or without event counters")
    },
    Event {
        // Before Linux 4.8 there was one per zone, such as pgscan_direct_normal. pgscan_direct_throttle
        // counts waits, not pages.
        counts_too: |name| name.starts_with("pgscan_direct_") && name != "pgscan_direct_throttle",
        ..event(VM_DIRECT_SCAN, "pgscan_direct", "event counters")
    },
    event(VM_NUMA_MIGRATED, "numa_pages_migrated", "CONFIG_NUMA_BALANCING"),
    event(VM_NUMA_HINTS, "numa_hint_faults", "CONFIG_NUMA_BALANCING"),
    Event {
        // Before Linux 4.5.
        counts_too: |name| name == "thp_split",
        ..event(VM_THP_SPLIT, "thp_split_page", "CONFIG_TRANSPARENT_HUGEPAGE")
    },
    event(VM_COMPACT_STALL, "compact_stall", "CONFIG_COMPACTION"),
    Event {
        // Since Linux 5.15 by kswapd and by direct reclaim; others came later.
        counts_too: |name| name.starts_with("pgdemote_"),
        ..event(VM_DEMOTED, "pgdemote_kswapd", "memory tiers")
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
        let counts = |event: &Event| event.name == name || (event.counts_too)(name);
        let Some(event) = EVENTS.iter().position(counts) else { continue };
        let Ok(value) = value.trim().parse::<u64>() else {
            return Reading::Unknown(format!("{FILE}: {name} is not a number"));
        };
        events[event] = Some(events[event].unwrap_or(0).saturating_add(value));
    }
    Reading::Value(events)
}

pub fn write(evidence: &mut Evidence, before: &Reading<Events>, after: &Reading<Events>) {
    for (index, Event { key, name, requires, .. }) in EVENTS.iter().enumerate() {
        let growth = both(before, after, |before, after| match (before[index], after[index]) {
            (Some(before), Some(after)) => grown(&format!("{FILE}: {name}"), before, after),
            _ => Reading::Unknown(format!("{FILE}: no {name}: the kernel is built without {requires}")),
        });
        evidence.put_reading(*key, growth.map(|count| count as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_count_too() {
        let text = "pgscan_direct_dma 1\npgscan_direct_normal 20\npgscan_direct_throttle 400\nthp_split 5\n\
            pgdemote_kswapd 30\npgdemote_direct 7\n";
        let events = parse(text).into_value().unwrap();
        assert_eq!(events, [None, Some(21), None, None, Some(5), None, Some(37)]);
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
