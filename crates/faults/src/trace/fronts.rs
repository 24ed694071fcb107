//! First faults at fresh mappings: whose mappings they are, by what wrote to their fronts. Pure.
//!
//! A mapping that lies where another one had been seen came and went; one at a new place may be there to stay, as those are that a
//! program makes while it starts. So the former decide alone where there are enough of them. And a large one counts for more, as it
//! does in faults: the data of libraries, a few pages each, are many.

use std::collections::HashMap;

/// First faults that must have been seen.
const FIRSTS: f64 = 5.0;
/// Instructions that are remembered.
const MOST_PLACES: usize = 4096;

/// Pages for which a mapping counts at most: one that is reserved for the whole run may be as large as it likes.
const MOST_PAGES: u64 = 1024;

/// Of mappings at new places, and of those where another one had been: how many, or their pages.
type Sums = [f64; 2];

/// First faults of one program at one kind of memory.
#[derive(Clone, Debug, Default)]
pub struct Fronts {
    seen: Sums,
    firsts: Sums,
    /// By instruction of the C library that wrote to the front of a fresh mapping, where malloc keeps a block's size.
    headers: HashMap<u64, (f64, Sums)>,
    /// Instructions that met other pages: those of memset and memcpy do so mostly, those of malloc hardly.
    others: HashMap<u64, f64>,
}

impl Fronts {
    /// A first fault at a fresh mapping of so many pages; whether it `is_header` of a block, so far as place and code tell, and whether
    /// the page had been met in an older mapping.
    pub fn first(&mut self, instruction: u64, pages: u64, is_header: bool, came_back: bool) {
        let (kind, pages) = (usize::from(came_back), pages.clamp(1, MOST_PAGES) as f64);
        self.seen[kind] += 1.0;
        self.firsts[kind] += pages;
        if is_header {
            let (seen, sums) = self.headers.entry(instruction).or_default();
            *seen += 1.0;
            sums[kind] += pages;
        }
    }

    /// Another fault.
    pub fn other(&mut self, instruction: u64) {
        if self.others.len() < MOST_PLACES || self.others.contains_key(&instruction) {
            *self.others.entry(instruction).or_default() += 1.0;
        }
    }

    /// The share of the mappings' pages at whose front malloc of the C library wrote first, to write down a block's size: of those that
    /// came and went, else of all; `None` where hardly one was seen.
    pub fn headers(&self) -> Option<f64> {
        let came_back = |sums: &Sums| sums[1];
        let all = |sums: &Sums| sums[0] + sums[1];
        self.share(came_back).or_else(|| self.share(all))
    }

    fn share(&self, of: impl Fn(&Sums) -> f64) -> Option<f64> {
        let elsewhere = |place: &u64| self.others.get(place).copied().unwrap_or(0.0);
        let by_malloc = self.headers.iter().filter(|(place, (seen, _))| *seen > elsewhere(place));
        let pages = by_malloc.map(|(_, (_, sums))| of(sums)).sum::<f64>();
        (of(&self.seen) >= FIRSTS).then(|| pages / of(&self.firsts))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    const MALLOC: u64 = 10;
    const MEMSET: u64 = 20;
    const PROGRAM: u64 = 30;

    #[test]
    fn malloc_writes_to_the_fronts_of_its_mappings_and_hardly_elsewhere() {
        let mut fronts = Fronts::default();
        for _ in 0..4 {
            fronts.first(MALLOC, 100, true, false);
        }
        assert_eq!(fronts.headers(), None, "four are too few");
        fronts.first(PROGRAM, 100, false, false);
        assert_eq!(fronts.headers(), Some(0.8));
        // memset writes to fronts as well, and to everything behind them.
        for _ in 0..5 {
            fronts.first(MEMSET, 100, true, false);
            (0..100).for_each(|_| fronts.other(MEMSET));
        }
        assert_eq!(fronts.headers(), Some(0.4));
    }

    #[test]
    fn mappings_that_came_and_went_decide() {
        let mut fronts = Fronts::default();
        // What a program maps while it starts, and keeps.
        (0..20).for_each(|_| fronts.first(PROGRAM, 10, false, false));
        (0..4).for_each(|_| fronts.first(MALLOC, 10, true, true));
        assert_eq!(fronts.headers(), Some(4.0 / 24.0));
        fronts.first(MALLOC, 10, true, true);
        assert_eq!(fronts.headers(), Some(1.0));
    }

    #[test]
    fn large_mappings_count_for_more_up_to_a_size() {
        let mut fronts = Fronts::default();
        (0..10).for_each(|_| fronts.first(PROGRAM, 4, false, false));
        (0..2).for_each(|_| fronts.first(MALLOC, 980, true, false));
        assert_eq!(fronts.headers(), Some(0.98));
        fronts.first(PROGRAM, 1 << 30, false, false);
        assert_eq!(fronts.headers(), Some(1960.0 / (2000.0 + 1024.0)));
    }
}
