//! A confidence interval for the median that assumes no distribution.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::check::MIN_ROUNDS;
use crate::interval::Interval;

/// The level that intervals are made for.
const LEVEL: f64 = 0.95;

/// The 95 % interval of the median by order statistics: the sample's k-th smallest and k-th largest value
/// cover the median with probability 1 - 2 P(B < k), B ~ Binomial(n, 1/2); k is the largest that still gives
/// 95 % (Conover, *Practical Nonparametric Statistics*, 3rd ed., section 3.2). `None` with fewer than 6
/// values, or if one is NaN.
///
/// The stated `level` is the coverage really reached (6 values: 96.9 %).
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n < MIN_ROUNDS || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let below = Binomial::new(0.5, n as u64).ok()?;
    let coverage = |k: usize| 1.0 - 2.0 * below.cdf(k as u64 - 1);
    let k = (1..=n / 2).take_while(|&k| coverage(k) >= LEVEL).last()?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Interval {
        low: sorted[k - 1],
        high: sorted[n - k],
        level: (coverage(k) * 1e4).round() / 1e4,
        method: "order-statistics".to_owned(),
        rounds: n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn table_of_conover() {
        let ranks = |n: usize| {
            let values: Vec<f64> = (1..=n).map(|i| i as f64).collect();
            median_interval(&values).map(|interval| (interval.low, interval.high))
        };
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(6), Some((1.0, 6.0)));
        assert_eq!(ranks(8), Some((1.0, 8.0)));
        assert_eq!(ranks(9), Some((2.0, 8.0)));
        assert_eq!(ranks(12), Some((3.0, 10.0)));
        assert_eq!(ranks(20), Some((6.0, 15.0)));
    }

    proptest! {
        #[test]
        fn holds_the_median(values in proptest::collection::vec(-1e9..1e9f64, 6..80)) {
            let interval = median_interval(&values).unwrap();
            let middle = crate::stats::median(&values).unwrap();
            prop_assert!(interval.low <= middle && middle <= interval.high);
            prop_assert!(interval.level >= LEVEL);
        }
    }
}
