//! Does a figure have two values instead of one?

use super::order::{median, range};

/// Two groups that the values fall into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Median of the lower group.
    pub low: f64,
    /// Median of the upper group.
    pub high: f64,
    /// Share of the values in the lower group, 0 to 1.
    pub low_share: f64,
}

/// Fewer values than this cannot show two modes.
const MIN_VALUES: usize = 8;
/// Each mode must hold at least this many values: less are outliers, not a mode.
const MIN_GROUP: usize = 3;
/// The gap between the groups must exceed the wider group's own width this many times, for so many values at most: the fewer, the wider
/// are gaps by chance. Uniform values have the widest gaps; they exceed it in 0.5 % of draws (see the test `one_mode_is_one`); with
/// 1.5 for all, 5 % of eight values would be two modes.
const GAP_TO_WIDTH: [(usize, f64); 6] =
    [(8, 3.1), (9, 2.6), (10, 2.2), (11, 1.9), (12, 1.7), (usize::MAX, 1.5)];
/// A gap smaller than this share of the median is no mode that anyone has to decide about.
const MIN_GAP: f64 = 0.02;
/// From this ratio of the largest to the smallest on, distances are those of logarithms: what moves a figure several-fold moves it in
/// proportion, and the upper group is as many times wider as it is higher.
const SEVERAL_FOLD: f64 = 2.0;

/// Splits the values at their widest inner gap and reports two modes when that gap dwarfs both groups: a gap
/// test in the manner of Hartigan's dip (Annals of Statistics 13, 1985) for few values.
pub fn modes(values: &[f64]) -> Option<Modes> {
    let n = values.len();
    if n < MIN_VALUES {
        return None;
    }
    let middle = median(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let is_several_fold = sorted[0] > 0.0 && sorted[n - 1] > SEVERAL_FOLD * sorted[0];
    let distance = |low: f64, high: f64| if is_several_fold { (high / low).ln() } else { high - low };
    let gap = |at: usize| distance(sorted[at - 1], sorted[at]);
    let cut = (MIN_GROUP..=n - MIN_GROUP).max_by(|&i, &j| gap(i).total_cmp(&gap(j)))?;
    let (low, high) = sorted.split_at(cut);
    let width = |group: &[f64]| range(group).map_or(0.0, |(first, last)| distance(first, last));
    let (_, times) = GAP_TO_WIDTH.into_iter().find(|(most, _)| n <= *most)?;
    let wide = gap(cut) > times * width(low).max(width(high))
        && sorted[cut] - sorted[cut - 1] > MIN_GAP * middle.abs();
    wide.then(|| Modes {
        low: median(low).unwrap_or(f64::NAN),
        high: median(high).unwrap_or(f64::NAN),
        low_share: cut as f64 / n as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn two_modes_are_two() {
        let values = [99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0];
        let modes = modes(&values).unwrap();
        assert_eq!((modes.low, modes.high), (100.0, 339.0));
        assert!((modes.low_share - 5.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn one_mode_is_one() {
        let mut random = Random::new(7);
        for n in (8..=16).chain([20, 60]) {
            let mut values = || -> Vec<f64> { (0..n).map(|_| 100.0 + 20.0 * random.uniform()).collect() };
            let false_alarms = (0..4000).filter(|_| modes(&values()).is_some()).count();
            assert!(false_alarms < 40, "{false_alarms} of 4000 with {n} values");
        }
    }

    #[test]
    fn modes_far_apart_may_each_be_wide() {
        let values =
            [4369.0, 104.0, 3146.0, 106.0, 2674.0, 105.0, 3204.0, 100.0, 3073.0, 113.0, 2785.0, 132.0];
        assert_eq!(modes(&values).map(|modes| modes.low_share), Some(0.5));
    }

    /// Waiting times: the more, the rarer.
    #[test]
    fn a_long_tail_is_no_mode() {
        let mut random = Random::new(11);
        let waiting = |n: usize, random: &mut Random| -> Vec<f64> {
            (0..n).map(|_| -(1.0 - random.uniform()).ln()).collect()
        };
        let false_alarms =
            (0..4000).filter(|trial| modes(&waiting(8 + trial % 53, &mut random)).is_some()).count();
        assert!(false_alarms < 20, "{false_alarms} of 4000");
    }

    #[test]
    fn an_outlier_is_no_mode() {
        assert_eq!(modes(&[10.0, 10.0, 10.1, 9.9, 10.0, 10.05, 9.95, 10.0, 5.0]), None);
    }
}
