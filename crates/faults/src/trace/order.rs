//! Records of different CPUs, brought into the order of their times. Pure.
//!
//! Each CPU has a ring of its own, and one is drained after the other: what comes out later may be older. But what is older than the
//! beginning of the drain before has been read by now, whichever ring it was in.

use std::collections::VecDeque;

use super::record::Entry;

/// Records on their way from the rings to where they are put together.
#[derive(Debug, Default)]
pub struct Order {
    /// Read, out of order.
    read: Vec<Entry>,
    /// In order.
    settled: VecDeque<Entry>,
    /// When the last drain began.
    drained: u64,
}

impl Order {
    /// Takes what is read, in whatever order.
    pub fn read(&mut self) -> &mut Vec<Entry> {
        &mut self.read
    }

    /// After a drain that began at that time: brings into order what nothing unread can precede.
    pub fn settle(&mut self, began: u64) {
        self.read.sort_by_key(|entry| entry.time);
        let known = self.read.partition_point(|entry| entry.time < self.drained);
        self.settled.extend(self.read.drain(..known));
        self.drained = began;
    }

    /// After the last drain: brings into order all that is left.
    pub fn conclude(&mut self) {
        self.read.sort_by_key(|entry| entry.time);
        self.settled.extend(self.read.drain(..));
    }

    /// How many are in order and wait.
    pub fn waiting(&self) -> usize {
        self.settled.len()
    }
}

/// Those that are in order.
impl Iterator for Order {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.settled.pop_front()
    }
}

#[cfg(test)]
mod unit {
    use super::super::record::What;
    use super::*;

    fn read(order: &mut Order, times: &[u64]) {
        let at = |time: &u64| Entry { time: *time, what: What::Peak { process: 1, bytes: 0 } };
        order.read().extend(times.iter().map(at));
    }

    fn told(order: &mut Order) -> Vec<u64> {
        order.map(|entry| entry.time).collect()
    }

    #[test]
    fn what_a_later_drain_may_precede_waits_for_it() {
        let mut order = Order::default();
        // The first ring was read before 15 came into it, the second after.
        read(&mut order, &[3, 9, 5, 16]);
        order.settle(10);
        assert_eq!(told(&mut order), [0; 0], "nothing is known of what the first drain missed");
        read(&mut order, &[15, 22, 21]);
        order.settle(20);
        assert_eq!((order.waiting(), told(&mut order)), (3, vec![3, 5, 9]));
        order.settle(30);
        assert_eq!(told(&mut order), [15, 16]);
        read(&mut order, &[40, 31]);
        order.conclude();
        assert_eq!(told(&mut order), [21, 22, 31, 40]);
    }
}
