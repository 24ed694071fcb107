//! What the arrays must hold: the same value in every element, followed in exact arithmetic through every
//! pass, as STREAM's checkSTREAMresults does.

use crate::kernels::{Array, Operation, SCALAR, UPDATE_FACTOR};

/// Start values of a, b and c (BabelStream's, which stay in range where STREAM's overflow).
const START: [f64; 3] = [0.1, 0.2, 0.3];
/// Below this magnitude the arrays are filled anew, untimed: denormal numbers would slow the arithmetic.
const SMALLEST: f64 = 1e-100;
/// Above this magnitude likewise: scale, add and triad in turn grow by some 15 % a cycle, without end.
const LARGEST: f64 = 1e100;
/// Largest relative error of an element, as in STREAM's epsilon for doubles.
pub const TOLERANCE: f64 = 1e-13;
/// Largest relative error of a sum of millions of elements, in many partial sums.
pub const SUM_TOLERANCE: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected(pub [f64; 3]);

impl Default for Expected {
    fn default() -> Self {
        Expected(START)
    }
}

impl Expected {
    /// Unknown: worn, so that the arrays are filled anew.
    pub const UNKNOWN: Expected = Expected([f64::NAN; 3]);

    pub fn is_unknown(&self) -> bool {
        self.0.iter().any(|value| value.is_nan())
    }

    pub fn value(&self, array: Array) -> f64 {
        self.0[array as usize]
    }

    /// Follows one pass. A read changes nothing.
    pub fn after(mut self, operation: Operation) -> Self {
        let [a, b, c] = &mut self.0;
        match operation {
            Operation::Copy => *c = *a,
            Operation::Scale => *b = SCALAR * *c,
            Operation::Add => *c = *a + *b,
            Operation::Triad => *a = *b + SCALAR * *c,
            Operation::Read => {}
            Operation::Write => *b = SCALAR,
            Operation::Update => *a *= UPDATE_FACTOR,
        }
        self
    }

    pub fn after_passes(self, operation: Operation, passes: u64) -> Self {
        match operation {
            // Every second pass undoes the one before.
            Operation::Update if passes.is_multiple_of(2) => self,
            _ if passes == 0 => self,
            _ => self.after(operation),
        }
    }

    pub fn is_worn(&self) -> bool {
        self.0.iter().any(|value| !(SMALLEST..=LARGEST).contains(&value.abs()))
    }
}

/// Relative error. NaN and infinity give infinity: for STREAM "NaN > epsilon" is false, and the run valid.
pub fn relative_error(value: f64, expected: f64) -> f64 {
    let error = ((value - expected) / expected).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Operation::*;
    use crate::kernels::SCALAR;
    use loops::baseline::{self, BASELINES};

    #[test]
    fn one_stream_pass() {
        let end = [Copy, Scale, Add, Triad].into_iter().fold(Expected::default(), Expected::after);
        // c = .1; b = .04; c = .14; a = .04 + .4 * .14
        for (value, wanted) in end.0.iter().zip([0.096, 0.04, 0.14]) {
            assert!(relative_error(*value, wanted) < 1e-15);
        }
    }

    #[test]
    fn many_passes_are_followed() {
        let start = Expected::default();
        assert_eq!(start.after_passes(Update, 3).value(Array::A), -0.1);
        assert_eq!(start.after_passes(Update, 4), start);
        assert_eq!(start.after_passes(Triad, 7), start.after(Triad));
    }

    #[test]
    fn thousands_of_passes_stay_in_range() {
        let pass = |e: Expected| [Copy, Scale, Add, Triad].into_iter().fold(e, Expected::after);
        let end = (0..5000).fold(Expected::default(), |e, _| pass(e));
        assert!(!end.is_worn(), "{end:?}");
    }

    #[test]
    fn values_that_grow_are_worn_before_they_overflow() {
        let cycle = |e: Expected| [Scale, Add, Triad].into_iter().fold(e, Expected::after);
        let all = std::iter::successors(Some(Expected::default()), |e| Some(cycle(*e)));
        let worn = all.take(10_000).find(Expected::is_worn).expect("they grow");
        assert!(worn.0.iter().all(|value| value.is_finite()), "{worn:?}");
        assert!(Expected::UNKNOWN.is_worn());
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        assert_eq!(relative_error(f64::NAN, 1.0), f64::INFINITY);
        assert_eq!(relative_error(f64::INFINITY, 1.0), f64::INFINITY);
        assert_eq!(relative_error(1.0, 1.0), 0.0);
        assert!(Expected::UNKNOWN.is_unknown() && Expected::UNKNOWN.is_worn());
        assert!(!Expected::default().is_unknown());
    }

    #[test]
    fn baselines_compute_what_the_kernels_do() {
        for &(operation, origin) in BASELINES {
            let start = Expected::default();
            let mut arrays = [Array::A, Array::B, Array::C].map(|array| vec![start.value(array); 128]);
            let [a, b, c] = arrays.each_mut().map(|array| array.as_mut_ptr());
            let code = baseline::kernel(operation, origin).expect("it is listed");
            // SAFETY: three arrays of 128 elements.
            unsafe { code(a, b, c, 128, SCALAR) };
            let wanted = start.after(operation);
            for (array, values) in [Array::A, Array::B, Array::C].into_iter().zip(&arrays) {
                assert!(values.iter().all(|value| *value == wanted.value(array)), "{operation:?} {origin:?}");
            }
        }
    }
}
