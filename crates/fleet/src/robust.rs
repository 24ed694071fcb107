//! Centre and scale that bad nodes do not move, and how improbable a deficit is on a healthy node.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::rules::SCALE_FLOOR;

/// 1 / Φ⁻¹(3/4): makes the median absolute deviation of normal values their standard deviation (Rousseeuw and Croux, Journal of the
/// American Statistical Association 88, 1993).
const MAD_TO_SIGMA: f64 = 1.4826;
/// Efficiency of the median absolute deviation with normal values (same source): so many of n values count.
const MAD_EFFICIENCY: f64 = 0.37;
/// Makes Qn of normal values their standard deviation (same source, 3.7).
const QN_TO_SIGMA: f64 = 2.2219;
/// Its factors for 2 to 9 values (Croux and Rousseeuw, *Time-efficient algorithms for two highly robust estimators of scale*,
/// Computational Statistics 1, 1992).
const QN_SMALL: [f64; 8] = [0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];
/// Its efficiency with 8 to 20 normal values, by simulation: 0.58 to 0.63.
const QN_EFFICIENCY: f64 = 0.58;
/// From so many values on the lower half alone gives the scale: with fewer it is too uncertain.
const ONE_SIDED: usize = 64;
/// Variance of a median of n normal values, in variances of one value, times n.
const MEDIAN_VARIANCE: f64 = std::f64::consts::FRAC_PI_2;
/// Distance of the lower decile from the median over that of the lower quartile: normal values.
const NORMAL_TAIL: f64 = 1.900;
/// The tail is called long from this much above normal on, and at least so many standard errors (which fall as 1/sqrt(n)).
const LONGER: f64 = 0.12;
const TAIL_ERRORS: f64 = 4.0;
/// A lower decile that is so many times as far from the median as the upper one shows a skew, whatever the tail; and at least so many
/// standard errors (of a ratio of deciles of normal values: 1.9/sqrt(n)). One node in 14 with a deficit does not reach it.
const SKEWED: f64 = 0.6;
const DECILES_ERROR: f64 = 5.0 * 1.9;
/// A larger probability than this accuses no node, whatever the correction: it is not computed.
const IRRELEVANT: f64 = 0.01;
/// Its normal quantile, a little nearer, so that no smaller one is missed.
pub const RELEVANT_Z: f64 = 2.3;
/// Larger deviations than this, in units of their scale, have the same probability.
const MOST_Z: f64 = 1e6;
/// The largest deficit that [`Reference::finds`] looks for: 99.9 %, as a logarithm.
const LARGEST: f64 = 6.9;

/// How values lie about their centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tail {
    /// As normal values do.
    Normal,
    /// The lower tail is longer than normal: an exponential one from the lower decile, at this distance from the centre, on.
    Long {
        /// Distance of the lower decile from the centre.
        decile: f64,
        /// Mean excess beyond it.
        mean: f64,
    },
}

/// Centre and scale of a figure over nodes, in logarithms: 0.01 is 1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// The median.
    pub centre: f64,
    /// The spread between nodes, without any floor.
    pub spread: f64,
    /// How many values it rests on.
    pub count: usize,
    /// Degrees of freedom of the spread.
    pub freedom: f64,
    /// The lower tail.
    pub tail: Tail,
}

impl Reference {
    /// Of these values; they are reordered. `None` without any.
    pub fn of(values: &mut [f64]) -> Option<Reference> {
        let count = values.len();
        let centre = quantile(values, 0.5)?;
        let is_one_sided = count >= ONE_SIDED;
        let (spread, freedom, tail) = if is_one_sided {
            let mut below: Vec<f64> =
                values.iter().filter(|value| **value < centre).map(|value| centre - value).collect();
            let freedom = MAD_EFFICIENCY * (count / 2 - 1) as f64;
            // Without a value below the centre half of them or more are equal.
            (MAD_TO_SIGMA * quantile(&mut below, 0.5).unwrap_or(0.0), freedom, tail(values, centre))
        } else {
            let freedom = (QN_EFFICIENCY * count.saturating_sub(1) as f64).max(1.0);
            (qn(values), freedom, Tail::Normal)
        };
        Some(Reference { centre, spread, count, freedom, tail })
    }

    /// The same for nodes that it was not made of: its centre is uncertain too.
    pub fn of_others(self) -> Reference {
        let factor = (1.0 + MEDIAN_VARIANCE / self.count.max(1) as f64).sqrt();
        Reference { spread: self.spread * factor, ..self }
    }

    /// The scale for a value with this standard error: never below the floor, nor below what the value itself is uncertain by.
    pub fn scale(&self, error: f64) -> f64 {
        self.spread.max(SCALE_FLOOR).max(error)
    }

