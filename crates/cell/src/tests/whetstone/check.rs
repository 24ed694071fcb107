//! Whether the sections computed what they had to.

use super::functions::Functions;
use super::{HUNDRED, SECTIONS, T1};
use crate::Outcome;
use crate::shared::{Cause, step};

/// What the sections give after one pass: known answers, which UnixBench prints (of its first calibration) and does not
/// look at.
const KNOWN: [f64; SECTIONS] = [
    -1.123_982_556_673_919,
    -1.121_870_798_892_844,
    1.0,
    12.0,
    0.499_029_372_815_183,
    0.999_999_878_908_028,
    3.0,
    0.751_001_630_184_442,
];
/// … and sections 1, 2 and 5 after an even number of passes, when the last factor was the other one.
const EVEN: [f64; SECTIONS] =
    [-1.133_333_3, -1.133_333_3, 1.0, 12.0, 0.5, 0.999_999_878_908_028, 3.0, 0.751_001_630_184_442];
/// How far a result of one pass may be from the known one: libraries and orders of operations differ in the last digits.
const ONE_PASS: f64 = 1e-11;
/// How far one of many passes may be: sections 1, 2 and 5 drift by some 4e-9 in a pass.
const MANY_PASSES: f64 = 0.01;
/// By how much section 6's number falls in a pass, as a share of it.
const FALL_6: f64 = 9.98e-9;

/// Sees that every section computed what it had to; the cause's detail is the number of the section.
pub fn right(results: &[f64; SECTIONS], passes: u64, functions: &Functions) -> Outcome {
    let is_one = passes == 1;
    let known = if passes.is_multiple_of(2) { &EVEN } else { &KNOWN };
    // Sections 6 and 8 go on from pass to pass, by laws that are known.
    let more = (passes.max(1) - 1) as f64;
    let turns = (93 * HUNDRED) as f64;
    let standard = functions.log(0.75) * functions.exp((more + 1.0) * turns * functions.log(0.5 / T1));
    for (section, (result, known)) in (1u64..).zip(results.iter().zip(known)) {
        let (known, far) = match section {
            _ if is_one => (*known, ONE_PASS),
            6 => (*known * functions.exp(-FALL_6 * more), MANY_PASSES),
            8 => (functions.exp(standard), 1e-6),
            _ => (*known, MANY_PASSES),
        };
        let off = (*result - known).abs();
        if off > far || off.is_nan() {
            return Err(Cause::wrong(step::VALUES, section));
        }
    }
    Ok(())
}

#[cfg(test)]
mod unit {
    use std::sync::atomic::Ordering;

    use super::super::{NOTE_PASSES, NOTE_SECTION, SECTION_1_MORE, TEST, all};
    use super::*;
    use crate::harness::in_a_child;

    #[test]
    fn the_sections_give_what_is_known_of_them() {
        let functions = Functions::load().unwrap();
        let one = all(1, &functions).results;
        for (section, (result, known)) in one.iter().zip(KNOWN).enumerate() {
            assert!((result - known).abs() < 1e-11, "section {}: {result} {known}", section + 1);
        }
        // Computed by another program, in another order of operations.
        let twenty_one = [
            (-1.123_982_516_790_67, 0),
            (-1.121_870_748_713_937, 1),
            (0.499_029_368_431_155, 4),
            (0.999_999_679_283_079, 5),
            (0.770_344_125_846_866, 7),
        ];
        let results = all(21, &functions).results;
        for (known, index) in twenty_one {
            assert!((results[index] - known).abs() < 1e-10, "section {}: {}", index + 1, results[index]);
        }
        assert_eq!((results[2], results[3], results[6]), (1.0, 12.0, 3.0));
    }

    #[test]
    fn a_wrong_result_is_caught_whatever_the_passes() {
        let functions = Functions::load().unwrap();
        for passes in [1, 2, 15] {
            let results = all(passes, &functions).results;
            assert_eq!(right(&results, passes, &functions), Ok(()), "{passes} passes");
            for section in 0..SECTIONS {
                let mut results = results;
                results[section] *= 1.05;
                let caught = Err(Cause::wrong(step::VALUES, section as u64 + 1));
                assert_eq!(right(&results, passes, &functions), caught, "{passes} passes");
                results[section] = f64::NAN;
                assert_eq!(right(&results, passes, &functions), caught, "{passes} passes");
            }
        }
    }

    #[test]
    fn what_is_reported_is_the_sum_of_the_sections() {
        let (code, slot) = in_a_child(&TEST, 100, || {});
        assert_eq!((code, slot.failed.load(Ordering::Relaxed)), (0, 0));
        let note = |index: usize| slot.notes[index].load(Ordering::Relaxed);
        let (passes, times) = (note(NOTE_PASSES), (0..SECTIONS).map(note).sum::<u64>());
        let mwips = slot.count.load(Ordering::Relaxed) as f64 / TEST.scale;
        let expected = passes as f64 * 100.0 / (10.0 * times as f64 * 1e-9);
        assert!(passes > 0 && (mwips / expected - 1.0).abs() < 1e-3, "{mwips} {expected}");
        let window = slot.ended.load(Ordering::Relaxed) - slot.started.load(Ordering::Relaxed);
        let elapsed = times + (SECTION_1_MORE - 1) * note(NOTE_SECTION);
        assert!(elapsed <= window, "the sections are within the window: {elapsed} {window}");
    }
}
