//! Which pages were faulted in again, from one fault in so many and from bursts in which every fault is sampled.
//! Pure.
//!
//! A page that stays is faulted in once; one that is given back and taken again, many times. Samples alone do
//! not distinguish the two: of a program that goes through many pages in turn, all pages are sampled once
//! before any is sampled twice. So pages in a *burst* are marked, and later samples are compared with them
//! (capture and recapture): a marked page that is sampled `h` times later was faulted in about `h/q` times
//! more, where a share `q` of the faults is sampled.

use std::collections::HashMap;

/// Pages that are remembered at most: some 64 MB.
const MOST: usize = 1 << 20;
/// A page with so many faults after it was marked is faulted in again and again.
const OFTEN: f64 = 3.0;

#[derive(Clone, Copy, Debug)]
struct Page {
    group: u32,
    /// Faults in bursts.
    marks: u32,
    /// Samples since it was marked.
    hits: u32,
    /// Samples.
    count: u32,
    last: u64,
}

/// A fault, of a burst or sampled.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub group: u32,
    pub thread: u32,
    pub time: u64,
    pub is_burst: bool,
}

/// Pages with faults, by address space and number.
#[derive(Debug, Default)]
pub struct Pages {
    pages: HashMap<(u32, u64), Page>,
    /// The last record of each thread: its page, and whether it is of a burst.
    last: HashMap<u32, ((u32, u64), bool)>,
}

impl Pages {
    /// Adds a fault; returns the time of the page's fault before. In a burst the kernel writes two records of a fault that is
    /// sampled, the one or the other first and microseconds apart: they are one fault.
    pub fn note(&mut self, space: u32, page: u64, touch: Touch) -> Option<u64> {
        let Touch { group, thread, time, is_burst } = touch;
        let (mark, sample) = (u32::from(is_burst), u32::from(!is_burst));
        if self.last.len() >= MOST {
            self.last.clear();
        }
        let last = self.last.insert(thread, ((space, page), is_burst));
        let is_twice = last == Some(((space, page), !is_burst));
        if let Some(page) = self.pages.get_mut(&(space, page)) {
            if is_twice {
                (page.marks, page.count) = (page.marks + mark, page.count + sample);
                return None;
            }
            let before = page.last;
            page.hits += if page.marks > 0 { sample } else { 0 };
            *page = Page { group, last: time, marks: page.marks + mark, count: page.count + sample, ..*page };
            return Some(before);
        }
        if self.pages.len() < MOST {
            self.pages.insert((space, page), Page { group, marks: mark, hits: 0, count: sample, last: time });
        }
        None
    }

    /// When a page was faulted in last, as far as is known.
    pub fn last(&self, space: u32, page: u64) -> Option<u64> {
        Some(self.pages.get(&(space, page))?.last)
    }

    /// The share (0 to 1) of refaults by group, with its standard error, where a share `q` of the faults was sampled.
    pub fn refaults(&self, q: f64) -> HashMap<u32, (f64, f64)> {
        let q = q.clamp(1e-9, 1.0);
        let mut tallies: HashMap<u32, Tally> = HashMap::new();
        for page in self.pages.values() {
            tallies.entry(page.group).or_default().add(page);
        }
        tallies.into_iter().map(|(group, tally)| (group, tally.refaults(q))).collect()
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Faults of bursts at pages that are faulted in again and again.
    often: f64,
    /// Faults of bursts at other pages.
    others: f64,
    others_pages: f64,
    /// Further faults of other pages: within bursts, and as samples.
    others_again: (f64, f64),
    /// Samples, and pages that were sampled.
    sampled: (f64, f64),
}

impl Tally {
    fn add(&mut self, page: &Page) {
        let (marks, hits) = (f64::from(page.marks), f64::from(page.hits));
        if page.count > 0 {
            self.sampled = (self.sampled.0 + f64::from(page.count), self.sampled.1 + 1.0);
        }
        if page.marks == 0 {
        } else if marks - 1.0 + hits >= OFTEN {
            self.often += marks;
        } else {
            self.others += marks;
            self.others_pages += 1.0;
            self.others_again = (self.others_again.0 + marks - 1.0, self.others_again.1 + hits);
        }
    }

