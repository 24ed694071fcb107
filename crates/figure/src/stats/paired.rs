//! Two figures measured in the same rounds: are they the same?

use super::interval::median_interval;
use super::order::median;

/// The ratio of two figures, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median of the ratios a/b.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// Number of pairs.
    pub pairs: usize,
}

impl Ratio {
    /// Whether the two are called the same: the interval holds 1, or the ratio is within `tolerance` of 1.
    pub fn same(&self, tolerance: f64) -> bool {
        (self.low <= 1.0 && 1.0 <= self.high) || (self.value - 1.0).abs() <= tolerance
    }
}

/// The ratio a/b of values measured in turn, in the same order; what is left over of the longer is not used.
/// Pairing removes what drifts for both alike. `None` with fewer than 6 pairs, or if `b` holds a zero.
pub fn paired_ratio(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    if ratios.iter().any(|ratio| !ratio.is_finite()) {
        return None;
    }
    let interval = median_interval(&ratios)?;
    Some(Ratio { value: median(&ratios)?, low: interval.low, high: interval.high, pairs: ratios.len() })
}

/// The differences a - b of values measured in turn, in the same order; what is left over of the longer is not used. Pairing
/// removes what drifts for both alike.
pub fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_drift_cancels() {
        let a = [100.0, 90.0, 80.0, 70.0, 60.0, 50.0];
        let b: Vec<f64> = a.iter().map(|value| value * 0.5).collect();
        let ratio = paired_ratio(&a, &b).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (2.0, 2.0, 2.0));
        assert!(!ratio.same(0.02));
        assert!(paired_ratio(&a, &a).unwrap().same(0.0));
    }

    #[test]
    fn too_few_pairs_or_zeros_give_none() {
        assert_eq!(paired_ratio(&[1.0; 5], &[1.0; 5]), None);
        assert_eq!(paired_ratio(&[1.0; 6], &[0.0; 6]), None);
    }
}
