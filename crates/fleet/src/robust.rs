//! Centre and scale that bad nodes do not move, and how surely a value lies below.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::rules::SCALE_FLOOR;

/// 1 / Φ⁻¹(3/4): makes the median absolute deviation of normal values their standard deviation (Rousseeuw and Croux, Journal of the
/// American Statistical Association 88, 1993).
const MAD_TO_SIGMA: f64 = 1.4826;
/// Efficiency of the median absolute deviation with normal values (same source): so many of n values count.
const MAD_EFFICIENCY: f64 = 0.37;
/// From so many values on the lower half alone gives the scale: with fewer it is too uncertain.
const ONE_SIDED: usize = 64;
/// Distance of the lower decile from the median over that of the lower quartile: normal values.
const NORMAL_TAIL: f64 = 1.900;
/// The tail is called long from this much above normal on, and at least so many standard errors (which fall as 1/sqrt(n)).
const LONGER: f64 = 0.12;
const TAIL_ERRORS: f64 = 4.0;
/// A lower decile that is so many times as far from the median as the upper one shows a skew, whatever the tail; and at least so many
/// standard errors (of a ratio of deciles of normal values: 1.9/sqrt(n)). One node in 14 with a deficit does not reach it.
const SKEWED: f64 = 0.6;
const DECILES_ERROR: f64 = 5.0 * 1.9;
/// A larger probability than this accuses nobody, whatever the correction: it is not computed.
const IRRELEVANT: f64 = 0.01;
/// Its normal quantile, a little nearer, so that no smaller one is missed.
const RELEVANT_Z: f64 = 2.3;

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
        let mut below: Vec<f64> =
            values.iter().filter(|value| **value < centre).map(|value| centre - value).collect();
        let is_one_sided = count >= ONE_SIDED;
        let spread = if is_one_sided && !below.is_empty() {
            quantile(&mut below, 0.5)?
        } else {
            let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
            quantile(&mut distances, 0.5)?
        };
        let tail = if is_one_sided { tail(values, centre) } else { Tail::Normal };
        let used = if is_one_sided { count / 2 } else { count };
        let freedom = (MAD_EFFICIENCY * used.saturating_sub(1) as f64).max(2.0);
        Some(Reference { centre, spread: spread * MAD_TO_SIGMA, count, freedom, tail })
    }

    /// The scale for a value with this standard error: never below the floor, nor below what the value itself is uncertain by.
    pub fn scale(&self, error: f64) -> f64 {
        self.spread.max(SCALE_FLOOR).max(error)
    }

    /// The probability that a healthy node lies as far below the centre. 1 stands for all that accuses nobody.
    pub fn probability(&self, deviation: f64, error: f64) -> f64 {
        let scale = self.scale(error);
        let z = -deviation / scale;
        if z.is_nan() || z < RELEVANT_Z {
            return 1.0;
        }
        let student = StudentsT::new(0.0, 1.0, self.freedom).map_or(1.0, |student| student.sf(z));
        let long = match self.tail {
            Tail::Normal => 0.0,
            Tail::Long { decile, mean } => {
                let mean = mean.max(scale / 2.0);
                0.1 * (-(-deviation - decile).max(0.0) / mean).exp()
            }
        };
        let probability = student.max(long);
        if probability < IRRELEVANT { probability } else { 1.0 }
    }
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
    use crate::random::Random;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        let mut values = [1.0, 2.0, 3.0, 4.0, 10.0];
        let reference = Reference::of(&mut values).unwrap();
        // R: median(x) = 3, mad(x) = 1.4826
        assert_eq!((reference.centre, reference.spread), (3.0, 1.4826));
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
