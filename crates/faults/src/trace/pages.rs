//! Which pages were faulted in, and which again: from one fault in so many, and from bursts in which every fault is recorded. Pure.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::refaults::{Records, RefaultShare, Tally};

/// Pages that are remembered at most: some 50 MB.
const MOST: usize = 900_000;
/// Samples of a page show two faults only so many nanoseconds apart: those of a window ([`windows`](super::windows)) are not independent.
const APART: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    group: u32,
    last: u64,
    records: Records,
}

impl Page {
    /// Adds a fault, `is_twice` if its other record came just before.
    fn add(&mut self, touch: Touch, is_twice: bool) {
        if touch.is_burst {
            self.records.mark(is_twice);
        } else {
            self.records.sample(touch.weight as f32, touch.time >= self.last.saturating_add(APART), is_twice);
        }
    }
}

/// A fault, of a burst or sampled.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub group: u32,
    pub thread: u32,
    pub time: u64,
    /// How many faults a sample stands for.
    pub weight: u64,
    pub is_burst: bool,
}

/// Pages with faults, by address space and number.
#[derive(Debug, Default)]
pub struct Pages {
    pages: HashMap<(u32, u64), Page>,
    /// How often half of them were forgotten: those left are a sample, by a hash.
    halved: u32,
    /// The last record of each thread: its page, and whether it is of a burst.
    last: HashMap<u32, ((u32, u64), bool)>,
}

impl Pages {
    /// Adds a fault; returns the time of the page's fault before. In a burst the kernel writes two records of a fault that is
    /// sampled, the one or the other first and microseconds apart: they are one fault.
    pub fn note(&mut self, space: u32, page: u64, touch: Touch) -> Option<u64> {
        let Touch { group, thread, time, is_burst, .. } = touch;
        if self.last.len() >= MOST {
            self.last.clear();
        }
        let last = self.last.insert(thread, ((space, page), is_burst));
        let is_twice = last == Some(((space, page), !is_burst));
        if !self.is_remembered(space, page) {
            return None;
        }
        let page = match self.pages.entry((space, page)) {
            Entry::Vacant(vacant) => vacant.insert(Page::default()),
            Entry::Occupied(page) => page.into_mut(),
        };
        let before = page.records.are_some().then_some(page.last);
        page.add(touch, is_twice);
        if is_twice {
            return None;
        }
        (page.group, page.last) = (group, time);
        if self.pages.len() > MOST {
            self.halve();
        }
        before
    }

    /// By a hash: of pages in turn, and of each block, the same share (Knuth, The Art of Computer Programming, section 6.4).
    fn is_remembered(&self, space: u32, page: u64) -> bool {
        let hash = (page ^ u64::from(space) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).leading_zeros() >= self.halved
    }

    fn halve(&mut self) {
        self.halved += 1;
        let mut pages = std::mem::take(&mut self.pages);
        pages.retain(|(space, page), _| self.is_remembered(*space, *page));
        self.pages = pages;
    }

    /// When a page was faulted in last, as far as is known.
    pub fn last(&self, space: u32, page: u64) -> Option<u64> {
        Some(self.pages.get(&(space, page))?.last)
    }

    /// The share of refaults by group. `clustered`: how many samples say as much as one independent one.
    pub fn refaults(&self, clustered: f64) -> HashMap<u32, RefaultShare> {
        let mut tallies: HashMap<u32, Tally> = HashMap::new();
        for page in self.pages.values() {
            tallies.entry(page.group).or_default().add(page.records);
        }
        tallies.into_iter().map(|(group, tally)| (group, tally.refaults(clustered))).collect()
    }
}

#[cfg(test)]
mod unit {
    use std::collections::HashSet;

