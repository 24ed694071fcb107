//! What the kernel counts that faults are due to: pages swapped in, read again, merged, made huge. Of the control
//! group of the watched program where it counts them, else of the whole machine (/proc/vmstat).

use std::collections::BTreeMap;

use machine::Tree;
use serde::{Deserialize, Serialize};

macro_rules! counters {
    ($($(#[$about:meta])* $field:ident = $names:expr;)*) => {
        /// Counts since boot, or their growth. 0 where the kernel has no such counter: it does not do these things.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct KernelEvents {
            $($(#[$about])* pub $field: u64,)*
            /// Times that the control group met its limit (memory.events high and max; memory.failcnt).
            pub limit_met: u64,
        }

        impl KernelEvents {
            fn of(counts: &BTreeMap<String, u64>) -> KernelEvents {
                let sum = |names: &[&str]| {
                    names.iter().filter_map(|name| counts.get(*name)).fold(0u64, |sum, count| sum.saturating_add(*count))
                };
                KernelEvents { $($field: sum(&$names),)* limit_met: counts.get(LIMIT_MET).copied().unwrap_or(0) }
            }

            /// The growth since an earlier reading.
            pub fn since(&self, before: &KernelEvents) -> KernelEvents {
                KernelEvents {
                    $($field: self.$field.saturating_sub(before.$field),)*
                    limit_met: self.limit_met.saturating_sub(before.limit_met),
                }
            }
        }
    };
}

// Sources: include/linux/vm_event_item.h, mm/vmstat.c, mm/memcontrol.c (memory.stat of both versions).
counters! {
    /// NUMA hinting faults.
    numa_hints = ["numa_hint_faults"];
    /// Huge pages allocated in a fault.
    huge = ["thp_fault_alloc"];
    /// Huge pages that khugepaged, or madvise(MADV_COLLAPSE), made of small ones.
    collapsed = ["thp_collapse_alloc"];
    /// Mappings of huge pages, and huge pages, that were split into small ones.
    split = ["thp_split_pmd", "thp_split_page"];
    /// Huge pages that were split because most of them held zeros, which were freed (Linux 6.12).
    underused = ["thp_underused_split_page"];
    /// Pages swapped in: from a device, from zswap (Linux 6.9), and pages of zeros, which are not stored (6.12).
    swapped_in = ["pswpin", "zswpin", "swpin_zero"];
    /// Pages swapped out. Until the kernel needs their memory, a fault finds them in the swap cache, which no
    /// counter tells.
    swapped_out = ["pswpout", "zswpout", "swpout_zero"];
    /// Those swapped in from zswap.
    decompressed = ["zswpin"];
    /// Pages that the kernel had reclaimed and that were needed again soon: of anonymous memory, of files.
    refaulted_anonymous = ["workingset_refault_anon"];
    refaulted_files = ["workingset_refault_file"];
    /// Pages merged by KSM that were copied at a write (Linux 5.19).
    unmerged = ["cow_ksm"];
    /// Pages of madvise(MADV_FREE) that the kernel has taken.
    lazily_freed = ["pglazyfreed"];
}

const LIMIT_MET: &str = "limit met";

/// Of the whole machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineCounts {
    /// Bytes of shared memory (shmem and tmpfs).
    pub shared: u64,
    /// Page faults of all programs since it was started.
    pub faults: u64,
}

/// Where to read: fixed when a trace begins, as the program may move to another group.
#[derive(Debug, Default)]
pub struct KernelCounters {
    group: Option<(String, u8)>,
}

impl KernelCounters {
    pub fn of_process(process: Option<u32>) -> KernelCounters {
        KernelCounters {
            group: process.and_then(|process| machine::memory_group::of_process(&Tree::live(), process)),
        }
    }

    /// The counts, and those of the whole machine.
    pub fn read(&self, page: u64) -> (KernelEvents, MachineCounts) {
        let text = |path: &str| lab::proc::text(path).unwrap_or_default();
        let mut counts = parse(&text("/proc/vmstat"));
        let count = |name: &str| counts.get(name).copied().unwrap_or(0);
        let machine =
            MachineCounts { shared: count("nr_shmem").saturating_mul(page), faults: count("pgfault") };
        if let Some((directory, version)) = &self.group {
            counts.extend(parse(&text(&format!("{directory}/memory.stat"))));
            counts.insert(
                LIMIT_MET.to_owned(),
                limit_met(*version, |file| text(&format!("{directory}/{file}"))),
            );
        }
        (KernelEvents::of(&counts), machine)
    }
}

fn limit_met(version: u8, text: impl Fn(&str) -> String) -> u64 {
    if version == 1 {
        return text("memory.failcnt").trim().parse().unwrap_or(0);
    }
    let counts = parse(&text("memory.events"));
    ["high", "max"]
        .iter()
        .filter_map(|name| counts.get(*name))
        .fold(0, |sum, count| sum.saturating_add(*count))
}

/// Lines of a name and a number.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let words = text.lines().filter_map(|line| line.split_once(' '));
    words.filter_map(|(name, number)| Some((name.to_owned(), number.trim().parse().ok()?))).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    const VMSTAT: &str =
        "pswpin 7\nzswpin 5\ncow_ksm 3\nworkingset_refault_file 1000\nthp_split_pmd 2\nthp_split_page 1\n";

    #[test]
    fn the_groups_own_counts_replace_those_of_the_machine() {
        let mut counts = parse(VMSTAT);
        let machine = KernelEvents::of(&counts);
        assert_eq!((machine.swapped_in, machine.decompressed, machine.split, machine.huge), (12, 5, 3, 0));
        // memory.stat of version 1 has no pswpin (Linux 6.18).
        counts.extend(parse("workingset_refault_file 40\nworkingset_refault_anon 9\nodd line\n"));
        let group = KernelEvents::of(&counts);
        assert_eq!((group.refaulted_files, group.refaulted_anonymous, group.swapped_in), (40, 9, 12));
        assert_eq!(group.since(&machine).refaulted_anonymous, 9);
        assert_eq!(machine.since(&group).refaulted_anonymous, 0, "never below 0");
    }

    #[test]
    fn limits_of_both_versions() {
        assert_eq!(
            limit_met(1, |file| if file == "memory.failcnt" { "12\n".to_owned() } else { String::new() }),
            12
        );
        let events = |_: &str| "low 1\nhigh 20\nmax 3\noom 0\noom_kill 0\n".to_owned();
        assert_eq!(limit_met(2, events), 23);
        assert_eq!(limit_met(2, |_| String::new()), 0);
    }

    #[test]
    fn a_log_of_an_older_version_has_no_counts() {
        let events: KernelEvents = serde_json::from_str("{\"swapped_in\":3}").unwrap();
        assert_eq!(events, KernelEvents { swapped_in: 3, ..KernelEvents::default() });
    }
}
