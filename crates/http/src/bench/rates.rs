//! Rates: shares of a capacity, and the search for the largest rate that holds a latency. Pure.

use std::collections::BTreeMap;

use lab::failure::Failure;

use super::setup::LoadLevel;
use crate::engine::Pacing;

/// Largest share of the slowest server's capacity at which mostly idle connections hardly queue.
const MAX_IDLE_SHARE: f64 = 0.35;
const MAX_STEPS: u32 = 9;
/// The search ends when the bounds differ by at most this share.
const CONVERGED: f64 = 0.02;

/// Upper bound of a search, relative to the capacity from the short trial.
const MAX_ABOVE_CAPACITY: f64 = 1.05;
/// Initial width of a later search, relative to the previous result.
const SEARCH_WIDTH: f64 = 0.2;

#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// Capacity of the slowest server of each group, in requests/s.
    slowest: BTreeMap<String, f64>,
    /// Capacity by scenario, in requests/s.
    capacities: BTreeMap<usize, f64>,
    /// Result of the last search by scenario, in requests/s.
    best: BTreeMap<usize, f64>,
    seeds: u64,
}

impl Rates {
    /// Adds the capacity of a server, above 0.
    pub fn add(&mut self, scenario: usize, group: Option<&str>, rate: f64) {
        self.capacities.insert(scenario, rate);
        let Some(group) = group else { return };
        let slowest = self.slowest.entry(group.to_owned()).or_insert(rate);
        *slowest = slowest.min(rate);
    }

    pub fn pacing(
        &mut self,
        level: LoadLevel,
        group: Option<&str>,
        connections: u32,
    ) -> Result<Pacing, Failure> {
        let rate = match level {
            LoadLevel::Closed => return Ok(Pacing::Closed),
            LoadLevel::Rate { rate, constant: true } => return Ok(Pacing::Constant { rate }),
            LoadLevel::Rate { rate, constant: false } => rate,
            LoadLevel::Share(share) => share * self.slowest(group)?,
            LoadLevel::Duty(share) => {
                // The slowest server takes 1 / rate per answer: a connection that is busy for `share` of the
                // time sends at share * rate. A few CPUs cannot keep many connections that busy without a
                // queue.
                let slowest = self.slowest(group)?;
                (share * f64::from(connections) * slowest).min(MAX_IDLE_SHARE * slowest)
            }
            LoadLevel::Slo { .. } => return Err(Failure::new("a search sets its own rates")),
        };
        Ok(Pacing::Poisson { rate, seed: self.seed() })
    }

    /// A search for the largest rate of a scenario that holds a latency. Later searches start around the
    /// previous result.
    pub fn search(&mut self, scenario: usize) -> Result<Search, Failure> {
        let seed = self.seed();
        let unknown =
            || Failure::new("the capacity of the server is not known").answer("it was not saturated");
        let capacity = self.capacities.get(&scenario).ok_or_else(unknown)?;
        let max_rate = capacity * MAX_ABOVE_CAPACITY;
        let (low, high) = match self.best.get(&scenario) {
            Some(best) => (best * (1.0 - SEARCH_WIDTH), (best * (1.0 + SEARCH_WIDTH)).min(max_rate)),
            None => (0.0, max_rate),
        };
        Ok(Search { low, high, max_rate, steps: 0, seed, tried: 0.0, any_met: false, all_met: true })
    }

    pub fn set_best(&mut self, scenario: usize, rate: f64) {
        self.best.insert(scenario, rate);
    }

    fn slowest(&self, group: Option<&str>) -> Result<f64, Failure> {
        let capacity = group.and_then(|group| self.slowest.get(group)).copied();
        let unknown =
            || Failure::new("the capacity of the servers is not known").answer("none was saturated");
        capacity.ok_or_else(unknown)
    }

    /// A new seed per window; the same sequence in every run.
    fn seed(&mut self) -> u64 {
        self.seeds += 1;
        self.seeds
    }
}

/// Bisection between a rate that met the limit and one that did not.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    low: f64,
    high: f64,
    max_rate: f64,
    steps: u32,
    seed: u64,
    tried: f64,
    any_met: bool,
    all_met: bool,
}

impl Search {
    pub fn step(&mut self) -> Option<f64> {
        if self.high - self.low <= CONVERGED * self.high {
            // No rate of the initial range met the limit: searches below. All met it: searches above.
            match self.any_met {
                false if self.low > 0.0 => self.low = 0.0,
                true if self.all_met && self.high < self.max_rate => self.high = self.max_rate,
                _ => return None,
            }
        }
        if self.steps >= MAX_STEPS {
            return None;
        }
        self.steps += 1;
        self.tried = (self.low + self.high) / 2.0;
        Some(self.tried)
    }

    pub fn seed(&self) -> u64 {
        self.seed * u64::from(MAX_STEPS + 1) + u64::from(self.steps)
    }

    pub fn record(&mut self, holds: bool) {
        if holds {
            (self.low, self.any_met) = (self.tried, true);
        } else {
            (self.high, self.all_met) = (self.tried, false);
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_slowest_server_determines_the_rate() {
        let mut rates = Rates::default();
        for (scenario, rate) in [40_000.0, 20_000.0, 50_000.0].into_iter().enumerate() {
            rates.add(scenario, Some("c200"), rate);
        }
        let mut rate = |level, connections| match rates.pacing(level, Some("c200"), connections) {
            Ok(Pacing::Poisson { rate, .. }) => rate,
            other => panic!("{other:?}"),
        };
        assert_eq!(rate(LoadLevel::Share(0.7), 200), 14_000.0);
        // 50 µs per answer: a connection that is busy for 1 % of the time sends 200 requests/s.
        assert_eq!((rate(LoadLevel::Duty(0.01), 30), rate(LoadLevel::Duty(0.01), 8000)), (6_000.0, 7_000.0));
        assert!(rates.pacing(LoadLevel::Share(0.7), Some("c8000"), 1).is_err());
    }

    /// The largest rate that met the limit, and the number of steps.
    fn search_once(rates: &mut Rates, edge: f64) -> (f64, usize) {
        let mut search = rates.search(3).unwrap();
        let (mut best, mut steps) = (0.0, 0);
        while let Some(rate) = search.step() {
            steps += 1;
            let holds = rate <= edge;
            best = if holds { f64::max(best, rate) } else { best };
            search.record(holds);
        }
        rates.set_best(3, best);
        (best, steps)
    }

    #[test]
    fn a_search_finds_the_edge_and_is_shorter_the_next_time() {
        let mut rates = Rates::default();
        // The slowest server of a group does not bound another one's search.
        rates.add(2, Some("a"), 1_000.0);
        rates.add(3, Some("a"), 10_000.0);
        let (best, first) = search_once(&mut rates, 7_300.0);
        assert!((7_000.0..=7_300.0).contains(&best), "{best}");
        let (best, next) = search_once(&mut rates, 7_300.0);
        assert!((7_000.0..=7_300.0).contains(&best) && next < first, "{best} in {next}, {first}");
        // The edge moves.
        for edge in [4_000.0, 9_000.0] {
            let (best, _) = search_once(&mut rates, edge);
            assert!((edge * 0.85..=edge).contains(&best), "{best} of {edge}");
        }
        assert_eq!(search_once(&mut rates, 0.0).0, 0.0);
        assert!(rates.search(7).is_err());
    }
}
