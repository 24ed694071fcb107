//! Which pages were faulted in again, from one fault in so many and from bursts in which every fault is seen. Pure.
//!
//! A page that stays is faulted in once; one that is given back and taken again, many times. One fault in so many does not tell the
//! two apart by itself: a program that goes through many pages in turn meets the period, and all pages are seen once before any
//! is seen twice. So pages that a *burst* saw are marked, and later samples are held against them (capture and recapture):
//! a marked page that is sampled `h` times later was faulted in about `h/q` times more, where a share `q` of the faults is sampled.

use std::collections::HashMap;

/// Pages that are remembered at most: some 64 MB.
const MOST: usize = 1 << 20;
/// Nanoseconds within which a burst's record of a page and a sample of it are of one and the same fault.
const TOGETHER: u64 = 5_000;
/// A page that was met so often after it had been marked is faulted in again and again.
const OFTEN: f64 = 3.0;

/// What is known of a page.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whose it is.
    group: u32,
    /// How often a burst saw it.
    marks: u32,
    /// How often it was sampled since it was marked.
    hits: u32,
    /// How often it was sampled.
    count: u32,
    /// When it was seen last.
    last: u64,
}

/// Pages that were seen, by address space and number.
#[derive(Debug, Default)]
pub struct Pages {
    seen: HashMap<(u32, u64), Seen>,
}

impl Pages {
    /// Notes a fault; returns when the page had been seen before. `is_burst`: one of those of which every one is seen.
    pub fn note(&mut self, space: u32, page: u64, group: u32, time: u64, is_burst: bool) -> Option<u64> {
        let (mark, sample) = (u32::from(is_burst), u32::from(!is_burst));
        if let Some(seen) = self.seen.get_mut(&(space, page)) {
            let before = seen.last;
            if time.saturating_sub(before) < TOGETHER {
                (seen.marks, seen.count) = (seen.marks.max(mark), seen.count.max(sample));
                return None;
            }
            seen.hits += if seen.marks > 0 { sample } else { 0 };
            *seen = Seen { group, last: time, marks: seen.marks + mark, count: seen.count + sample, ..*seen };
            return Some(before);
        }
        if self.seen.len() < MOST {
            self.seen.insert((space, page), Seen { group, marks: mark, hits: 0, count: sample, last: time });
        }
        None
    }

    /// The share of each group's faults that met a page which had been faulted in before, 0 to 1, where a share `q` of the faults
    /// was sampled.
    pub fn refaults(&self, q: f64) -> HashMap<u32, f64> {
        let q = q.clamp(1e-9, 1.0);
        let mut tallies: HashMap<u32, Tally> = HashMap::new();
        for seen in self.seen.values() {
            tallies.entry(seen.group).or_default().add(seen);
        }
        tallies.into_iter().map(|(group, tally)| (group, tally.refaults(q))).collect()
    }
}

/// Sums over the pages of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Faults of bursts at pages that are faulted in again and again.
    often: f64,
    /// Faults of bursts at others.
    others: f64,
    /// How many others there are.
    others_pages: f64,
    /// How often these were faulted in again: within bursts, and as samples.
    others_again: (f64, f64),
    /// Samples, and pages that were sampled.
    sampled: (f64, f64),
}

impl Tally {
    fn add(&mut self, seen: &Seen) {
        let (marks, hits) = (f64::from(seen.marks), f64::from(seen.hits));
        if seen.count > 0 {
            self.sampled = (self.sampled.0 + f64::from(seen.count), self.sampled.1 + 1.0);
        }
        if seen.marks == 0 {
        } else if marks - 1.0 + hits >= OFTEN {
            self.often += marks;
        } else {
            self.others += marks;
            self.others_pages += 1.0;
            self.others_again = (self.others_again.0 + marks - 1.0, self.others_again.1 + hits);
        }
    }

    fn refaults(&self, q: f64) -> f64 {
        let (samples, pages) = self.sampled;
        let marked = self.often + self.others;
        if marked == 0.0 {
            // All that is left: pages sampled twice were faulted in twice.
            return if samples > 0.0 { 1.0 - pages / samples } else { 0.0 };
        }
        let (in_bursts, later) = self.others_again;
        let others = if self.others_pages > 0.0 { (in_bursts + later / q) / self.others_pages } else { 0.0 };
        ((self.often + self.others * others / (1.0 + others)) / marked).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Faults in time: one in `period` is sampled, and the first `burst` of each `every` are all seen.
    struct Watch {
        pages: Pages,
        period: u64,
        burst: u64,
        every: u64,
        fault: u64,
    }

    impl Watch {
        fn new(period: u64, burst: u64, every: u64) -> Watch {
            Watch { pages: Pages::default(), period, burst, every, fault: 0 }
        }

        fn at(&mut self, page: u64) {
            if self.fault % self.every < self.burst {
                self.pages.note(1, page, 7, self.fault * 2 * TOGETHER, true);
            }
            if self.fault.is_multiple_of(self.period) {
                self.pages.note(1, page, 7, self.fault * 2 * TOGETHER, false);
            }
            self.fault += 1;
        }

        fn refaults(&self) -> f64 {
            self.pages.refaults(1.0 / self.period as f64)[&7]
        }
    }

    #[test]
    fn growth_has_none_and_churn_is_nothing_else() {
        for period in [1, 7, 101] {
            let mut growth = Watch::new(period, 500, 10_000);
            (0..100_000).for_each(|page| growth.at(page));
            assert!(growth.refaults() < 0.01, "{}", growth.refaults());
            let mut churn = Watch::new(period, 500, 10_000);
            (0..500_000).for_each(|fault| churn.at(fault % 512));
            assert!(churn.refaults() > 0.98, "{}", churn.refaults());
        }
    }

    #[test]
    fn many_pages_in_turn_that_no_sample_meets_twice() {
        let mut watch = Watch::new(101, 5_000, 100_000);
        (0..2_000_000).for_each(|fault| watch.at(fault % 200_000));
        assert!((0.75..=1.0).contains(&watch.refaults()), "{}", watch.refaults());
    }

    #[test]
    fn a_mixture_is_told_apart() {
        let mut watch = Watch::new(53, 5_000, 100_000);
        for fault in 0..1_000_000 {
            watch.at(if fault % 2 == 0 { fault % 512 } else { 1000 + fault });
        }
        assert!((watch.refaults() - 0.5).abs() < 0.05, "{}", watch.refaults());
    }

    #[test]
    fn a_page_is_told_when_it_was_seen_before_and_spaces_are_apart() {
        let mut pages = Pages::default();
        assert_eq!(pages.note(1, 5, 0, TOGETHER, false), None);
        assert_eq!(pages.note(1, 5, 0, TOGETHER + 7, true), None, "the same fault");
        assert_eq!(pages.note(1, 6, 0, TOGETHER, false), None);
        assert_eq!(pages.note(1, 6, 0, 2 * TOGETHER, false), Some(TOGETHER));
        assert_eq!(pages.note(2, 6, 0, 3 * TOGETHER, false), None);
        assert_eq!(pages.refaults(0.1)[&0], 0.0, "the one that is marked was not met again");
    }
}
