//! First faults at fresh mappings: which of them malloc made, by what wrote to a block's header. Pure.
//!
//! A mapping where another one had been is made again and again; one at a new place may stay, as those that a
//! program makes while it starts. If there are enough of the former, they decide alone. A mapping counts by
//! its pages, as it does in faults: libraries map many areas of a few pages each.

use std::collections::HashMap;

/// Fewest first faults for an answer: at mappings that came back, and at all mappings. A program may make most of these as it starts,
/// and keep them.
const FIRSTS: [f64; 2] = [5.0, 20.0];
/// Instructions that are remembered.
const MOST_PLACES: usize = 4096;

/// Pages that a mapping counts for at most: one that is reserved for the whole run may have any size.
const MOST_PAGES: u64 = 1024;

/// Sums over mappings at new places, and over those where another one had been: their number, or their pages.
type Sums = [f64; 2];

#[derive(Clone, Debug, Default)]
pub struct BlockHeaders {
    mappings: Sums,
    pages: Sums,
    /// By instruction of the C library that wrote to a fresh mapping where malloc keeps a block's size.
    headers: HashMap<u64, (f64, Sums)>,
    /// Instructions that touched other pages: those of memset and memcpy mostly do, those of malloc hardly.
    others: HashMap<u64, f64>,
}

impl BlockHeaders {
    /// Adds a first fault at a fresh mapping of so many pages. `is_header`: by place and code it may write a
    /// block's header; `came_back`: the page had been faulted in before, in an older mapping.
    pub fn first(&mut self, instruction: u64, pages: u64, is_header: bool, came_back: bool) {
        let (kind, pages) = (usize::from(came_back), pages.clamp(1, MOST_PAGES) as f64);
        self.mappings[kind] += 1.0;
        self.pages[kind] += pages;
        if is_header {
            let (faults, sums) = self.headers.entry(instruction).or_default();
            *faults += 1.0;
            sums[kind] += pages;
        }
    }

    pub fn other(&mut self, instruction: u64) {
        if self.others.len() < MOST_PLACES || self.others.contains_key(&instruction) {
            *self.others.entry(instruction).or_default() += 1.0;
        }
    }

    /// The share (by pages, 0 to 1) of the mappings in which malloc of the C library wrote the header first: of
    /// those that came back, else of all; `None` if there were too few.
    pub fn malloc_share(&self) -> Option<f64> {
        let came_back = |sums: &Sums| sums[1];
        let all = |sums: &Sums| sums[0] + sums[1];
        self.share(came_back, FIRSTS[0]).or_else(|| self.share(all, FIRSTS[1]))
    }

    fn share(&self, select: impl Fn(&Sums) -> f64, enough: f64) -> Option<f64> {
        let elsewhere = |place: &u64| self.others.get(place).copied().unwrap_or(0.0);
        let by_malloc = self.headers.iter().filter(|(place, (faults, _))| *faults > elsewhere(place));
        let pages = by_malloc.map(|(_, (_, sums))| select(sums)).sum::<f64>();
        (select(&self.mappings) >= enough).then(|| pages / select(&self.pages))
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
        let mut headers = BlockHeaders::default();
        for _ in 0..16 {
            headers.first(MALLOC, 100, true, false);
        }
        assert_eq!(headers.malloc_share(), None, "sixteen are too few");
        (0..4).for_each(|_| headers.first(PROGRAM, 100, false, false));
        assert_eq!(headers.malloc_share(), Some(0.8));
        // memset writes to headers as well, and to everything behind them.
        for _ in 0..20 {
            headers.first(MEMSET, 100, true, false);
            (0..100).for_each(|_| headers.other(MEMSET));
        }
        assert_eq!(headers.malloc_share(), Some(0.4));
    }

    #[test]
    fn mappings_that_came_back_decide() {
        let mut headers = BlockHeaders::default();
        // What a program maps while it starts, and keeps.
        (0..20).for_each(|_| headers.first(PROGRAM, 10, false, false));
        (0..4).for_each(|_| headers.first(MALLOC, 10, true, true));
        assert_eq!(headers.malloc_share(), Some(4.0 / 24.0));
        headers.first(MALLOC, 10, true, true);
        assert_eq!(headers.malloc_share(), Some(1.0));
    }

    #[test]
    fn large_mappings_count_for_more_up_to_a_size() {
        let mut headers = BlockHeaders::default();
        (0..20).for_each(|_| headers.first(PROGRAM, 4, false, false));
        (0..4).for_each(|_| headers.first(MALLOC, 980, true, false));
        assert_eq!(headers.malloc_share(), Some(0.98));
        headers.first(PROGRAM, 1 << 30, false, false);
        assert_eq!(headers.malloc_share(), Some(3920.0 / (4000.0 + 1024.0)));
    }
}
