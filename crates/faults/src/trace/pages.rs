//! Which pages were faulted in again, from one fault in so many and from bursts in which every fault is recorded.
//! Pure.
//!
//! A page that stays is faulted in once; one that is given back and taken again, many times. Two samples at a page show that it
//! was faulted in again, and the other samples at that page stand for so many faults there. Of a program that goes through many
//! pages in turn, hardly one is sampled twice. So the pages of *bursts* are compared with the samples as well (capture and
//! recapture): a marked page's other samples, before and after, stand for its other faults. Bursts are few, and may miss what a
//! program does between them. Samples may be in step with a program: of a loop that takes as many faults as there are samples, each
//! page is sampled once. So a third share is the sum of the refaults at marked pages, and of those that samples show at the others.
//!
//! All hold where pages come back about equally often. Of a mixture they show too much: the growth of memory bounds that.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Pages that are remembered at most: some 100 MB.
const MOST: usize = 1 << 20;
/// A page with so many other faults is faulted in again and again.
const OFTEN: f64 = 3.0;
/// Pairs of samples at the same page that show how often pages come back. Fewer show only that some did.
const PAIRS: f64 = 20.0;
/// Samples of a page show two faults only so many nanoseconds apart: those of a window ([`windows`](super::windows)) are not independent.
const APART: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    group: u32,
    /// Faults in bursts.
    marks: u32,
    /// Samples of faults that are not in bursts.
    hits: u32,
    /// Samples, the sum of their weights, and that of the products of each two.
    count: u32,
    weight: f32,
    products: f32,
    last: u64,
}

impl Page {
    /// Adds a fault, `is_twice` if its other record came just before.
    fn add(&mut self, touch: Touch, is_twice: bool) {
        if touch.is_burst {
            self.marks += 1;
            self.hits = self.hits.saturating_sub(u32::from(is_twice));
        } else {
            let weight = touch.weight as f32;
            self.count += 1;
            self.hits += u32::from(!is_twice);
            if touch.time >= self.last.saturating_add(APART) {
                self.products += weight * self.weight;
            }
            self.weight += weight;
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
        let is_full = self.pages.len() >= MOST;
        let page = match self.pages.entry((space, page)) {
            Entry::Vacant(_) if is_full => return None,
            Entry::Vacant(vacant) => vacant.insert(Page::default()),
            Entry::Occupied(page) => page.into_mut(),
        };
        let before = (page.marks + page.count > 0).then_some(page.last);
        page.add(touch, is_twice);
        if is_twice {
            return None;
        }
        (page.group, page.last) = (group, time);
        before
    }

    /// When a page was faulted in last, as far as is known.
    pub fn last(&self, space: u32, page: u64) -> Option<u64> {
        Some(self.pages.get(&(space, page))?.last)
    }

    /// The share (0 to 1) of refaults by group, with its standard error.
    pub fn refaults(&self) -> HashMap<u32, (f64, f64)> {
        let mut tallies: HashMap<u32, Tally> = HashMap::new();
        for page in self.pages.values() {
            tallies.entry(page.group).or_default().add(page);
        }
        tallies.into_iter().map(|(group, tally)| (group, tally.refaults())).collect()
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    bursts: Bursts,
    samples: Samples,
    /// Samples at pages that no burst marked.
    unmarked: Samples,
}

impl Tally {
    fn add(&mut self, page: &Page) {
        self.bursts.add(page);
        self.samples.add(page);
        if page.marks == 0 {
            self.unmarked.add(page);
        }
    }

    /// The largest share counts: none finds refaults where there are none. Each page that was seen had a first touch.
    fn refaults(&self) -> (f64, f64) {
        let of_sample = self.samples.of_sample();
        let all = [Some(self.samples.refaults()), self.bursts.refaults(of_sample), self.sum(of_sample)];
        let (share, off) =
            all.into_iter().flatten().max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default();
        (share.min(self.samples.most()), off)
    }

    /// The share of the refaults at marked pages, and at others, and its error.
    fn sum(&self, of_sample: f64) -> Option<(f64, f64)> {
        let all = self.samples.faults();
        let (unmarked, off) = self.unmarked.refaults();
        let of_unmarked = self.unmarked.faults() / all;
        let share = self.bursts.again / all + unmarked * of_unmarked;
        let of_hits = (self.bursts.hit_squares + of_sample.powi(2)).sqrt();
        let off = (of_hits / all).hypot(off * of_unmarked);
        (all > 0.0).then_some((share.min(1.0), off.min(1.0)))
    }
}

/// Faults of bursts.
#[derive(Clone, Copy, Debug, Default)]
struct Bursts {
    /// At pages that are faulted in again and again.
    often: f64,
    /// At other pages.
    others: f64,
    others_pages: f64,
    /// Samples of those pages, and their further faults: of bursts, and those for which the samples stand.
    others_hits: f64,
    others_again: f64,
    /// Further faults of all marked pages, and the squares of the weights of their samples.
    again: f64,
    hit_squares: f64,
}

impl Bursts {
    fn add(&mut self, page: &Page) {
        let [marks, hits, count] = [page.marks, page.hits, page.count].map(f64::from);
        if page.marks == 0 {
            return;
        }
        let weight = f64::from(page.weight) / count.max(1.0);
        let again = marks - 1.0 + hits * weight;
        self.again += again;
        self.hit_squares += hits * weight.powi(2);
        if marks - 1.0 + hits >= OFTEN {
            self.often += marks;
        } else {
            self.others += marks;
            self.others_pages += 1.0;
            self.others_hits += hits;
            self.others_again += again;
        }
    }

    /// The share, and its error: that of the few samples that met a page again (Poisson; one more, as none may be by chance). `None` without a
    /// burst.
    fn refaults(&self, of_sample: f64) -> Option<(f64, f64)> {
        let marked = self.often + self.others;
        let pages = self.others_pages.max(1.0);
        let others = self.others_again / pages;
        let off = of_sample * (self.others_hits + 1.0).sqrt() / pages / (1.0 + others).powi(2);
        let share = (self.often + self.others * others / (1.0 + others)) / marked;
        (marked > 0.0).then_some((share.min(1.0), self.others * off / marked))
    }
}

/// Samples, by the faults that they stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    number: f64,
    pages: f64,
    /// At pages that are faulted in again and again.
    often: f64,
    /// At other pages: samples, and faults.
    others: f64,
    others_faults: f64,
    /// Pairs of samples at the same other page, and the sum over all faults of the other faults at their pages.
    others_pairs: f64,
    others_again: f64,
}

impl Samples {
    fn add(&mut self, page: &Page) {
        let [count, faults, products] = [f64::from(page.count), page.weight.into(), page.products.into()];
        self.number += count;
        self.pages += f64::from(u8::from(count > 0.0));
        if count - 1.0 >= OFTEN {
            self.often += faults;
        } else {
            self.others += count;
            self.others_faults += faults;
            self.others_pairs += if products > 0.0 { count * (count - 1.0) / 2.0 } else { 0.0 };
            self.others_again += 2.0 * products;
        }
    }

