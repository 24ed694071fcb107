//! Two figures that were measured apart, on two machines or in two runs: how far is one from the other?

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::order::{median, quantile};
use super::random::Random;
use crate::check::MIN_ROUNDS;
use crate::interval::Interval;

/// Draws of the bootstrap: the ends of a 95 % interval then move by less than a tenth of its width from seed to seed.
const DRAWS: usize = 10_000;
/// Medians of resampled samples that stand ready for each round.
const MEDIANS: usize = 200;
/// More samples of a round than these are drawn no more often: what they leave of its spread is nothing beside that of rounds.
const MOST_SAMPLES: usize = 1000;
/// The same record gives the same interval each time.
const SEED: u64 = 0x7275_6562;
/// Ends of the central 95 %.
const TAILS: [f64; 2] = [0.025, 0.975];
/// Half the width of a 95 % interval in standard errors.
const Z: f64 = 1.959_964;

/// The natural logarithm of the ratio of two medians, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The logarithm.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard error.
    pub error: f64,
    /// Rounds of both figures together.
    pub rounds: usize,
}

/// The ratio of the medians of two figures' rounds by a hierarchical bootstrap: rounds are drawn with replacement, and within
/// each the samples; a round's value is the median of its samples, a figure's that of its rounds (Davison and Hinkley,
/// *Bootstrap Methods*, section 3.8; Kalibera and Jones, ISMM 2013, resample the upper level first as well). Percentile interval
/// of 10 000 draws with a fixed seed.
///
/// The medians of a round's samples are drawn from 200 that were made beforehand. `None` with fewer than 6 rounds on a side, or
/// with a sample that is not above zero and finite.
pub fn log_ratio(of: &[Vec<f64>], to: &[Vec<f64>]) -> Option<LogRatio> {
    let mut random = Random::new(SEED);
    let value = middle_of(of)?.ln() - middle_of(to)?.ln();
    let (of, to) = (resampled(of, &mut random), resampled(to, &mut random));
    let mut draws: Vec<f64> =
        (0..DRAWS).map(|_| draw(&of, &mut random).ln() - draw(&to, &mut random).ln()).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let mean = draws.iter().sum::<f64>() / DRAWS as f64;
    let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
    let [low, high] = TAILS.map(|q| quantile(&draws, q));
    Some(LogRatio { value, low: low?, high: high?, error: variance.sqrt(), rounds: of.len() + to.len() })
}

/// The median of the rounds' medians. `None` with too few rounds, or what has no logarithm.
fn middle_of(rounds: &[Vec<f64>]) -> Option<f64> {
    let has_logarithm = |sample: &f64| sample.is_finite() && *sample > 0.0;
    if rounds.len() < MIN_ROUNDS || !rounds.iter().flatten().all(has_logarithm) {
        return None;
    }
    let values: Option<Vec<f64>> = rounds.iter().map(|samples| median(samples)).collect();
    median(&values?)
}

/// For each round, medians of its samples drawn anew.
fn resampled(rounds: &[Vec<f64>], random: &mut Random) -> Vec<Vec<f64>> {
    let mut medians = |samples: &Vec<f64>| match samples.as_slice() {
        [one] => vec![*one],
        samples => {
            let drawn = samples.len().min(MOST_SAMPLES);
            let mut again = vec![0.0; drawn];
            (0..MEDIANS)
                .map(|_| {
                    again.fill_with(|| samples[random.index(samples.len())]);
                    middle(&mut again)
                })
                .collect()
        }
    };
    rounds.iter().map(&mut medians).collect()
}

/// The median of as many rounds as there are, drawn anew.
fn draw(rounds: &[Vec<f64>], random: &mut Random) -> f64 {
    let mut drawn: Vec<f64> = (0..rounds.len())
        .map(|_| {
            let medians = &rounds[random.index(rounds.len())];
            medians[random.index(medians.len())]
        })
        .collect();
    middle(&mut drawn)
}

/// The median of values that are all numbers, in place.
fn middle(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if odd { upper } else { (upper + below.iter().copied().fold(f64::MIN, f64::max)) / 2.0 }
}

/// The same for figures that have an interval and no rounds of their own: the intervals' distances from their values add up in
/// squares (Zou and Donner, *Construction of confidence limits about effect measures*, Statistics in Medicine 27, 2008). `None`
/// if one does not hold its value, or holds what has no logarithm.
pub fn log_ratio_of_intervals(of: (f64, &Interval), to: (f64, &Interval)) -> Option<LogRatio> {
    let logs = |(value, interval): (f64, &Interval)| {
        let holds = interval.low > 0.0 && interval.low <= value && value <= interval.high;
        (holds && interval.high.is_finite()).then(|| [interval.low, value, interval.high].map(f64::ln))
    };
    let ([of_low, of_value, of_high], [to_low, to_value, to_high]) = (logs(of)?, logs(to)?);
    let value = of_value - to_value;
    let low = value - (of_value - of_low).hypot(to_high - to_value);
    let high = value + (of_high - of_value).hypot(to_value - to_low);
    Some(LogRatio {
        value,
        low,
        high,
        error: (high - low) / (2.0 * Z),
        rounds: of.1.rounds.saturating_add(to.1.rounds),
    })
}