    use figure::stats::Random;

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
                let touch = Touch {
                    group: 7,
                    thread: 1,
                    time: fault * 10_000 + order * 9_000,
                    weight: self.period,
                    is_burst,
                };
                self.pages.note(1, page, touch);
            }
            self.fault += 1;
        }

        fn refaults(&self) -> f64 {
            self.pages.refaults(1.0)[&7].value
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
    fn bursts_at_other_times_than_most_faults() {
        // The only burst is at the end of a program, of pages that it had before.
        let mut end = Watch { fault: 800_000, ..Watch::new(1009, 5_000, 1_000_000) };
        (0..203_000).for_each(|fault| end.at(fault % 20_000));
        assert!(end.refaults() > 0.85, "{}", end.refaults());
        // Or it is of the program's start, before it goes through its pages again and again.
        let mut start = Watch::new(101, 500, 1_000_000);
        (0..500).for_each(|page| start.at(100_000 + page));
        let mut random = Random::new(1);
        (0..200_000).for_each(|_| start.at(random.index(4096) as u64));
        assert!(start.refaults() > 0.95, "{}", start.refaults());
    }

    #[test]
    fn pages_beyond_those_that_are_remembered() {
        let mut watch = Watch::new(101, 20_000, 40_000);
        // Two faults of five are growth.
        let mut random = Random::new(1);
        for fault in 0..6_000_000 {
            watch.at(if fault % 5 < 2 { 40_000 + fault } else { random.index(40_000) as u64 });
        }
        assert!(watch.pages.pages.len() <= MOST && watch.pages.halved > 0);
        assert!((watch.refaults() - 0.6).abs() < 0.03, "{}", watch.refaults());
    }

    #[test]
    fn samples_of_one_window_are_no_pair() {
        let share = |apart: u64| {
            let mut pages = Pages::default();
            for (page, turn) in (0..40).flat_map(|page| [(page, 0), (page, 1)]) {
                let time = page * 1_000_000_000 + turn * apart;
                pages.note(1, page, Touch { group: 7, thread: 1, time, weight: 1000, is_burst: false });
            }
            pages.refaults(1.0)[&7].value
        };
        assert_eq!(share(1_000_000), 0.0);
        assert!(share(100_000_000) > 0.99);
    }

    /// As an interpreter that starts, and then goes through an array again and again: a loop of as many faults as samples.
    #[test]
    fn samples_in_step_with_a_loop() {
        for pages in [1140, 1146, 1160, 2300] {
            let mut watch = Watch::new(127, 2_000, 40_000);
            (0..1500).for_each(|page| watch.at(100_000 + page));
            (0..pages * 120).for_each(|fault| watch.at(fault % pages));
            let share = 1.0 - (1500.0 + pages as f64) / (1500.0 + pages as f64 * 120.0);
            assert!((watch.refaults() - share).abs() < 0.02, "{pages}: {} for {share}", watch.refaults());
        }
    }

    #[test]
    fn each_page_has_a_first_touch() {
        let mut watch = Watch::new(1, 0, 10_000);
        for page in 0..5000_u64 {
            (0..if page % 4 == 0 { 3 } else { 1 }).for_each(|_| watch.at(page));
            watch.fault += 3000;
        }
        assert!(watch.refaults() <= 1.0 - 5000.0 / 7500.0 + 1e-9, "{}", watch.refaults());
    }

    #[test]
    fn few_pairs_have_a_wide_interval() {
        for pages in [15, 19, 20, 25] {
            let mut all = Pages::default();
            let mut note = |page, time| {
                all.note(1, page, Touch { group: 7, thread: 1, time, weight: 1000, is_burst: false });
            };
            (0..1000).for_each(|page| note(page, page));
            (0..pages).for_each(|page| note(page, 1_000_000_000 + page));
            let RefaultShare { value, less, more } = all.refaults(1.0)[&7];
            assert!(value - 2.0 * less < 0.05, "{pages}: {value} {less}");
            assert!(value + 2.0 * more > 0.93, "{pages}: {value} {more}");
        }
    }

    #[test]
    fn a_mixture_has_its_share() {
        let mut watch = Watch::new(53, 5_000, 100_000);
        for fault in 0..1_000_000 {
            watch.at(if fault % 2 == 0 { fault % 512 } else { 1000 + fault });
        }
        assert!((watch.refaults() - 0.5).abs() < 0.05, "{}", watch.refaults());
    }

    /// A page in five is faulted in again, once and much later, watched from each of its first faults on: the errors are as large as stated.
    #[test]
    fn the_error_is_that_of_the_shares() {
        let page = |fault: u64| if fault % 6 == 5 { fault / 6 * 5 % 40_000 } else { fault };
        let off = |first: u64| {
            let mut watch = Watch { fault: first, ..Watch::new(101, 300, 10_000) };
            (0..60_000).for_each(|fault| watch.at(page(fault)));
            watch.pages.refaults(1.0)[&7]
        };
        let truth = 1.0 - (0..60_000).map(page).collect::<HashSet<_>>().len() as f64 / 60_000.0;
        let all: Vec<RefaultShare> = (0..40).map(|first| off(first * 7)).collect();
        assert!(all.iter().filter(|one| !one.holds(truth)).count() <= 4, "{truth}: {all:?}");
        assert!(all.iter().all(|one| one.less > 0.0 && one.more > 0.0 && one.less < 0.5), "{all:?}");
    }

    impl RefaultShare {
        /// Whether two errors reach a share.
        fn holds(&self, share: f64) -> bool {
            (self.value - 2.0 * self.less..=self.value + 2.0 * self.more).contains(&share)
        }
    }

    /// How a program goes through its pages.
    #[derive(Clone, Copy, Debug)]
    enum Order {
        /// Through so many, at random.
        Random(u64),
        /// Through so many, one after the other.
        Turns(u64),
        /// Through 200, at random, and after 2000 faults through the next 200.
        Moves,
    }

    /// The pages of 200 000 faults. So many per cent are first touches of further pages.
    fn mixture(growth: usize, order: Order, random: &mut Random) -> Vec<u64> {
        let page = |fault: u64| match (random.index(100) < growth, order) {
            (true, _) => 1_000_000 + fault,
            (false, Order::Random(pages)) => random.index(pages as usize) as u64,
            (false, Order::Turns(pages)) => fault % pages,
            (false, Order::Moves) => 500_000 + fault / 2000 * 200 + random.index(200) as u64,
        };
        (0..200_000).map(page).collect()
    }

    #[test]
    fn the_interval_holds_the_share_of_a_mixture() {
        let mut random = Random::new(3);
        let (mut missed, mut all) = (Vec::new(), 0);
        let orders =
            [300, 5000, 60_000].into_iter().flat_map(|pages| [Order::Random(pages), Order::Turns(pages)]);
        let orders: Vec<Order> = orders.chain([Order::Moves]).collect();
        for (growth, order) in
            [0, 30, 70, 100].iter().flat_map(|growth| orders.iter().map(move |order| (*growth, *order)))
        {
            let faults = mixture(growth, order, &mut random);
            let truth = 1.0 - faults.iter().collect::<HashSet<_>>().len() as f64 / 200_000.0;
            // Of each 23 459 faults so many are in a burst.
            for burst in [400, 4000, 12_000, 23_459] {
                let mut watch = Watch::new(97, burst, 23_459);
                faults.iter().for_each(|page| watch.at(*page));
                let share = watch.pages.refaults(1.0)[&7];
                let case = format!("{growth} % growth, {order:?}, {burst}: {share:?}, in truth {truth}");
                all += 1;
                if burst == 23_459 {
                    assert!((share.value - truth).abs() < 1e-9 && share.less + share.more == 0.0, "{case}");
                } else if !share.holds(truth) {
                    missed.push(case);
                }
            }
        }
        assert!(missed.len() * 20 <= all, "{} of {all}:\n{}", missed.len(), missed.join("\n"));
    }

    #[test]
    fn the_fault_before_is_returned_and_address_spaces_differ() {
        let mut pages = Pages::default();
        let touch = |thread, time, is_burst| Touch { group: 0, thread, time, weight: 10, is_burst };
        assert_eq!(pages.note(1, 6, touch(1, 1, false)), None);
        assert_eq!(pages.note(1, 6, touch(1, 2, false)), Some(1));
        assert_eq!(pages.note(2, 6, touch(1, 3, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 4, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 90_000, true)), None, "the same fault");
        assert_eq!(pages.note(1, 7, touch(1, 90_001, true)), None);
        assert_eq!(pages.note(1, 7, touch(1, 190_000, false)), None, "the same fault, in the other order");
        assert_eq!(pages.note(1, 7, touch(2, 190_001, true)), Some(90_001), "another thread's");
        let share = pages.refaults(1.0)[&0].value;
        assert!((share - 1.0 / 3.0).abs() < 1e-9, "one of three in the burst: {share}");
        assert_eq!(pages.note(1, 5, touch(1, 300_000, false)), Some(4));
    }
}
