//! By how much a process's memory grew, by what /proc says from time to time: bounds for how many of its faults brought memory that
//! stays. Pure.

use suites::faults::Memory;

/// What a process has in memory, in bytes, when that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// The most that it has had at once (VmHWM).
    pub most: u64,
    /// Of no file (RssAnon).
    pub anonymous: u64,
    /// Of files, and shared memory (RssFile, RssShmem).
    pub others: u64,
    /// What all processes took by huge pages since the reading before (thp_fault_alloc); 0 if its program has none.
    pub huge: u64,
}

/// The growth of one process.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// Faults since the last reading, by weight: at memory of its own, and at private mappings of files, where a write brings such memory.
    touched: f64,
    of_files: f64,
    /// The most bytes that it has had at once, and about how many of its own; those of files and shared memory at the last reading.
    most: u64,
    own: u64,
    others: u64,
    /// The most bytes of no file that were read; `None` before the first reading of a process that has not begun here.
    anonymous: Option<u64>,
    grown: Matching,
    stayed: Matching,
}

/// Faults since the last reading, and at most and at least how many of them brought memory that the process did not have before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brought {
    pub faults: f64,
    pub grown: f64,
    pub stayed: f64,
}

impl Growth {
    /// Of a process that begins.
    pub fn from_nothing() -> Growth {
        Growth { anonymous: Some(0), ..Growth::default() }
    }

    /// The most bytes of no file that it is known to have had.
    pub fn most(&self) -> u64 {
        self.anonymous.unwrap_or(self.own)
    }

    /// Adds faults at this kind of memory.
    pub fn add(&mut self, memory: Memory, faults: f64) {
        match memory {
            Memory::File | Memory::Dax | Memory::Shared | Memory::Userfault => {}
            Memory::PrivateFile => self.of_files += faults,
            _ => self.touched += faults,
        }
    }

    /// Takes a reading. Since the last one, faults brought at most as many pages as the peak of the process's own memory grew by: VmHWM
    /// without files and shared memory, as if these had been there at the peak. A peak that did not grow says nothing of this time.
    /// Faults brought at least as many pages as RssAnon grew by. Left out are huge pages, which come with one fault each, and
    /// pages of private files, which a write copies.
    pub fn take(&mut self, now: Resident, page: f64) -> Brought {
        let (faults, of_files) = (std::mem::take(&mut self.touched), std::mem::take(&mut self.of_files));
        let others = now.others.max(std::mem::replace(&mut self.others, now.others));
        let peak = if now.most > self.most { now.most.saturating_sub(others) } else { 0 };
        let own = self.own.max(peak).max(now.anonymous);
        let more = own - std::mem::replace(&mut self.own, own);
        self.most = self.most.max(now.most);
        let before = self.anonymous.unwrap_or(now.anonymous);
        self.anonymous = Some(before.max(now.anonymous));
        let small = now.anonymous.saturating_sub(before).saturating_sub(now.huge) as f64 / page;
        Brought {
            faults,
            grown: self.grown.take(faults, more as f64 / page),
            stayed: self.stayed.take(faults, (small - of_files).max(0.0)),
        }
    }
}

/// Faults and growth, in pages, between two readings that do not match. Samples are of chance, and a reading is not of their
/// moment: what is left matches what comes until the next reading.
#[derive(Clone, Copy, Debug, Default)]
struct Matching {
    faults: f64,
    growth: f64,
}

impl Matching {
    /// Takes what has come since the last reading; returns how many faults brought new memory. Of growth without faults, as by huge
    /// pages, no more is left than there were faults.
    fn take(&mut self, faults: f64, growth: f64) -> f64 {
        let matched = (self.faults + faults).min(self.growth + growth);
        let left = |old: f64, new: f64| (old + new - matched).clamp(0.0, new);
        *self = Matching { faults: left(self.faults, faults), growth: left(self.growth, growth).min(faults) };
        matched
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn files_are_no_growth_of_the_process_s_own_memory() {
        // Pages: the most, of no file, of files; faults, and how many of them brought memory.
        let mut growth = Growth::from_nothing();
        let mut take = |most, anonymous, others, faults| {
            growth.add(Memory::Heap, faults);
            growth.take(Resident { most, anonymous, others, huge: 0 }, 1.0).grown
        };
        assert_eq!(take(2000, 200, 1800, 300.0), 200.0, "a program starts");
        assert_eq!(take(7000, 1700, 3300, 4000.0), 3500.0, "and gives pages back");
        assert_eq!(take(7000, 3200, 3300, 2000.0), 0.0, "it takes them again");
        assert_eq!(take(9000, 5700, 3300, 2500.0), 2000.0);
        assert_eq!(take(9100, 5800, 300, 500.0), 100.0, "it unmaps files");
        assert_eq!(take(9100, 8000, 300, 2500.0), 2200.0);
    }

    #[test]
    fn pages_of_files_that_are_written_are_no_memory_that_others_brought() {
        let stayed = |memory| {
            let mut growth = Growth::from_nothing();
            growth.add(memory, 300.0);
            growth.add(Memory::Heap, 1000.0);
            growth.take(Resident { most: 900, anonymous: 700, others: 200, huge: 0 }, 1.0).stayed
        };
        assert_eq!([Memory::PrivateFile, Memory::Shared].map(stayed), [400.0, 700.0]);
    }

    #[test]
    fn growth_is_matched_with_faults_of_the_next_reading() {
        let grown = |readings: &[(f64, f64)]| {
            let mut matching = Matching::default();
            readings.iter().map(|(faults, growth)| matching.take(*faults, *growth)).sum::<f64>()
        };
        assert_eq!(grown(&[(500.0, 500.0), (500.0, 0.0), (500.0, 0.0)]), 500.0, "churn");
        assert_eq!(grown(&[(500.0, 0.0), (0.0, 500.0)]), 500.0, "read late");
        assert_eq!(
            grown(&[(100.0, 130.0), (130.0, 100.0), (90.0, 100.0), (110.0, 100.0)]),
            430.0,
            "by chance"
        );
        assert_eq!(grown(&[(500.0, 0.0), (10.0, 0.0), (0.0, 500.0)]), 10.0, "too late");
        assert_eq!(grown(&[(10.0, 5000.0), (500.0, 0.0)]), 20.0, "huge pages");
    }
}
