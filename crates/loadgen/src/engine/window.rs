//! A window of a load, and its outcome.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::load::{Error, Pacing};
use super::thread::{RampOutcome, Usage};
use crate::record::RunStats;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub pacing: Pacing,
    /// Length, if a time ends the window.
    pub duration: Option<Duration>,
    /// Number of requests, if a number ends the window.
    pub requests: Option<u64>,
    pub warm_up: Duration,
}

impl Window {
    /// The part of one of several processes: its share of the rate and of the requests, with its own
    /// schedule.
    pub fn part(&self, index: u64, processes: u64) -> Window {
        let share = |rate: f64| rate / processes as f64;
        let pacing = match self.pacing {
            Pacing::Closed => Pacing::Closed,
            Pacing::Constant { rate } => Pacing::Constant { rate: share(rate) },
            Pacing::Poisson { rate, seed } => Pacing::Poisson {
                rate: share(rate),
                seed: seed.wrapping_mul(1 + processes).wrapping_add(index),
            },
        };
        let requests = self.requests.map(|total| total / processes + u64::from(index < total % processes));
        Window { pacing, requests, ..*self }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.duration.is_none() && self.requests.is_none() {
            return Err(Error::Load("neither a time nor a number of requests ends the load"));
        }
        if let Pacing::Constant { rate } | Pacing::Poisson { rate, .. } = self.pacing
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(Error::Load("a rate is a number of requests a second above 0"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub ramp: RampOutcome,
    pub stats: RunStats,
    pub usage: Vec<Usage>,
}

impl Outcome {
    pub fn merge(&mut self, other: &Outcome) {
        self.ramp.merge(&other.ramp);
        self.stats.merge(&other.stats);
        self.usage.extend(&other.usage);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_of_a_window_make_the_whole() {
        let window = Window {
            pacing: Pacing::Poisson { rate: 900.0, seed: 7 },
            duration: None,
            requests: Some(100),
            warm_up: Duration::ZERO,
        };
        let parts: Vec<Window> = (0..3).map(|index| window.part(index, 3)).collect();
        assert_eq!(parts.iter().filter_map(|part| part.requests).sum::<u64>(), 100);
        let rates = parts.iter().map(|part| match part.pacing {
            Pacing::Poisson { rate, .. } => rate,
            _ => 0.0,
        });
        assert_eq!(rates.sum::<f64>(), 900.0);
        assert_ne!(parts[0].pacing, parts[1].pacing);
        assert_eq!(window.part(0, 1).requests, Some(100));
    }
}
