//! Does a series of rounds rise or fall over the run?

use statrs::distribution::{ContinuousCDF, Normal};

use super::order::median;

/// A trend over the rounds of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Change from the first to the last round along the Theil-Sen line, as a share of the median.
    pub total: f64,
    /// Two-sided p-value of the Mann-Kendall test: how often a series without trend looks at least so.
    pub p: f64,
}

/// Theil-Sen slope (Sen, JASA 63, 1968) with the Mann-Kendall test (Kendall 1975; normal approximation with
/// continuity correction and tie correction). `None` with fewer than 6 values or a zero median.
pub fn drift(values: &[f64]) -> Option<Drift> {
    let n = values.len();
    let middle = median(values).filter(|middle| *middle != 0.0)?;
    if n < crate::check::MIN_ROUNDS {
        return None;
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let mut s = 0i64;
    for i in 0..n {
        for j in i + 1..n {
            slopes.push((values[j] - values[i]) / (j - i) as f64);
            s += match values[j].total_cmp(&values[i]) {
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
            };
        }
    }
    let pairs = |m: f64| m * (m - 1.0) * (2.0 * m + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tie| pairs(tie.len() as f64)).sum();
    let variance = (pairs(n as f64) - ties) / 18.0;
    let p = if variance <= 0.0 {
        1.0
    } else {
        let z = ((s.abs() - 1).max(0)) as f64 / variance.sqrt();
        2.0 * (1.0 - Normal::standard().cdf(z))
    };
    Some(Drift { total: median(&slopes)? * (n - 1) as f64 / middle, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_series_is_detected() {
        let falling: Vec<f64> = (0..12).map(|i| 100.0 - i as f64).collect();
        let drift = drift(&falling).unwrap();
        assert!((drift.total + 11.0 / 94.5).abs() < 1e-9);
        assert!(drift.p < 1e-4);
    }

    #[test]
    fn a_steady_series_is_not() {
        let steady = [10.0, 10.1, 9.9, 10.05, 9.95, 10.0, 10.1, 9.9];
        assert!(drift(&steady).unwrap().p > 0.3);
        assert_eq!(drift(&[5.0; 8]).unwrap().p, 1.0);
        assert_eq!(drift(&steady[..5]), None);
    }

    #[test]
    fn mann_kendall_known_answer() {
        // scipy-independent hand computation: S = 13, var = 28.33 for n = 6 without ties and one inversion.
        let p = drift(&[1.0, 2.0, 3.0, 4.0, 6.0, 5.0]).unwrap().p;
        assert!((p - 0.0242).abs() < 0.0005, "{p}");
    }
}
