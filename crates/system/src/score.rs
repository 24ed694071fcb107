//! UnixBench's arithmetic (6.0.0, its script `Run`): what becomes of the passes of a test, and of the tests. Pure.
//!
//! A pass of several copies counts the sum of their counts over the mean of their times. Of the passes the worst third is
//! dropped, by count; the geometric mean of the rest is the score. It is biased upwards and hides two modes: that is why
//! figures have a median of all passes besides.

use workload::unixbench::Test;

/// What the reference machine is rated with in every test.
pub const REFERENCE: f64 = 10.0;

/// One pass: all copies together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The sum of what the copies counted, in the unit of the test (for a rate by time: not yet divided by it).
    pub count: f64,
    /// The mean of the seconds that the copies took.
    pub seconds: f64,
}

impl Pass {
    /// The value of the pass in the unit of a test that counts by `timebase` seconds; 0 for one whose count is the rate.
    pub fn value(&self, timebase: f64) -> f64 {
        if timebase > 0.0 { self.count / (self.seconds / timebase) } else { self.count }
    }
}

/// The passes that count: without the worst third, by count.
pub fn kept(passes: &[Pass]) -> Vec<Pass> {
    let mut sorted = passes.to_vec();
    sorted.sort_by(|a, b| a.count.total_cmp(&b.count));
    sorted.split_off(passes.len() / 3)
}

/// The score of a test: the geometric mean of the best passes, without the worst third by count. `None` without a pass.
///
/// UnixBench lets a count of zero add nothing to the sum of logarithms, so that a test that did nothing scores 1; here it
/// scores 0.
pub fn score(passes: &[Pass], timebase: f64) -> Option<f64> {
    let kept = kept(passes);
    let values: Vec<f64> = kept.iter().map(|pass| pass.value(timebase)).collect();
    if values.is_empty() {
        return None;
    }
    if values.iter().any(|value| *value <= 0.0) {
        return Some(0.0);
    }
    Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The index of a score: 10 is the reference machine.
pub fn index(score: f64, test: &Test) -> f64 {
    score / test.baseline * REFERENCE
}

/// The index of all: the geometric mean of the indices. `None` if there is none, or one is not above zero.
pub fn total(indices: &[f64]) -> Option<f64> {
    let sound = !indices.is_empty() && indices.iter().all(|index| *index > 0.0);
    sound.then(|| (indices.iter().map(|index| index.ln()).sum::<f64>() / indices.len() as f64).exp())
}

#[cfg(test)]
mod unit {
    use super::*;

    fn pass(count: f64, seconds: f64) -> Pass {
        Pass { count, seconds }
    }

    #[test]
    fn the_worst_third_is_dropped_by_count() {
        // Ten passes: three go; three passes: one.
        let ten: Vec<Pass> = (1..=10).map(|count| pass(f64::from(count) * 10.0, 10.0)).collect();
        let kept: f64 = (4..=10).map(|count| f64::from(count).ln()).sum::<f64>() / 7.0;
        assert!((score(&ten, 1.0).unwrap() / kept.exp() - 1.0).abs() < 1e-12);
        let three = [pass(30.0, 30.0), pass(60.0, 30.0), pass(120.0, 30.0)];
        assert!((score(&three, 1.0).unwrap() - 8f64.sqrt()).abs() < 1e-12);
        // By count, not by rate: a pass that took longer is not worse.
        let longer = [pass(100.0, 10.0), pass(100.0, 20.0), pass(90.0, 5.0)];
        assert!((score(&longer, 1.0).unwrap() - 50f64.sqrt()).abs() < 1e-12);
        assert_eq!((score(&[], 1.0), score(&[pass(7.0, 2.0)], 1.0)), (None, Some(3.5)));
    }

    #[test]
    fn units_by_their_timebase() {
        assert_eq!(pass(120.0, 60.0).value(60.0), 120.0, "loops a minute");
        assert_eq!(pass(5500.0, 10.0).value(0.0), 5500.0, "MWIPS is its own rate");
        assert_eq!(score(&[pass(0.0, 10.0)], 1.0), Some(0.0), "nothing done is no score of one");
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
