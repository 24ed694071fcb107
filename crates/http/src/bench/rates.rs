//! Rates: shares of what the slowest does, and the search for the largest that holds a latency. Pure.

use std::collections::BTreeMap;

use super::setup::Ask;
use crate::engine::{Outcome, Pacing};

/// The share of the slowest server's capacity up to which answers of mostly idle connections wait little for one another.
const MOST_OF_IDLE: f64 = 0.35;
/// Windows of one search at most.
const MOST_STEPS: u32 = 9;
/// The search ends when what held and what did not are this close.
const CLOSE: f64 = 0.02;

/// How far above a server's capacity, as it was found in a moment, a search may go.
const ABOVE: f64 = 1.05;
/// How far a search goes at first from what held before.
const AROUND: f64 = 0.2;

/// What the servers of each group did when they were tried.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// Requests a second of the slowest of each group, saturated.
    slowest: BTreeMap<String, f64>,
    /// Requests a second of each cell, saturated.
    own: BTreeMap<usize, f64>,
    /// The largest rate of each cell that held a latency when it was last searched.
    held: BTreeMap<usize, f64>,
    seeds: u64,
}

impl Rates {
    /// A server, the cell of that number in a group, was saturated for a moment.
    pub fn tried(&mut self, cell: usize, group: Option<&str>, outcome: &Outcome) {
        let Some(rate) = outcome.stats.rate().filter(|rate| *rate > 0.0) else { return };
        self.add(cell, group, rate);
    }

    fn add(&mut self, cell: usize, group: Option<&str>, rate: f64) {
        self.own.insert(cell, rate);
        let Some(group) = group else { return };
        let slowest = self.slowest.entry(group.to_owned()).or_insert(rate);
        *slowest = slowest.min(rate);
    }

    /// How requests of a figure are sent.
    ///
    /// # Errors
    /// If the group's capacity is not known.
    pub fn pacing(&mut self, ask: Ask, group: Option<&str>, connections: u32) -> Result<Pacing, String> {
        let slowest = || self.slowest(group);
        let rate = match ask {
            Ask::Closed => return Ok(Pacing::Closed),
            Ask::Rate { rate, constant: true } => return Ok(Pacing::Constant { rate }),
            Ask::Rate { rate, constant: false } => rate,
            Ask::Share(share) => share * slowest()?,
            Ask::Duty(share) => {
                // An answer takes the slowest 1 / rate: a connection that is busy for that share of the time asks so often. Where few CPUs
                // serve many connections they could not be busy for so long without a queue.
                let slowest = slowest()?;
                (share * f64::from(connections) * slowest).min(MOST_OF_IDLE * slowest)
            }
            Ask::Slo { .. } => return Err("a search has no pacing of its own".to_owned()),
        };
        Ok(Pacing::Poisson { rate, seed: self.seed() })
    }

    /// A search for the largest rate of a cell that holds a latency. After the first it looks around what held before.
    ///
    /// # Errors
    /// If the server's capacity is not known.
    pub fn search(&mut self, cell: usize) -> Result<Search, String> {
        let seed = self.seed();
        let own =
            self.own.get(&cell).ok_or("the capacity of the server is not known: it was not saturated")?;
        let most = own * ABOVE;
        let (low, high) = match self.held.get(&cell) {
            Some(held) => (held * (1.0 - AROUND), (held * (1.0 + AROUND)).min(most)),
            None => (0.0, most),
        };
        Ok(Search { low, high, most, steps: 0, seed, asked: 0.0, held: false, is_at_the_edge: true })
    }

    /// What a search of a cell ended with.
    pub fn found(&mut self, cell: usize, rate: f64) {
        self.held.insert(cell, rate);
    }

    fn slowest(&self, group: Option<&str>) -> Result<f64, String> {
        let known = group.and_then(|group| self.slowest.get(group)).copied();
        known.ok_or_else(|| "the capacity of the servers is not known: none was saturated".to_owned())
    }

    /// Each window has a schedule of its own; a run has the same ones as another.
    fn seed(&mut self) -> u64 {
        self.seeds += 1;
        self.seeds
    }
}

/// A search by halving, between a rate that held and one that did not.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    low: f64,
    high: f64,
    /// No rate is tried above.
    most: f64,
    steps: u32,
    seed: u64,
    asked: f64,
    /// Whether any rate held.
    held: bool,
    /// Whether no rate failed.
    is_at_the_edge: bool,
}

impl Search {
    /// The rate to try next, if there is one.
    pub fn step(&mut self) -> Option<f64> {
        if self.high - self.low <= CLOSE * self.high {
            // Nothing held where it did before: it looks below. All held: above.
            match self.held {
                false if self.low > 0.0 => self.low = 0.0,
                true if self.is_at_the_edge && self.high < self.most => self.high = self.most,
                _ => return None,
            }
        }
        if self.steps >= MOST_STEPS {
            return None;
        }
        self.steps += 1;
        self.asked = (self.low + self.high) / 2.0;
        Some(self.asked)
    }

    /// Of this search's next window.
    pub fn seed(&self) -> u64 {
        self.seed * u64::from(MOST_STEPS + 1) + u64::from(self.steps)
    }

    /// Whether the rate that was tried held.
    pub fn told(&mut self, holds: bool) {
        if holds {
            (self.low, self.held) = (self.asked, true);
        } else {
            (self.high, self.is_at_the_edge) = (self.asked, false);
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_slowest_gives_the_rate() {
        let mut rates = Rates::default();
        for (cell, rate) in [40_000.0, 20_000.0, 50_000.0].into_iter().enumerate() {
            rates.add(cell, Some("c200"), rate);
        }
        let mut rate = |ask, connections| match rates.pacing(ask, Some("c200"), connections) {
            Ok(Pacing::Poisson { rate, .. }) => rate,
            other => panic!("{other:?}"),
        };
        assert_eq!(rate(Ask::Share(0.7), 200), 14_000.0);
        // 50 us an answer: a connection that is busy for 1 % of the time asks 200 times a second.
        assert_eq!((rate(Ask::Duty(0.01), 30), rate(Ask::Duty(0.01), 8000)), (6_000.0, 7_000.0));
        assert!(rates.pacing(Ask::Share(0.7), Some("c8000"), 1).is_err());
    }

    /// The largest rate that held, and in how many steps it was found.
    fn searched(rates: &mut Rates, edge: f64) -> (f64, usize) {
        let mut search = rates.search(3).unwrap();
        let (mut best, mut steps) = (0.0, 0);
        while let Some(rate) = search.step() {
            steps += 1;
            let holds = rate <= edge;
            best = if holds { f64::max(best, rate) } else { best };
            search.told(holds);
        }
        rates.found(3, best);
        (best, steps)
    }

    #[test]
    fn a_search_finds_the_edge_and_is_shorter_the_next_time() {
        let mut rates = Rates::default();
        // The slowest of its group bounds nobody's search.
        rates.add(2, Some("a"), 1_000.0);
        rates.add(3, Some("a"), 10_000.0);
        let (best, first) = searched(&mut rates, 7_300.0);
        assert!((7_000.0..=7_300.0).contains(&best), "{best}");
        let (best, next) = searched(&mut rates, 7_300.0);
        assert!((7_000.0..=7_300.0).contains(&best) && next < first, "{best} in {next}, {first}");
        // The edge has moved.
        for edge in [4_000.0, 9_000.0] {
            let (best, _) = searched(&mut rates, edge);
            assert!((edge * 0.85..=edge).contains(&best), "{best} of {edge}");
        }
        assert_eq!(searched(&mut rates, 0.0).0, 0.0);
        assert!(rates.search(7).is_err());
    }
}
