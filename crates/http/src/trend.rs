//! The trend of a series. Pure.

use figure::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

const MIN_VALUES: usize = 6;

/// 95 % interval of the slope of equidistant values, in their unit per step: least squares, Student's t with
/// n - 2 degrees of freedom. Neighbours are assumed independent. `None` below 6 values, or if a value is not
/// finite.
pub fn slope(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n < MIN_VALUES || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let middle = (n - 1) as f64 / 2.0;
    let mean = values.iter().sum::<f64>() / n as f64;
    let points = || values.iter().enumerate().map(|(at, value)| (at as f64 - middle, value - mean));
    let spread: f64 = points().map(|(x, _)| x * x).sum();
    let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
    let squares: f64 = points().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let degrees = (n - 2) as f64;
    let error = (squares / degrees / spread).sqrt();
    let half = StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(0.975) * error;
    Some(Interval {
        low: slope - half,
        high: slope + half,
        level: 0.95,
        method: "least-squares".to_owned(),
        rounds: n,
    })
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slope_known_answer() {
        // By hand: spread 17.5, products 13.5; residual squares 13.5 - 13.5^2/17.5 over 4 degrees, t(4) =
        // 2.776445.
        let interval = slope(&[2.0, 4.0, 5.0, 4.0, 5.0, 7.0]).unwrap();
        let (middle, half) = ((interval.low + interval.high) / 2.0, (interval.high - interval.low) / 2.0);
        assert!((middle - 0.771_428_6).abs() < 1e-6, "{interval:?}");
        let error = ((13.5f64 - 13.5 * 13.5 / 17.5) / 4.0 / 17.5).sqrt();
        assert!((half - 2.776_445 * error).abs() < 1e-5, "{interval:?}");
        assert_eq!((slope(&[1.0; 5]), slope(&[f64::NAN; 8])), (None, None));
    }

    proptest! {
        #[test]
        fn a_line_has_its_slope(start in -1e3..1e3f64, rise in -10.0..10.0f64, n in 6usize..60) {
            let values: Vec<f64> = (0..n).map(|at| start + rise * at as f64).collect();
            let interval = slope(&values).unwrap();
            prop_assert!(interval.low <= rise + 1e-6 && interval.high >= rise - 1e-6);
        }
    }
}
