//! Entries into idle states: /sys/devices/system/cpu/cpuN/cpuidle (Documentation/admin-guide/pm/cpuidle.rst).
//!
//! Not part of the [`Watch`](super::Watch): it reads some files per CPU, and matters only if tasks sleep.

use std::collections::BTreeMap;

use figure::evidence::{IDLE_ENTRIES, IDLE_STATES};
use figure::{CpuList, Evidence, Reading};

use super::change::{both, grown};
use crate::Tree;

#[derive(Clone, Debug)]
pub struct Idle {
    tree: Tree,
    /// Name of a state and path of its counter, for each state of each CPU; or why there is none.
    files: Reading<Vec<(String, String)>>,
}

/// Name of a state and entries so far, for each state of each CPU.
pub type Entries = Reading<Vec<(String, u64)>>;

impl Idle {
    pub fn new(tree: &Tree, cpus: &CpuList) -> Idle {
        let mut files = Vec::new();
        for cpu in cpus.iter() {
            let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
            let before = files.len();
            for state in (0..).map(|state| format!("{directory}/state{state}")) {
                let Reading::Value(name) = tree.text(format!("{state}/name")) else { break };
                files.push((name, format!("{state}/usage")));
            }
            if files.len() == before {
                let reason = format!(
                    "{directory}: no idle states are shown (a hypervisor that does not pass them on, or no cpuidle)"
                );
                return Idle { tree: tree.clone(), files: Reading::Unknown(reason) };
            }
        }
        Idle { tree: tree.clone(), files: Reading::Value(files) }
    }

    pub fn read(&self) -> Entries {
        self.files.clone().and_then(|files| {
            files.into_iter().map(|(name, path)| self.tree.number(path).map(|count| (name, count))).collect()
        })
    }
}

pub fn write(evidence: &mut Evidence, before: &Entries, after: &Entries) {
    let growth: Entries = both(before, after, |before, after| {
        // Compares each CPU by itself, so that the sum cannot hide a counter that was reset.
        let each = before.iter().zip(after).map(|((name, before), (_, after))| {
            grown(name, *before, *after).map(|count| (name.clone(), count))
        });
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        each.collect::<Reading<Vec<_>>>().map(|counts| {
            for (name, count) in counts {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(count);
            }
            sums.into_iter().collect()
        })
    });
    let sum = growth.clone().map(|entries| entries.iter().map(|(_, count)| *count as f64).sum());
    let by_state = growth.map(|entries| {
        let states: Vec<String> = entries.iter().map(|(name, count)| format!("{name} {count}")).collect();
        states.join(", ")
    });
    evidence.put_reading(IDLE_ENTRIES, sum);
    evidence.put_reading(IDLE_STATES, by_state);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(usage: &[(u32, u32, u64)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (cpu, state, count) in usage {
            let directory = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}"));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("name"), ["POLL\n", "C1\n"][*state as usize]).unwrap();
            std::fs::write(directory.join("usage"), format!("{count}\n")).unwrap();
        }
        root
    }

    #[test]
    fn states_are_summed_over_the_cpus() {
        let root = machine(&[(0, 0, 5), (0, 1, 100), (1, 0, 0), (1, 1, 50), (2, 1, 7)]);
        let idle = Idle::new(&Tree::at(root.path()), &"0-1".parse().unwrap());
        let before = idle.read();
        std::fs::write(root.path().join("sys/devices/system/cpu/cpu1/cpuidle/state1/usage"), "58\n").unwrap();
        let mut evidence = Evidence::default();
        write(&mut evidence, &before, &idle.read());
        assert_eq!(evidence.get(IDLE_ENTRIES), Reading::Value(8.0));
        assert_eq!(evidence.get(IDLE_STATES), Reading::Value("C1 8, POLL 0".to_owned()));
    }

    #[test]
    fn huge_counters_do_not_panic() {
        let root = machine(&[(0, 0, u64::MAX), (1, 0, 5)]);
        let read = Idle::new(&Tree::at(root.path()), &"0-1".parse().unwrap()).read();
        let poll = || "POLL".to_owned();
        assert_eq!(read, Reading::Value(vec![(poll(), u64::MAX), (poll(), 5)]));
        let mut evidence = Evidence::default();
        write(
            &mut evidence,
            &Reading::Value(vec![(poll(), 0); 2]),
            &Reading::Value(vec![(poll(), u64::MAX); 2]),
        );
        assert!(evidence.get(IDLE_ENTRIES).value().is_some_and(|sum| *sum > 1e19));
    }

    #[test]
    fn a_counter_that_was_reset_is_unknown() {
        let root = machine(&[(0, 0, 5), (1, 0, 90)]);
        let idle = Idle::new(&Tree::at(root.path()), &"0-1".parse().unwrap());
        let before = idle.read();
        for (cpu, count) in [(0, "205\n"), (1, "3\n")] {
            let usage = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state0/usage");
            std::fs::write(root.path().join(usage), count).unwrap();
        }
        let mut evidence = Evidence::default();
        write(&mut evidence, &before, &idle.read());
        assert_eq!(evidence.get(IDLE_ENTRIES).reason(), Some("POLL went backwards: 90, then 3"));
        assert!(evidence.get(IDLE_STATES).reason().is_some());
    }

    #[test]
    fn missing_states_are_unknown_not_zero() {
        let root = machine(&[(0, 0, 5)]);
        let read = Idle::new(&Tree::at(root.path()), &"0-1".parse().unwrap()).read();
        assert!(read.reason().unwrap().contains("cpu1/cpuidle: no idle states"), "{read:?}");
    }
}
