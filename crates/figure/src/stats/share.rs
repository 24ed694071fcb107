//! The interval of a share, by the number of samples, and that of a count.

use crate::interval::Interval;

/// Quantile of the normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a share of `samples` independent ones (Wilson's score interval, 1927): never outside 0 to 1, and of
/// some width where none or all were counted. `None` without samples.
pub fn share_interval(share: f64, samples: usize) -> Option<Interval> {
    if samples == 0 || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let n = samples as f64;
    let scale = 1.0 + Z * Z / n;
    let centre = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Interval {
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
        level: 0.95,
        method: "wilson".to_owned(),
        rounds: samples,
    })
}

/// The 95 % interval of the mean of what was counted once, each independent of the others (Poisson; the score interval). `None` without
/// any.
pub fn count_interval(count: f64) -> Option<Interval> {
    if !count.is_finite() || count < 1.0 {
        return None;
    }
    let (centre, half) = (count + Z * Z / 2.0, Z * (count + Z * Z / 4.0).sqrt());
    let (low, high) = (centre - half, centre + half);
    Some(Interval { low, high, level: 0.95, method: "poisson".to_owned(), rounds: count as usize })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn known_answers() {
        // R: prop.test(20, 100, correct = FALSE)$conf.int = 0.1333669 0.2888292
        let interval = share_interval(0.2, 100).unwrap();
        assert!((interval.low - 0.133_366_9).abs() < 1e-6 && (interval.high - 0.288_829_2).abs() < 1e-6);
        // R: prop.test(0, 10, correct = FALSE)$conf.int = 0 0.2775328
        let none = share_interval(0.0, 10).unwrap();
        assert!(none.low == 0.0 && (none.high - 0.277_532_8).abs() < 1e-6);
        assert_eq!((share_interval(0.5, 0), share_interval(1.5, 10)), (None, None));
    }

    #[test]
    fn counts_have_the_spread_of_their_roots() {
        // Each end is the mean from which the count is 1.96 of its standard deviations away.
        let interval = count_interval(100.0).unwrap();
        for mean in [interval.low, interval.high] {
            assert!(((100.0 - mean).abs() / mean.sqrt() - Z).abs() < 1e-9, "{mean}");
        }
        assert_eq!((interval.rounds, count_interval(0.0), count_interval(f64::NAN)), (100, None, None));
    }
}
