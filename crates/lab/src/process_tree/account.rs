//! Sums the usage of processes over successive readings of their counters. Pure.
//!
//! A process is identified by its id and start time, because ids are reused. When a parent waits for a
//! process, the kernel adds its usage to the parent's. If no process waits (SIGCHLD ignored) or the parent is not
//! read, the usage is stored here.

use std::collections::BTreeMap;

use procfs_core::process::Stat;

use super::usage::Usage;

/// A process: its id and its start time in clock ticks since boot.
pub type Identity = (i32, u64);

pub fn identity(stat: &Stat) -> Identity {
    (stat.pid, stat.starttime)
}

#[derive(Clone, Debug, Default)]
pub struct UsageTotals {
    /// Usage of each process at the last reading: with the children that it waited for, and of these alone.
    live: BTreeMap<Identity, (Usage, Usage)>,
    /// Usage of processes that were gone at the last reading. A parent may since have waited for them.
    pending: Usage,
    /// Usage of processes that no parent waited for.
    lost: Usage,
    total: Usage,
}

impl UsageTotals {
    /// Takes the counters of all processes of now. Returns the usage so far, which never falls, and the RSS
    /// of now.
    pub fn take(&mut self, stats: &[Stat]) -> Usage {
        let entry =
            |stat: &Stat| (identity(stat), (Usage::of_process(stat), Usage::of_waited_children(stat)));
        let now: BTreeMap<Identity, (Usage, Usage)> = stats.iter().map(entry).collect();
        let waited = now.iter().fold(Usage::default(), |sum, (process, (_, waited))| {
            let before = self.live.get(process).map_or_else(Usage::default, |(_, before)| *before);
            sum.plus(&waited.since(&before))
        });
        let gone = self.live.iter().filter(|(process, _)| !now.contains_key(*process));
        let gone =
            gone.fold(Usage::default(), |sum, (_, (used, _))| sum.plus(&Usage { resident: 0.0, ..*used }));
        self.lost = self.lost.plus(&self.pending.since(&waited));
        self.pending = gone.since(&waited.since(&self.pending));
        let present = now.values().fold(Usage::default(), |sum, (used, _)| sum.plus(used));
        self.total = present.plus(&self.lost).plus(&self.pending).at_least(&self.total);
        self.live = now;
        self.total
    }
}

#[cfg(test)]
mod unit {
    use std::io::Cursor;

    use procfs_core::FromRead;
    use proptest::prelude::*;

    use super::*;

    /// A process with minor faults of itself, and of the children that it waited for.
    fn stat(pid: i32, start: u64, faults: u64, waited: u64) -> Stat {
        let text = format!(
            "{pid} (a b) S 1 1 1 0 -1 0 {faults} {waited} 0 0 0 0 0 0 20 0 1 0 {start} 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0"
        );
        Stat::from_read(Cursor::new(text)).unwrap()
    }

    #[test]
    fn a_reused_id_is_another_process() {
        let mut account = UsageTotals::default();
        assert_eq!(account.take(&[stat(1, 5, 10, 0), stat(2, 6, 1000, 0)]).minor, 1010.0);
        // No parent waited for it.
        assert_eq!(account.take(&[stat(1, 5, 12, 0), stat(2, 9, 30, 0)]).minor, 12.0 + 1000.0 + 30.0);
        assert_eq!(account.take(&[stat(1, 5, 12, 0), stat(2, 9, 50, 0)]).minor, 12.0 + 1000.0 + 50.0);
    }

    #[test]
    fn what_a_parent_waited_for_counts_once() {
        let mut account = UsageTotals::default();
        account.take(&[stat(1, 5, 10, 0), stat(2, 6, 1000, 0)]);
        // The parent was read before it waited for the child, the child afterwards.
        assert_eq!(account.take(&[stat(1, 5, 10, 0)]).minor, 1010.0);
        assert_eq!(account.take(&[stat(1, 5, 10, 1003)]).minor, 1013.0);
        assert_eq!(account.take(&[stat(1, 5, 11, 1003)]).minor, 1014.0);
    }

    proptest! {
        /// Children come and go, waited for or not. Nothing is counted twice, and only usage after the last
        /// reading is missing.
        #[test]
        fn nothing_is_lost_and_nothing_counted_twice(steps in prop::collection::vec((0..3u8, 0..4usize, 0..500u64), 1..60)) {
            let (mut account, mut waited, mut ignored, mut next) = (UsageTotals::default(), 0, 0, 0);
            let mut children: Vec<(i32, u64, u64)> = Vec::new();
            for (what, which, faults) in steps {
                match what {
                    0 if children.len() < 4 => {
                        // Ids are reused.
                        let number = (2..).find(|number| children.iter().all(|child| child.0 != *number)).unwrap();
                        next += 1;
                        children.push((number, next, faults));
                    }
                    1 if !children.is_empty() => {
                        let gone = children.remove(which % children.len());
                        if faults % 2 == 0 { waited += gone.2 } else { ignored += gone.2 }
                    }
                    _ => children.iter_mut().for_each(|child| child.2 += faults),
                }
                let mut stats = vec![stat(1, 0, 0, waited)];
                stats.extend(children.iter().map(|(number, start, faults)| stat(*number, *start, *faults, 0)));
                let truth: u64 = children.iter().map(|child| child.2).sum::<u64>() + waited + ignored;
                prop_assert_eq!(account.take(&stats).minor, truth as f64);
            }
        }
    }
}
