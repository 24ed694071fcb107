//! Order statistics.

/// The middle value, or the mean of the two middle ones. `None` if empty or if a value is NaN.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile `q` (0 to 1) by linear interpolation between order statistics (Hyndman and Fan's type 7, R's
/// default). `None` if empty or if a value is NaN.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    Some(low + (high - low) * position.fract())
}

/// Median absolute deviation from the median, unscaled.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
}

/// Smallest and largest value. `None` if empty or if a value is NaN.
pub fn range(values: &[f64]) -> Option<(f64, f64)> {
    Some((quantile(values, 0.0)?, quantile(values, 1.0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        // R: quantile(c(1,2,3,4,10), 0.9) = 7.6
        assert!((quantile(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.9).unwrap() - 7.6).abs() < 1e-12);
        // R: mad(c(1,2,3,4,10), constant = 1) = 1
        assert_eq!(mad(&[1.0, 2.0, 3.0, 4.0, 10.0]), Some(1.0));
    }

    proptest! {
        #[test]
        fn the_median_splits_in_halves(values in proptest::collection::vec(-1e9..1e9f64, 1..60)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|v| **v < middle).count();
            let above = values.iter().filter(|v| **v > middle).count();
            prop_assert!(below * 2 <= values.len() && above * 2 <= values.len());
        }
    }
}
