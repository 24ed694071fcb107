//! Does a figure have two values instead of one?

use super::{median, range};

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
/// The gap between the groups must exceed the wider group's own width this many times. Two uniform halves
/// of one population of 8 to 60 values exceed 1.5 in under 0.5 % of draws (see the test `one_mode_is_one`).
const GAP_TO_WIDTH: f64 = 1.5;
/// A gap smaller than this share of the median is no mode that anyone has to decide about.
const MIN_GAP: f64 = 0.02;

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
    let cut = (MIN_GROUP..=n - MIN_GROUP)
        .max_by(|&i, &j| (sorted[i] - sorted[i - 1]).total_cmp(&(sorted[j] - sorted[j - 1])))?;
    let (low, high) = sorted.split_at(cut);
    let gap = high[0] - low[low.len() - 1];
    let width = |group: &[f64]| range(group).map_or(0.0, |(first, last)| last - first);
    let wide = gap > GAP_TO_WIDTH * width(low).max(width(high)) && gap > MIN_GAP * middle.abs();
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
        let mut false_alarms = 0;
        for trial in 0..4000 {
            let n = 8 + trial % 53;
            let values: Vec<f64> = (0..n).map(|_| 100.0 + 20.0 * random.uniform()).collect();
            false_alarms += usize::from(modes(&values).is_some());
        }
        assert!(false_alarms < 20, "{false_alarms} of 4000");
    }

    #[test]
    fn an_outlier_is_no_mode() {
        assert_eq!(modes(&[10.0, 10.0, 10.1, 9.9, 10.0, 10.05, 9.95, 10.0, 5.0]), None);
    }
}