    fn faults(&self) -> f64 {
        self.often + self.others_faults
    }

    /// How many faults one stands for, on average.
    fn of_sample(&self) -> f64 {
        self.faults() / self.number.max(1.0)
    }

    /// The largest share that these pages allow.
    fn most(&self) -> f64 {
        let faults = self.faults();
        if faults > 0.0 { (1.0 - self.pages / faults).max(0.0) } else { 1.0 }
    }

    /// The share, and its error, that of the pairs (Poisson, as above). Few pairs count as one refault each: at least so many there were.
    fn refaults(&self) -> (f64, f64) {
        let faults = self.faults().max(f64::MIN_POSITIVE);
        let (number, pairs) = (self.others.max(1.0), self.others_pairs);
        let others = self.others_again / self.others_faults.max(1.0);
        let of_pair = 2.0 * self.others_faults / number.powi(2);
        let all = others / (1.0 + others);
        let (share, off) = if pairs >= PAIRS {
            (all, of_pair * (pairs + 1.0).sqrt() / (1.0 + others).powi(2))
        } else {
            // Two errors reach as far as the pairs would show if they were enough.
            let least = pairs / number;
            (least, ((pairs + 1.0).sqrt() / number).max((all - least) / 2.0))
        };
        let of_others = self.others_faults / faults;
        ((self.often / faults + of_others * share).min(1.0), (of_others * off).min(1.0))
    }
}

#[cfg(test)]
mod unit {
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
            self.pages.refaults()[&7].0
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
    fn samples_of_one_window_are_no_pair() {
        let share = |apart: u64| {
            let mut pages = Pages::default();
            for (page, turn) in (0..40).flat_map(|page| [(page, 0), (page, 1)]) {
                let time = page * 1_000_000_000 + turn * apart;
                pages.note(1, page, Touch { group: 7, thread: 1, time, weight: 1000, is_burst: false });
            }
            pages.refaults()[&7].0
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
            let (share, off) = all.refaults()[&7];
            assert!(share - 2.0 * off < 0.05 || pages >= 20, "{pages}: {share} {off}");
            assert!(share + 2.0 * off > 0.93, "{pages}: {share} {off}");
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

    /// The same mixture, watched from each of its first faults on: the errors of the shares are as large as stated.
    #[test]
    fn the_error_is_that_of_the_shares() {
        let off = |first: u64| {
            let mut watch = Watch { fault: first, ..Watch::new(101, 300, 10_000) };
            // A page in five is faulted in again, once and much later.
            (0..60_000)
                .for_each(|fault| watch.at(if fault % 6 == 5 { fault / 6 * 5 % 40_000 } else { fault }));
            watch.pages.refaults()[&7]
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
        let touch = |thread, time, is_burst| Touch { group: 0, thread, time, weight: 10, is_burst };
        assert_eq!(pages.note(1, 6, touch(1, 1, false)), None);
        assert_eq!(pages.note(1, 6, touch(1, 2, false)), Some(1));
        assert_eq!(pages.note(2, 6, touch(1, 3, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 4, false)), None);
        assert_eq!(pages.note(1, 5, touch(1, 90_000, true)), None, "the same fault");
        assert_eq!(pages.note(1, 7, touch(1, 90_001, true)), None);
        assert_eq!(pages.note(1, 7, touch(1, 190_000, false)), None, "the same fault, in the other order");
        assert_eq!(pages.note(1, 7, touch(2, 190_001, true)), Some(90_001), "another thread's");
        assert_eq!(pages.refaults()[&0].0, 1.0 / 3.0, "one of three in the burst");
        assert_eq!(pages.note(1, 5, touch(1, 300_000, false)), Some(4));
    }
}
