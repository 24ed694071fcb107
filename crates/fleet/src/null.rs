//! How often healthy nodes deviate, counted over all figures of a group: no formula knows the tails of real noise.
//!
//! A figure that now and then is 10 % low on a healthy node looks normal by its quartiles and deciles, and with 300 figures of each node
//! nearly every node has one. Efron (*Large-scale simultaneous hypothesis testing*, JASA 99, 2004) takes the null distribution from the
//! data themselves. So does this module, from figures that are low alone: the low figures of a slow part are low together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::robust::RELEVANT_Z;

/// With fewer deviations than this their far tail is not known, and Student's t stands alone.
const MIN_COUNT: usize = 1000;
/// So many of the largest deviations give the tail beyond them (Hill, Annals of Statistics 3, 1975), and at least so many are needed.
const EXTREME: usize = 50;
const MIN_EXTREME: usize = 10;
/// A figure is low, for the question whether the figures of a part are low together, from this many scales below the centre on.
const LOW: f64 = 2.0;

/// Of the deviations that are kept each has at least this many times the rank of the one before.
const RANKS: f64 = 1.1;
/// The steepest tail: a normal one of a million values falls as the 25th power.
const MOST_EXPONENT: f64 = 100.0;

/// How often figures of healthy nodes lie how far below their centres, in units of their scales.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NullDistribution {
    /// Deviations, the largest first, each with the share of figures that deviate as far. Empty if the tail is not known.
    steps: Vec<[f64; 2]>,
    /// Beyond the first of them the share falls as this power of the deviation.
    exponent: f64,
}

/// Collects the deviations of nodes, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Deviations {
    count: usize,
    largest: Vec<f64>,
}

impl Deviations {
    /// Adds a node: of each figure the deviation downwards in units of its scale, NaN where it is not counted. Figures of a part that
    /// are low together are left out: the part may be slow.
    pub fn add<'a>(&mut self, deviations: &mut [f64], parts: impl Iterator<Item = &'a [usize]>) {
        if deviations.iter().any(|z| *z > LOW) {
            let mut together = Vec::new();
            for columns in parts {
                let known = || columns.iter().map(|&column| deviations[column]).filter(|z| !z.is_nan());
                let low = known().filter(|z| *z > LOW).count();
                if low >= 2 && 2 * low >= known().count() {
                    together.extend_from_slice(columns);
                }
            }
            together.into_iter().for_each(|column| deviations[column] = f64::NAN);
        }
        self.count += deviations.iter().filter(|z| !z.is_nan()).count();
        self.largest.extend(deviations.iter().filter(|z| **z > RELEVANT_Z));
    }

    /// Their distribution.
    pub fn finish(mut self) -> NullDistribution {
        if self.count < MIN_COUNT || self.largest.len() < MIN_EXTREME {
            return NullDistribution::default();
        }
        self.largest.sort_unstable_by(|a, b| b.total_cmp(a));
        let extreme = &self.largest[..EXTREME.min(self.largest.len())];
        let edge = extreme[extreme.len() - 1];
        let mean = extreme.iter().map(|z| (z / edge).ln()).sum::<f64>() / (extreme.len() - 1) as f64;
        let share = |rank: usize| (rank + 1) as f64 / (self.count + 1) as f64;
        let next = |rank: &usize| Some((*rank as f64 * RANKS).ceil() as usize);
        let ranks = std::iter::successors(Some(extreme.len()), next);
        let steps = ranks.map_while(|rank| Some([*self.largest.get(rank - 1)?, share(rank)]));
        NullDistribution { steps: steps.collect(), exponent: (1.0 / mean).min(MOST_EXPONENT) }
    }
}

impl NullDistribution {
    /// The share of healthy nodes' figures that deviate as far as `z`, above [`RELEVANT_Z`]; 0 if it is not known.
    pub fn probability(&self, z: f64) -> f64 {
        match self.steps.as_slice() {
            [] => 0.0,
            [[edge, share], ..] if z > *edge => share * (z / edge).powf(-self.exponent),
            // The share of a smaller deviation is the larger one.
            [.., last] => self.steps.iter().find(|step| step[0] <= z).unwrap_or(last)[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::stats::Random;

    fn null(nodes: usize, mut of: impl FnMut(&mut Random) -> f64) -> NullDistribution {
        let (mut random, mut deviations) = (Random::new(11), Deviations::default());
        for _ in 0..nodes {
            let mut node: Vec<f64> = (0..100).map(|_| of(&mut random)).collect();
            deviations.add(&mut node, std::iter::empty());
        }
        deviations.finish()
    }

    #[test]
    fn normal_deviations_have_normal_probabilities() {
        let null = null(3000, Random::normal);
        // 1 - Φ(3) = 0.00135, 1 - Φ(4) = 0.0000317.
        assert!((-0.15..0.3).contains(&(null.probability(3.0) / 0.00135 - 1.0)), "{}", null.probability(3.0));
        assert!((0.3..3.0).contains(&(null.probability(4.0) / 3.17e-5)), "{}", null.probability(4.0));
        // Beyond the counted ones it is larger than normal, and still small.
        assert!((1e-12..1e-6).contains(&null.probability(7.0)), "{}", null.probability(7.0));
    }

    #[test]
    fn a_hundredth_of_outliers_makes_outliers_ordinary() {
        let null = null(300, |random| {
            let value = random.normal();
            if random.uniform() < 0.01 { value + 3.0 + 9.0 * random.uniform() } else { value }
        });
        assert!(null.probability(6.0) > 0.003, "{}", null.probability(6.0));
        assert!(null.probability(60.0) < 1e-4, "{}", null.probability(60.0));
    }

    #[test]
    fn figures_that_are_low_together_are_not_counted() {
        let mut deviations = Deviations::default();
        let part = [1, 2, 3];
        let mut node = vec![0.0, 9.0, 8.0, 0.0, 7.0];
        deviations.add(&mut node, std::iter::once(&part[..]));
        assert_eq!((deviations.count, deviations.largest), (2, vec![7.0]));
        // Few deviations tell nothing of their tail.
        assert_eq!(Deviations::default().finish().probability(50.0), 0.0);
    }
}