impl LogRatio {
    /// How probable so great a distance from 0 is, if the true one is no greater than `band`: two-sided, by Student's t with as
    /// many degrees of freedom as there are rounds less two.
    pub fn chance_within(&self, band: f64) -> f64 {
        let beyond = self.value.abs() - band;
        if beyond <= 0.0 {
            return 1.0;
        }
        if self.error == 0.0 {
            return 0.0;
        }
        let freedom = self.rounds.saturating_sub(2).max(1) as f64;
        StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |t| 2.0 * t.sf(beyond / self.error))
    }

    /// How many times the rounds that there are would be needed, if they go on as they did, for the interval to lie on one side
    /// of an edge of ± `band`: its width shrinks with the square root of their number.
    pub fn times_rounds(&self, band: f64) -> f64 {
        let distance = (self.value.abs() - band).abs();
        ((self.high - self.low) / 2.0 / distance).powi(2)
    }
}

/// Which of these probabilities Holm's step-down procedure takes for more than chance, so that all of them together are wrong
/// with at most `level` (S. Holm, Scandinavian Journal of Statistics 6, 1979).
pub fn holm(chances: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut rejected = vec![false; chances.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if chances[at] > level / (chances.len() - rank) as f64 {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rounds of samples around a value, with a spread of rounds and one of samples.
    fn rounds(random: &mut Random, value: f64, rounds: usize, spread: f64) -> Vec<Vec<f64>> {
        // The sum of 12 uniform numbers less 6 is normal enough.
        let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
        (0..rounds)
            .map(|_| {
                let round = value * (spread * normal()).exp();
                (0..5).map(|_| round * (spread / 2.0 * normal()).exp()).collect()
            })
            .collect()
    }

    #[test]
    fn known_answers() {
        let same = vec![vec![2.0]; 6];
        let double = vec![vec![4.0, 4.0, 4.0]; 7];
        let ratio = log_ratio(&double, &same).unwrap();
        assert_eq!(ratio.value, 2f64.ln());
        assert!((ratio.low - ratio.value).abs() < 1e-12 && (ratio.high - ratio.value).abs() < 1e-12);
        assert_eq!(ratio.rounds, 13);
        assert_eq!(log_ratio(&same[..5], &double), None);
        assert_eq!(log_ratio(&vec![vec![0.0]; 6], &double), None);
        assert_eq!(log_ratio(&vec![vec![]; 6], &double), None);
        let interval = |low, high| Interval { low, high, level: 0.95, method: String::new(), rounds: 6 };
        let one = log_ratio_of_intervals((2.0, &interval(1.0, 4.0)), (1.0, &interval(1.0, 1.0))).unwrap();
        assert!((one.low - 0.0).abs() < 1e-12 && (one.high - 4f64.ln()).abs() < 1e-12);
        assert_eq!(log_ratio_of_intervals((5.0, &interval(1.0, 4.0)), (1.0, &interval(1.0, 1.0))), None);
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let mut random = Random::new(3);
        let trials = 60;
        let covered = (0..trials)
            .filter(|_| {
                let (a, b) = (rounds(&mut random, 10.0, 10, 0.05), rounds(&mut random, 12.0, 8, 0.05));
                let ratio = log_ratio(&b, &a).unwrap();
                (ratio.low..=ratio.high).contains(&1.2f64.ln())
            })
            .count();
        assert!(covered * 100 >= trials * 85, "{covered} of {trials}");
    }

    #[test]
    fn holm_by_hand() {
        // 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2: nothing from there on.
        assert_eq!(holm(&[0.03, 0.01, 0.04, 0.013], 0.05), [false, true, false, true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }

    #[test]
    fn chances_are_those_of_students_t() {
        // R: 2 * pt(-(0.10 - 0.02) / 0.04, 10) = 0.0733880
        let ratio = LogRatio { value: -0.10, low: -0.2, high: 0.0, error: 0.04, rounds: 12 };
        assert!((ratio.chance_within(0.02) - 0.073_388).abs() < 1e-6, "{}", ratio.chance_within(0.02));
        assert_eq!(ratio.chance_within(0.2), 1.0);
        assert!((ratio.times_rounds(0.05) - 4.0).abs() < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn turned_round_it_is_its_opposite_and_scale_does_not_matter(seed in 0..1000u64, scale in 0.001..1000.0f64) {
            let mut random = Random::new(seed);
            let (a, b) = (rounds(&mut random, 1.0, 7, 0.1), rounds(&mut random, 1.3, 9, 0.1));
            let ratio = log_ratio(&b, &a).unwrap();
            let back = log_ratio(&a, &b).unwrap();
            prop_assert!((ratio.value + back.value).abs() < 1e-12);
            // Other draws, the same distribution.
            prop_assert!((ratio.low + back.high).abs() < 0.35 * (ratio.high - ratio.low));
            let scaled: Vec<Vec<f64>> =
                b.iter().map(|round| round.iter().map(|sample| sample * scale).collect()).collect();
            let moved = log_ratio(&scaled, &a).unwrap();
            prop_assert!((moved.low - ratio.low - scale.ln()).abs() < 1e-9);
            prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        }
    }
}