    /// The probability that a healthy node lies as far below the centre. 1 stands for all that accuses no node.
    ///
    /// The spread is an estimate, so that it gives Student's t; the floor is a number, which gives a normal probability. The larger of
    /// both holds, and that of a long tail.
    pub fn probability(&self, deviation: f64, error: f64) -> f64 {
        let z = -deviation / self.scale(error);
        if z.is_nan() || z < RELEVANT_Z {
            return 1.0;
        }
        let estimated = (-deviation / self.spread.max(error)).min(MOST_Z);
        let estimated = StudentsT::new(0.0, 1.0, self.freedom).map_or(1.0, |student| student.sf(estimated));
        let floor = Normal::standard().sf((-deviation / SCALE_FLOOR).min(MOST_Z));
        let long = match self.tail {
            Tail::Normal => 0.0,
            Tail::Long { decile, mean } => {
                let mean = mean.max(self.scale(error) / 2.0);
                0.1 * (-(-deviation - decile).max(0.0) / mean).exp()
            }
        };
        let probability = estimated.max(floor).max(long);
        if probability < IRRELEVANT { probability } else { 1.0 }
    }

    /// The smallest deficit, as a share, whose probability is at most `limit`; `None` if none is.
    pub fn finds(&self, limit: f64, error: f64) -> Option<f64> {
        let (mut low, mut high) = (0.0, LARGEST);
        if self.probability(-high, error) > limit {
            return None;
        }
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if self.probability(-middle, error) > limit { low = middle } else { high = middle }
        }
        Some(-(-high).exp_m1())
    }
}

/// Rousseeuw and Croux's Qn: about the lower quartile of the distances between any two values. It keeps its meaning while fewer than half
/// of the values are bad, and with few values it is surer than the median absolute deviation.
fn qn(values: &[f64]) -> f64 {
    let count = values.len();
    let mut distances = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for (at, one) in values.iter().enumerate() {
        distances.extend(values[..at].iter().map(|other| (one - other).abs()));
    }
    if distances.is_empty() {
        return 0.0;
    }
    let half = count / 2 + 1;
    let (_, distance, _) = distances.select_nth_unstable_by(half * (half - 1) / 2 - 1, f64::total_cmp);
    let small = match QN_SMALL.get(count - 2) {
        Some(factor) => *factor,
        None if count % 2 == 1 => count as f64 / (count as f64 + 1.4),
        None => count as f64 / (count as f64 + 3.8),
    };
    QN_TO_SIGMA * small * *distance
}

/// Whether the lower tail is longer than normal. The decile and the quartile are moved little by a few per cent of bad nodes.
fn tail(values: &mut [f64], centre: f64) -> Tail {
    let count = values.len() as f64;
    let [decile, quartile, upper] = [0.1, 0.25, 0.9].map(|q| quantile(values, q).unwrap_or(centre));
    let (decile, quartile, upper) = (centre - decile, centre - quartile, upper - centre);
    let is_long = decile > quartile * NORMAL_TAIL * (1.0 + LONGER.max(TAIL_ERRORS / count.sqrt()));
    let is_skewed = decile > upper * (1.0 + SKEWED.max(DECILES_ERROR / count.sqrt()));
    if quartile <= 0.0 || !(is_long || is_skewed) {
        return Tail::Normal;
    }
    // Of an exponential tail the decile lies ln(2.5) means beyond the quartile.
    Tail::Long { decile, mean: (decile - quartile) / 2.5f64.ln() }
}

/// The order statistic at `q`, by selection; the values are reordered.
fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let position = q * (values.len() - 1) as f64;
    let at = position.floor() as usize;
    let (_, low, above) = values.select_nth_unstable_by(at, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().reduce(f64::min).unwrap_or(low);
    Some(low + (next - low) * position.fract())
}

