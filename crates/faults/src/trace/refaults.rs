//! The share of refaults among the faults at pages, by the records of each page. Pure.
//!
//! A page that stays is faulted in once; one that is given back and taken again, many times. The faults of *bursts* are all known, so a page
//! that a burst *marked* has as many refaults as it has faults but one: those in bursts, and those for which its samples outside of bursts stand
//! (capture and recapture). Of a program with few faults, all pages are marked. At the other pages, two samples show that one was faulted in
//! again; but of many pages in turn hardly one is sampled twice, and of a loop in step with the samples none. How many refaults they have then
//! is expected by the marked pages, and the error reaches from what was seen to it. The growth of memory bounds both.

/// A page with so many other faults is faulted in again and again.
const OFTEN: f64 = 3.0;
/// Bursts with a smaller share of the faults may miss what a program does between them.
const ENOUGH: f64 = 0.05;

/// The records of a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records {
    /// Faults in bursts.
    marks: u32,
    /// Samples of faults that are not in bursts.
    hits: u32,
    /// Samples, the sum of their weights, and that of the products of each two.
    count: u32,
    weight: f32,
    products: f32,
}

impl Records {
    /// Adds a fault of a burst, `is_twice` if it is the sample that came just before.
    pub fn mark(&mut self, is_twice: bool) {
        self.marks += 1;
        self.hits = self.hits.saturating_sub(u32::from(is_twice));
    }

    /// Adds a sample that stands for so many faults, `is_twice` if it is the fault of a burst that came just before. `is_apart`: it and the record
    /// before are two independent ones.
    pub fn sample(&mut self, weight: f32, is_apart: bool, is_twice: bool) {
        self.count += 1;
        self.hits += u32::from(!is_twice);
        if is_apart {
            self.products += weight * self.weight;
        }
        self.weight += weight;
    }

    pub fn are_some(&self) -> bool {
        self.marks + self.count > 0
    }

    /// How many faults a sample stands for.
    fn of_sample(&self) -> f64 {
        f64::from(self.weight) / f64::from(self.count.max(1))
    }

    /// Faults of a marked page but one: those in bursts, and those for which its samples outside of bursts stand.
    fn again(&self) -> f64 {
        f64::from(self.marks) - 1.0 + f64::from(self.hits) * self.of_sample()
    }
}

/// A share of refaults, 0 to 1, and by how much it may be less, and more: standard errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefaultShare {
    pub value: f64,
    pub less: f64,
    pub more: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    marked: Marked,
    /// Samples at pages that no burst marked.
    unmarked: Samples,
}

impl Tally {
    /// Adds those of a page.
    pub fn add(&mut self, page: Records) {
        if page.marks > 0 {
            self.marked.add(page);
        } else {
            self.unmarked.add(page);
        }
    }

    /// Those at marked pages, and those at the others: as many as is expected by the marked pages or, where bursts are too few, by the samples,
    /// if that is more. Two errors reach from as many as samples show at least to as many as if all pages came back equally often, or as marked
    /// pages do: those that come back are more often marked. `clustered`: how many samples say as much as one independent one.
    pub fn refaults(&self, clustered: f64) -> RefaultShare {
        let Marked { all: marked, hit_squares, .. } = self.marked;
        let others = self.unmarked.faults();
        let all = marked.faults() + others;
        if all <= 0.0 {
            return RefaultShare::default();
        }
        let [(least, least_off), (seen, seen_off)] = self.unmarked.refaults();
        let of_sample = self.unmarked.of_sample().max((hit_squares / marked.hits.max(1.0)).sqrt());
        let (expected, off) = self.marked.expected(all, of_sample);
        // Bursts that are enough say more than how seldom samples meet.
        let (share, seen_off) = match self.marked.marks >= ENOUGH * all {
            true => (expected.max(least), 0.0),
            false => (expected.max(seen), seen_off),
        };
        let most = seen.max(marked.again / marked.faults().max(1.0));
        let less = off.max((share - least) / 2.0 + least_off);
        let more = off.max((most - share).max(0.0) / 2.0 + seen_off);
        // Each page that was seen had a first touch.
        let possible = (all - marked.pages - self.unmarked.pages).max(0.0);
        let value = (marked.again + others * share).min(possible) / all;
        // How many faults there were at marked pages outside of bursts, and at others, is known from samples.
        let of_hits = (1.0 - value) * (clustered * hit_squares).sqrt();
        let of_others = (share - value) * (clustered * self.unmarked.squares).sqrt();
        let error = |off: f64| (of_hits.hypot(of_others).hypot(others * off) / all).min(1.0);
        RefaultShare { value, less: error(less), more: error(more) }
    }
}

