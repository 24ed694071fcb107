//! Sorts the records of different CPUs by their times. Pure.
//!
//! Each CPU has a ring of its own, and one is drained after the other: a record that is read later may be
//! older. But all records that are older than the beginning of the drain before have been read.

use std::collections::VecDeque;

use super::record::Entry;

/// Records between the rings and the collector.
#[derive(Debug, Default)]
pub struct EventSorter {
    /// New records, in any order.
    pub unsorted: Vec<Entry>,
    pub settled: VecDeque<Entry>,
    /// When the last drain began.
    drained: u64,
}

impl EventSorter {
    /// Sorts, after a drain that began at that time, what no unread record can precede.
    pub fn settle(&mut self, began: u64) {
        self.settle_before(self.drained);
        self.drained = began;
    }

    /// Sorts what is older than this time, before which all records have been read.
    pub fn settle_before(&mut self, time: u64) {
        self.unsorted.sort_by_key(|entry| entry.time);
        let settled = self.unsorted.partition_point(|entry| entry.time < time);
        self.settled.extend(self.unsorted.drain(..settled));
    }

    /// Sorts, after the last drain, all that is left.
    pub fn conclude(&mut self) {
        self.settle_before(u64::MAX);
    }
}

#[cfg(test)]
mod unit {
    use super::super::growth::Resident;
    use super::super::record::EventKind;
    use super::*;

    fn read(sorter: &mut EventSorter, times: &[u64]) {
        let at = |time: &u64| Entry { time: *time, kind: EventKind::Resident(1, Resident::default()) };
        sorter.unsorted.extend(times.iter().map(at));
    }

    fn sorted(sorter: &mut EventSorter) -> Vec<u64> {
        sorter.settled.drain(..).map(|entry| entry.time).collect()
    }

    #[test]
    fn what_a_later_drain_may_precede_waits_for_it() {
        let mut sorter = EventSorter::default();
        // The first ring was read before 15 came into it, the second after.
        read(&mut sorter, &[3, 9, 5, 16]);
        sorter.settle(10);
        assert_eq!(sorted(&mut sorter), [0; 0], "nothing is known of what the first drain missed");
        read(&mut sorter, &[15, 22, 21]);
        sorter.settle(20);
        assert_eq!((sorter.settled.len(), sorted(&mut sorter)), (3, vec![3, 5, 9]));
        sorter.settle(30);
        assert_eq!(sorted(&mut sorter), [15, 16]);
        read(&mut sorter, &[40, 31, 25]);
        sorter.settle_before(25);
        assert_eq!(sorted(&mut sorter), [21, 22]);
        sorter.conclude();
        assert_eq!(sorted(&mut sorter), [25, 31, 40]);
    }
}
