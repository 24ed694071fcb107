//! Laws that every HTTP figure is compared with: fairness, Little's law, stationarity. Pure.

use figure::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Jain's index of fairness (Jain, Chiu, Hawe, DEC TR-301, 1984): 1 if all got the same, k/n if k of n got
/// the same and the others nothing. `None` if `got` is empty or all 0.
pub fn jain(got: &[u64]) -> Option<f64> {
    let sum: f64 = got.iter().map(|one| *one as f64).sum();
    let squares: f64 = got.iter().map(|one| (*one as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (got.len() as f64 * squares))
}

/// Little's law of a closed loop without think time: `rate` (1/s) times mean latency (s) is the number of
/// busy connections. Returns the deviation from `connections` as a share of them: 0 where the law holds,
/// negative where some were idle or samples are missing. `None` without connections, or if the result is not
/// finite.
pub fn little(rate: f64, mean_latency: f64, connections: usize) -> Option<f64> {
    (connections > 0).then(|| rate * mean_latency / connections as f64 - 1.0).filter(|miss| miss.is_finite())
}

/// Fewest values for a slope.
pub const MIN_VALUES: usize = 6;

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

/// Number of leading values to drop as warm-up: the fewest after which the 95 % interval of the slope holds
/// 0. `None` if no remainder of at least 6 values is stationary.
pub fn warm_up(values: &[f64]) -> Option<usize> {
    (0..values.len()).find(|&drop| {
        slope(&values[drop..]).is_some_and(|interval| interval.low <= 0.0 && interval.high >= 0.0)
    })
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn jain_known_answers() {
        assert_eq!(jain(&[7, 7, 7, 7]), Some(1.0));
        assert_eq!(jain(&[100, 0, 0, 0]), Some(0.25));
        // 1000 of 16 000 connections were served.
        let got: Vec<u64> = (0..16_000).map(|at| if at < 1000 { 50 } else { 0 }).collect();
        assert_eq!(jain(&got), Some(0.0625));
        assert_eq!((jain(&[]), jain(&[0, 0])), (None, None));
        assert!(jain(&[u64::MAX; 3]).is_some_and(|index| (index - 1.0).abs() < 1e-9));
    }

    #[test]
    fn little_holds_or_misses() {
        assert_eq!(little(20_000.0, 0.01, 200), Some(0.0));
        assert!((little(20_000.0, 0.009, 200).unwrap() + 0.1).abs() < 1e-12);
        // hey, issue 166: 16 105 req/s at a mean of 0.3 s over 1000 connections is impossible.
        assert!((little(16_105.0, 0.3, 1000).unwrap() - 3.8315).abs() < 1e-9);
        assert_eq!((little(1.0, 1.0, 0), little(f64::NAN, 1.0, 1)), (None, None));
    }

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

    #[test]
    fn warm_up_ends_where_the_trend_does() {
        let steady = |at: usize| 100.0 + [0.4, -0.3, 0.1, -0.5, 0.3, -0.1, 0.2, -0.2][at % 8];
        let values: Vec<f64> = (0..40).map(|at| if at < 5 { 20.0 * at as f64 } else { steady(at) }).collect();
        // The fifth value, 80, alone is no trend among the remaining 36.
        assert_eq!(warm_up(&values), Some(4));
        assert_eq!(warm_up(&values[5..]), Some(0));
        assert_eq!(warm_up(&[3.0; 6]), Some(0), "the same all the time");
        let rising: Vec<f64> = (0..40).map(|at| steady(at) + at as f64).collect();
        assert_eq!(warm_up(&rising), None);
        assert_eq!(warm_up(&[]), None);
    }

    proptest! {
        #[test]
        fn jain_is_a_share_and_does_not_depend_on_the_unit(got in proptest::collection::vec(0u64..1_000_000, 1..200)) {
            if let Some(index) = jain(&got) {
                prop_assert!(index <= 1.0 + 1e-9 && index >= 1.0 / got.len() as f64 - 1e-9);
                let more: Vec<u64> = got.iter().map(|one| one * 1000).collect();
                prop_assert!((jain(&more).unwrap() - index).abs() < 1e-9);
            }
        }

        #[test]
        fn a_line_has_its_slope(start in -1e3..1e3f64, rise in -10.0..10.0f64, n in 6usize..60) {
            let values: Vec<f64> = (0..n).map(|at| start + rise * at as f64).collect();
            let interval = slope(&values).unwrap();
            prop_assert!(interval.low <= rise + 1e-6 && interval.high >= rise - 1e-6);
        }
    }
}
