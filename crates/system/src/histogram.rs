//! Quantiles and distributions of durations that were counted in buckets. Pure.

use figure::series::{Bucket, Distribution, Quantile};

/// The quantile `q`, interpolated linearly within its bucket. Buckets are ascending, and none is empty.
pub fn quantile(buckets: &[Bucket], q: f64) -> Option<f64> {
    let rank = q * buckets.iter().map(|bucket| bucket.count as f64).sum::<f64>();
    let mut below = 0.0;
    for bucket in buckets {
        let count = bucket.count as f64;
        if below + count >= rank {
            return Some(bucket.low + (bucket.high - bucket.low) * ((rank - below) / count).clamp(0.0, 1.0));
        }
        below += count;
    }
    None
}

/// The distribution of values with this sum and this largest value. `None` without buckets.
pub fn distribution(buckets: Vec<Bucket>, quantiles: &[f64], sum: f64, most: f64) -> Option<Distribution> {
    let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let min = buckets.first()?.low;
    let value_at = |q| Some(Quantile { q, value: quantile(&buckets, q)?.min(most) });
    let quantiles = quantiles.iter().copied().filter_map(value_at).collect();
    Some(Distribution { count, min, max: most, mean: sum / count as f64, quantiles, buckets })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn quantiles_lie_in_their_buckets_and_below_the_largest_value() {
        let bucket = |low, high, count| Bucket { low, high, count };
        let buckets = vec![bucket(0.0, 10.0, 90), bucket(100.0, 200.0, 10)];
        assert_eq!((quantile(&buckets, 0.45), quantile(&buckets, 0.95)), (Some(5.0), Some(150.0)));
        assert_eq!(quantile(&[], 0.5), None);
        let distribution = distribution(buckets, &[0.5, 1.0], 1900.0, 160.0).unwrap();
        assert_eq!((distribution.count, distribution.min, distribution.mean), (100, 0.0, 19.0));
        assert_eq!(distribution.quantiles[1], Quantile { q: 1.0, value: 160.0 });
    }
}