/// The largest probability that still accuses: of `tests` tests at most the share `rate` of those accused is so by mistake, on average
/// (Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 1995; the tests may be positively dependent: Benjamini and
/// Yekutieli, Annals of Statistics 29, 2001). 0 if none does.
pub fn false_discovery_limit(probabilities: &mut [f64], tests: usize, rate: f64) -> f64 {
    probabilities.sort_unstable_by(f64::total_cmp);
    let is_below = |(at, p): &(usize, &f64)| **p <= rate * (*at + 1) as f64 / tests.max(1) as f64;
    let last = probabilities.iter().enumerate().rfind(is_below);
    last.map_or(0.0, |(_, p)| *p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::stats::Random;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        let mut values = [1.0, 2.0, 3.0, 4.0, 10.0];
        let reference = Reference::of(&mut values).unwrap();
        assert_eq!(reference.centre, 3.0);
        // The third smallest of the ten distances is 1.
        assert!((reference.spread - 2.2219 * 0.844).abs() < 1e-9, "{reference:?}");
        // R: quantile(x, 0.1) = 1.4
        assert!((quantile(&mut values, 0.1).unwrap() - 1.4).abs() < 1e-12);
        assert_eq!(Reference::of(&mut []), None);
    }

    /// The example of Benjamini and Hochberg's paper (15 probabilities, 5 %): four are rejected.
    #[test]
    fn the_example_of_benjamini_and_hochberg() {
        let mut p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0000,
        ];
        assert_eq!(false_discovery_limit(&mut p, 15, 0.05), 0.0095);
        assert_eq!(false_discovery_limit(&mut [0.5], 1, 0.05), 0.0);
    }

    #[test]
    fn normal_values_have_normal_tails_and_skewed_ones_do_not() {
        let mut random = Random::new(3);
        let mut normal: Vec<f64> = (0..4000).map(|_| 0.01 * random.normal()).collect();
        let reference = Reference::of(&mut normal).unwrap();
        assert_eq!(reference.tail, Tail::Normal);
        assert!((reference.spread / 0.01 - 1.0).abs() < 0.06, "{reference:?}");
        let mut waiting: Vec<f64> = (0..4000).map(|_| 0.01 * (1.0 - random.uniform()).ln()).collect();
        let reference = Reference::of(&mut waiting).unwrap();
        let Tail::Long { mean, .. } = reference.tail else { panic!("{reference:?}") };
        assert!((mean / 0.01 - 1.0).abs() < 0.15, "{mean}");
        // As improbable as it is: exp(-10).
        let p = reference.probability(-0.1 - reference.centre, 0.0);
        assert!((1e-6..3e-4).contains(&p), "{p}");
    }

    #[test]
    fn equal_values_have_no_spread_and_the_floor_decides() {
        for count in [8, 200] {
            let reference = Reference::of(&mut vec![1.0; count]).unwrap();
            assert_eq!((reference.centre, reference.spread), (1.0, 0.0));
            assert!(reference.probability(-0.05, 0.0) < 1e-20);
            assert_eq!(reference.probability(-0.01, 0.0), 1.0);
        }
    }

    /// Of healthy nodes as many lie below as the probability states, or fewer: also where few values give centre and scale.
    #[test]
    fn probabilities_hold_in_small_groups() {
        let mut random = Random::new(9);
        for count in [8, 12, 20] {
            let (mut below, mut all) = ([0; 2], 0);
            for _ in 0..3000 {
                let mut values: Vec<f64> = (0..count).map(|_| 0.02 * random.normal()).collect();
                let nodes = values.clone();
                let reference = Reference::of(&mut values).unwrap();
                for value in nodes {
                    let probability = reference.probability(value - reference.centre, 0.0);
                    for (below, limit) in below.iter_mut().zip([0.005, 0.001]) {
                        *below += usize::from(probability <= limit);
                    }
                    all += 1;
                }
            }
            for (below, limit) in below.into_iter().zip([0.005, 0.001]) {
                assert!((below as f64) < 1.1 * limit * all as f64, "{count}: {below} of {all} at {limit}");
            }
        }
    }

    #[test]
    fn more_nodes_find_smaller_deficits() {
        let mut random = Random::new(4);
        let mut finds = |count: usize| {
            let mut values: Vec<f64> = (0..count).map(|_| 0.01 * random.normal()).collect();
            Reference::of(&mut values).unwrap().finds(1e-6, 0.0).unwrap()
        };
        let (few, many) = (finds(10), finds(1000));
        assert!(many < 0.07 && few > 2.0 * many, "{few} {many}");
    }

    #[test]
    fn a_value_is_no_surer_than_its_own_interval() {
        let mut values: Vec<f64> = (0..100).map(|at| 0.0001 * f64::from(at)).collect();
        let reference = Reference::of(&mut values).unwrap();
        assert!(reference.probability(-0.05, 0.0) < 1e-6);
        assert_eq!(reference.probability(-0.05, 0.05), 1.0);
        assert_eq!(reference.probability(0.05, 0.0), 1.0);
    }

    proptest! {
        #[test]
        fn a_third_of_bad_values_moves_the_centre_little(seed in 0u64..50, bad in 0usize..33) {
            let mut random = Random::new(seed);
            let mut values: Vec<f64> = (0..100).map(|_| 0.01 * random.normal()).collect();
            values.iter_mut().take(bad).for_each(|value| *value -= 5.0);
            let reference = Reference::of(&mut values).unwrap();
            prop_assert!(reference.centre.abs() < 0.02, "{:?}", reference);
        }

        #[test]
        fn the_limit_is_one_of_the_probabilities(mut p in proptest::collection::vec(0.0..1.0f64, 1..50)) {
            let tests = p.len();
            let limit = false_discovery_limit(&mut p, tests, 0.1);
            let accused = p.iter().filter(|p| **p <= limit).count();
            prop_assert!(limit == 0.0 || limit <= 0.1 * accused as f64 / tests as f64);
        }
    }
}