    /// The error is that of the few samples that met a page again (Poisson; one more, as none may be by chance).
    fn refaults(&self, q: f64) -> (f64, f64) {
        let (samples, pages) = self.sampled;
        let marked = self.often + self.others;
        if marked == 0.0 {
            // Without bursts only pages that were sampled twice count.
            let again = samples - pages;
            return if samples > 0.0 {
                (again / samples, (again + 1.0).sqrt() / samples)
            } else {
                (0.0, 0.0)
            };
        }
        let (in_bursts, later) = self.others_again;
        let pages = self.others_pages.max(1.0);
        let others = (in_bursts + later / q) / pages;
        let off = (later + 1.0).sqrt() / q / pages / (1.0 + others).powi(2);
        let share = (self.often + self.others * others / (1.0 + others)) / marked;
        (share.clamp(0.0, 1.0), self.others * off / marked)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Faults in time: one in `period` is sampled, and the first `burst` of each `every` are recorded.
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

        /// A sample comes before the burst's record, or after it, long after.
        fn at(&mut self, page: u64) {
            let (fault, is_burst) = (self.fault, self.fault % self.every < self.burst);
            let is_sample = fault.is_multiple_of(self.period);
            let mut kinds = vec![true; usize::from(is_burst)];
            kinds.insert((fault % 2) as usize * kinds.len(), false);
            kinds.retain(|is_burst| *is_burst || is_sample);
            for (order, is_burst) in (0..).zip(kinds) {
                let touch = Touch { group: 7, thread: 1, time: fault * 10_000 + order * 9_000, is_burst };
                self.pages.note(1, page, touch);
            }
            self.fault += 1;
        }

        fn refaults(&self) -> f64 {
            self.pages.refaults(1.0 / self.period as f64)[&7].0
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
    fn many_pages_in_turn_without_a_second_sample() {
        let mut watch = Watch::new(101, 5_000, 100_000);
        (0..2_000_000).for_each(|fault| watch.at(fault % 200_000));
        assert!((0.75..=1.0).contains(&watch.refaults()), "{}", watch.refaults());
    }

    #[test]
    fn a_mixture_has_its_share() {
        let mut watch = Watch::new(53, 5_000, 100_000);
        for fault in 0..1_000_000 {
            watch.at(if fault % 2 == 0 { fault % 512 } else { 1000 + fault });
        }
        assert!((watch.refaults() - 0.5).abs() < 0.05, "{}", watch.refaults());
    }

    /// The same mixture, watched from each of its first faults on: the errors of the shares are as large as stated.
    #[test]
    fn the_error_is_that_of_the_shares() {
        let off = |first: u64| {
            let mut watch = Watch { fault: first, ..Watch::new(101, 300, 10_000) };
            // A page in five is faulted in again, once and much later.
            (0..60_000)
                .for_each(|fault| watch.at(if fault % 6 == 5 { fault / 6 * 5 % 40_000 } else { fault }));
            watch.pages.refaults(1.0 / 101.0)[&7]
        };
        let all: Vec<(f64, f64)> = (0..40).map(|first| off(first * 7)).collect();
        let mean = all.iter().map(|one| one.0).sum::<f64>() / 40.0;
        let apart = |one: &&(f64, f64)| (one.0 - mean).abs() > 2.0 * one.1;
        assert!(all.iter().filter(apart).count() <= 4, "{mean}: {all:?}");
        assert!(all.iter().all(|one| one.1 > 0.0 && one.1 < 0.5), "{all:?}");
    }

    #[test]
    fn the_fault_before_is_returned_and_address_spaces_differ() {
        let mut pages = Pages::default();
        let touch = |thread, time, is_burst| Touch { group: 0, thread, time, is_burst };
        assert_eq!(pages.note(1, 6, touch(1, 1, false)), None);
        assert_eq!(pages.note(1, 6, touch(1, 2, false)), Some(1));
        assert_eq!(pages.note(2, 6, touch(1, 3, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 4, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 90_000, true)), None, "the same fault");
        assert_eq!(pages.note(1, 7, touch(1, 90_001, true)), None);
        assert_eq!(pages.note(1, 7, touch(1, 190_000, false)), None, "the same fault, in the other order");
        assert_eq!(pages.note(1, 7, touch(2, 190_001, true)), Some(90_001), "another thread's");
        assert_eq!(pages.refaults(0.1)[&0].0, 1.0 / 3.0, "one of three in the burst");
        assert_eq!(pages.note(1, 5, touch(1, 300_000, false)), Some(4));
    }
}
