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

/// What the servers of each group did when they were tried.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// Requests a second of the slowest of each group, saturated.
    slowest: BTreeMap<String, f64>,
    seeds: u64,
}

impl Rates {
    /// A server of a group was saturated for a moment.
    pub fn tried(&mut self, group: Option<&str>, outcome: &Outcome) {
        let Some(rate) = outcome.book.rate().filter(|rate| *rate > 0.0) else { return };
        self.add(group, rate);
    }

    fn add(&mut self, group: Option<&str>, rate: f64) {
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

    /// A search that begins where the one before ended.
    ///
    /// # Errors
    /// If the group's capacity is not known.
    pub fn search(&mut self, group: Option<&str>) -> Result<Search, String> {
        let seed = self.seed();
        let slowest = self.slowest(group)?;
        Ok(Search { low: 0.0, high: slowest * 1.05, steps: 0, seed, asked: 0.0 })
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
    steps: u32,
    seed: u64,
    asked: f64,
}

impl Search {
    /// The rate to try next, if there is one.
    pub fn step(&mut self) -> Option<f64> {
        if self.steps >= MOST_STEPS || self.high - self.low <= CLOSE * self.high {
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
            self.low = self.asked;
        } else {
            self.high = self.asked;
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_slowest_gives_the_rate() {
        let mut rates = Rates::default();
        for rate in [40_000.0, 20_000.0, 50_000.0] {
            rates.add(Some("c200"), rate);
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

    #[test]
    fn a_search_finds_the_edge() {
        let mut rates = Rates::default();
        rates.add(Some("a"), 10_000.0);
        let mut search = rates.search(Some("a")).unwrap();
        let mut best = 0.0;
        while let Some(rate) = search.step() {
            let holds = rate <= 7_300.0;
            best = if holds { f64::max(best, rate) } else { best };
            search.told(holds);
        }
        assert!((7_000.0..=7_300.0).contains(&best), "{best}");
    }
}
