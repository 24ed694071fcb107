//! Verifies the results of the sections.

use super::constants::{HUNDRED, SECTIONS, T1};
use super::functions::Functions;
use crate::Outcome;
use crate::shared::{Cause, step};

/// Results of the sections after an odd number of passes. UnixBench prints those of its first calibration,
/// and does not verify them.
const ODD: [f64; SECTIONS] = [
    -1.123_982_556_673_919,
    -1.121_870_798_892_844,
    1.0,
    12.0,
    0.499_029_372_815_183,
    0.999_999_878_908_028,
    3.0,
    0.751_001_630_184_442,
];
/// Results after an even number of passes: sections 1, 2 and 5 end with the other factor.
const EVEN: [f64; SECTIONS] =
    [-1.133_333_3, -1.133_333_3, 1.0, 12.0, 0.5, 0.999_999_878_908_028, 3.0, 0.751_001_630_184_442];
/// Tolerance after one pass: libraries and orders of operations differ in the last digits.
const ONE_PASS: f64 = 1e-11;
/// Tolerance after many passes: sections 1, 2 and 5 drift by about 4e-9 per pass.
const MANY_PASSES: f64 = 0.01;
/// Share by which the result of section 6 decreases per pass.
const DECREASE_6: f64 = 9.98e-9;

/// Verifies every section. The cause's detail is the number of the section, from 1.
pub fn verify(results: &[f64; SECTIONS], passes: u64, functions: &Functions) -> Outcome {
    let is_one = passes == 1;
    let expected = if passes.is_multiple_of(2) { &EVEN } else { &ODD };
    // Sections 6 and 8 continue from pass to pass.
    let later_passes = (passes.max(1) - 1) as f64;
    let iterations = (93 * HUNDRED) as f64;
    let exponent = (later_passes + 1.0) * iterations * functions.log(0.5 / T1);
    let standard = functions.log(0.75) * functions.exp(exponent);
    for (section, (result, expected)) in (1u64..).zip(results.iter().zip(expected)) {
        let (expected, tolerance) = match section {
            _ if is_one => (*expected, ONE_PASS),
            6 => (*expected * functions.exp(-DECREASE_6 * later_passes), MANY_PASSES),
            8 => (functions.exp(standard), 1e-6),
            _ => (*expected, MANY_PASSES),
        };
        let error = (*result - expected).abs();
        if error > tolerance || error.is_nan() {
            return Err(Cause::wrong(step::VALUES, section));
        }
    }
    Ok(())
}

#[cfg(test)]
mod unit {
    use std::sync::atomic::Ordering;

    use super::super::{FIELD_PASSES, FIELD_SECTION, SECTION_1_REPEATS, TEST, run_sections};
    use super::*;
    use crate::testing::in_a_child;

    #[test]
    fn the_sections_give_the_expected_results() {
        let functions = Functions::load().unwrap();
        let one = run_sections(1, &functions).results;
        for (section, (result, expected)) in one.iter().zip(ODD).enumerate() {
            assert!((result - expected).abs() < 1e-11, "section {}: {result} {expected}", section + 1);
        }
        // Computed by another program, in another order of operations.
        let after_21_passes = [
            (-1.123_982_516_790_67, 0),
            (-1.121_870_748_713_937, 1),
            (0.499_029_368_431_155, 4),
            (0.999_999_679_283_079, 5),
            (0.770_344_125_846_866, 7),
        ];
        let results = run_sections(21, &functions).results;
        for (expected, index) in after_21_passes {
            assert!((results[index] - expected).abs() < 1e-10, "section {}: {}", index + 1, results[index]);
        }
        assert_eq!((results[2], results[3], results[6]), (1.0, 12.0, 3.0));
    }

    #[test]
    fn a_wrong_result_is_caught_whatever_the_passes() {
        let functions = Functions::load().unwrap();
        for passes in [1, 2, 15] {
            let results = run_sections(passes, &functions).results;
            assert_eq!(verify(&results, passes, &functions), Ok(()), "{passes} passes");
            for section in 0..SECTIONS {
                let mut results = results;
                results[section] *= 1.05;
                let caught = Err(Cause::wrong(step::VALUES, section as u64 + 1));
                assert_eq!(verify(&results, passes, &functions), caught, "{passes} passes");
                results[section] = f64::NAN;
                assert_eq!(verify(&results, passes, &functions), caught, "{passes} passes");
            }
        }
    }

    #[test]
    fn the_count_is_the_sum_of_the_sections() {
        let (code, slot) = in_a_child(&TEST, 100, || {});
        assert_eq!((code, slot.failed.load(Ordering::Relaxed)), (0, 0));
        let passes = slot.get(FIELD_PASSES);
        let times: u64 = (0..SECTIONS).map(|index| slot.get(index)).sum();
        let mwips = slot.count.load(Ordering::Relaxed) as f64 / TEST.scale;
        let expected = passes as f64 * 100.0 / (10.0 * times as f64 * 1e-9);
        assert!(passes > 0 && (mwips / expected - 1.0).abs() < 1e-3, "{mwips} {expected}");
        let window = slot.ended.load(Ordering::Relaxed) - slot.started.load(Ordering::Relaxed);
        let elapsed = times + (SECTION_1_REPEATS - 1) * slot.get(FIELD_SECTION);
        assert!(elapsed <= window, "the sections are within the window: {elapsed} {window}");
    }
}