/// Pages that bursts marked.
#[derive(Clone, Copy, Debug, Default)]
struct Marked {
    all: Class,
    /// Faults in bursts, and the squares of the weights of the samples outside of them.
    marks: f64,
    hit_squares: f64,
    /// By the binary logarithm of their records. The first has those with one to three.
    classes: [Class; 16],
}

/// Pages that come back about equally often.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    pages: f64,
    /// Their faults but one each, and samples outside of bursts.
    again: f64,
    hits: f64,
}

impl Class {
    fn add(&mut self, page: Records) {
        self.pages += 1.0;
        self.again += page.again();
        self.hits += f64::from(page.hits);
    }

    fn faults(&self) -> f64 {
        self.pages + self.again
    }

    /// How many faults unmarked pages of this kind have, where so large a share of all faults is in bursts: a page is marked with the chance that
    /// one of its faults is, which are apart (Horvitz and Thompson, A generalization of sampling without replacement, 1952).
    fn unmarked(&self, in_bursts: f64) -> f64 {
        let marked = 1.0 - (1.0 - in_bursts).powf(self.faults() / self.pages.max(1.0));
        self.faults() * (1.0 - marked) / marked.max(f64::MIN_POSITIVE)
    }
}

impl Marked {
    fn add(&mut self, page: Records) {
        let class = (page.marks + page.hits).ilog2().saturating_sub(1) as usize;
        self.all.add(page);
        self.classes[class.min(15)].add(page);
        self.marks += f64::from(page.marks);
        self.hit_squares += f64::from(page.hits) * page.of_sample().powi(2);
    }

    /// The share of refaults at unmarked pages that is expected by the marked ones, where there were so many faults in all; and its error: that of
    /// the few samples that met a page again (Poisson; one more, as none may be by chance). 0 without a burst.
    fn expected(&self, all: f64, of_sample: f64) -> (f64, f64) {
        let in_bursts = (self.marks / all).min(1.0);
        let (mut faults, mut again, mut squares) = (f64::MIN_POSITIVE, 0.0, 0.0);
        for class in self.classes.iter().filter(|class| class.pages > 0.0) {
            let unmarked = class.unmarked(in_bursts);
            faults += unmarked;
            again += unmarked * class.again / class.faults();
            let off = of_sample * (class.hits + 1.0).sqrt() * class.pages / class.faults().powi(2);
            squares += (unmarked * off.min(1.0)).powi(2);
        }
        (again / faults, (squares.sqrt() / faults).min(1.0))
    }
}

/// Samples, by the faults that they stand for.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    number: f64,
    /// The squares of how many faults each stands for.
    squares: f64,
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
    fn add(&mut self, page: Records) {
        let [count, faults, products] = [f64::from(page.count), page.weight.into(), page.products.into()];
        self.number += count;
        self.squares += faults * page.of_sample();
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

    /// The share at least, each pair as one refault; and as if these pages came back equally often. With their errors, those of the pairs (Poisson,
    /// as above).
    fn refaults(&self) -> [(f64, f64); 2] {
        let faults = self.faults().max(f64::MIN_POSITIVE);
        let (number, pairs) = (self.others.max(1.0), self.others_pairs);
        let others = self.others_again / self.others_faults.max(1.0);
        let of_pairs = (pairs + 1.0).sqrt() / number;
        let of_others = 2.0 * self.others_faults / number * of_pairs / (1.0 + others).powi(2);
        let part = self.others_faults / faults;
        [(pairs / number, of_pairs), (others / (1.0 + others), of_others)]
            .map(|(share, off)| ((self.often / faults + part * share).min(1.0), (part * off).min(1.0)))
    }
}
