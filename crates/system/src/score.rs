//! UnixBench's arithmetic (6.0.0, its script `Run`): from passes to scores, and from scores to indices. Pure.
//!
//! The rate of a pass is the sum of the copies' counts over the mean of their times. The worst third of the
//! passes by count is dropped, and the geometric mean of the rest is the score. It is biased upwards and
//! hides bimodal results. So a figure also has the median of all passes.

use workload::unixbench::Test;

/// The index of the reference machine in every test.
pub const REFERENCE: f64 = 10.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The sum of the copies' counts in the unit of the test, not yet divided by time.
    pub count: f64,
    /// The mean time of the copies in seconds.
    pub seconds: f64,
}

impl Pass {
    /// The value of the pass in the unit of a test that counts per `timebase` seconds. A timebase of 0 means
    /// that the count is a rate.
    pub fn value(&self, timebase: f64) -> f64 {
        if timebase > 0.0 { self.count / (self.seconds / timebase) } else { self.count }
    }
}

/// The passes without the worst third by count.
pub fn best_passes(passes: &[Pass]) -> Vec<Pass> {
    let mut sorted = passes.to_vec();
    sorted.sort_by(|a, b| a.count.total_cmp(&b.count));
    sorted.split_off(passes.len() / 3)
}

/// The score of a test: the geometric mean of the [`best_passes`]. `None` without a pass.
///
/// In UnixBench a count of zero adds nothing to the sum of logarithms, so a test that did nothing scores 1.
/// Here it scores 0.
pub fn score(passes: &[Pass], timebase: f64) -> Option<f64> {
    let values: Vec<f64> = best_passes(passes).iter().map(|pass| pass.value(timebase)).collect();
    if values.iter().any(|value| *value <= 0.0) {
        return Some(0.0);
    }
    geometric_mean(&values)
}

/// The arithmetic mean; `None` if empty.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// The index of a score. The reference machine has 10.
pub fn index(score: f64, test: &Test) -> f64 {
    score / test.baseline * REFERENCE
}

/// The total index: the geometric mean of the indices. `None` if there is none, or one is not positive.
pub fn total(indices: &[f64]) -> Option<f64> {
    let is_valid = indices.iter().all(|index| *index > 0.0);
    is_valid.then(|| geometric_mean(indices)).flatten()
}

#[cfg(test)]
mod unit {
    use super::*;

    fn pass(count: f64, seconds: f64) -> Pass {
        Pass { count, seconds }
    }

    #[test]
    fn the_worst_third_is_dropped_by_count() {
        // Three of ten passes are dropped, one of three.
        let ten: Vec<Pass> = (1..=10).map(|count| pass(f64::from(count) * 10.0, 10.0)).collect();
        let log_mean: f64 = (4..=10).map(|count| f64::from(count).ln()).sum::<f64>() / 7.0;
        assert!((score(&ten, 1.0).unwrap() / log_mean.exp() - 1.0).abs() < 1e-12);
        let three = [pass(30.0, 30.0), pass(60.0, 30.0), pass(120.0, 30.0)];
        assert!((score(&three, 1.0).unwrap() - 8f64.sqrt()).abs() < 1e-12);
        // By count, not by rate: a slower pass is not worse.
        let longer = [pass(100.0, 10.0), pass(100.0, 20.0), pass(90.0, 5.0)];
        assert!((score(&longer, 1.0).unwrap() - 50f64.sqrt()).abs() < 1e-12);
        assert_eq!((score(&[], 1.0), score(&[pass(7.0, 2.0)], 1.0)), (None, Some(3.5)));
    }

    #[test]
    fn units_by_their_timebase() {
        assert_eq!(pass(120.0, 60.0).value(60.0), 120.0, "loops a minute");
        assert_eq!(pass(5500.0, 10.0).value(0.0), 5500.0, "MWIPS is a rate");
        assert_eq!(score(&[pass(0.0, 10.0)], 1.0), Some(0.0), "a count of zero scores 0, not 1");
    }

    #[test]
    fn indices_and_their_total_known_answers() {
        // USAGE of UnixBench: Dhrystone 29820330.6 lps is 2555.3.
        let dhrystone = crate::catalogue::find("dhry2reg").expect("a test");
        assert!((index(29_820_330.6, dhrystone) - 2555.3).abs() < 0.05);
        assert!((total(&[100.0, 400.0]).unwrap() - 200.0).abs() < 1e-9);
        assert_eq!((total(&[]), total(&[5.0, 0.0])), (None, None));
    }
}
