//! Verifies the final values of Dhrystone.

use core::ffi::{c_char, c_int};

use super::variables::*;
use crate::Outcome;
use crate::shared::{Cause, step};

/// Verifies Dhrystone's documented final values, which UnixBench does not. The signal interrupts a loop,
/// maybe before it is counted: a variable that changes within a loop may have any of its values there.
pub fn check(count: u64) -> Outcome {
    if count == 0 {
        return Ok(());
    }
    // SAFETY: no other thread runs, and `set_up` has stored all pointers.
    match unsafe { first_wrong(count as c_int) } {
        None => Ok(()),
        Some(index) => Err(Cause::wrong(step::VALUES, index)),
    }
}

/// Index, in the list below, of the first value that is impossible after `count` loops and a part of another.
unsafe fn first_wrong(count: c_int) -> Option<u64> {
    unsafe {
        let globals = &raw const GLOBALS;
        let (record, next, locals) = ((*globals).pointer, (*globals).next, (*globals).locals);
        let excess = at(&raw const (*globals).square, 8, 7).wrapping_sub(10).wrapping_sub(count);
        let line = (&raw const (*globals).line).cast::<c_int>().wrapping_add(8);
        let checks = [
            (*globals).integer == 5,
            [0, 1].contains(&(*globals).boolean),
            (*globals).first == b'A' as c_char,
            (*globals).second == b'B' as c_char,
            *line == 7,
            [0, 1].contains(&excess),
            at(&raw const (*globals).square, 28, 8) == 7,
            (*record).next == next && (*record).discriminant == ident::ONE,
            (*record).enumeration == ident::THREE,
            [5, 17].contains(&(*record).integer),
            (*record).text == RECORD.0,
            (*next).next == next && (*next).discriminant == ident::ONE,
            // As copied from the first record, or later in the loop.
            [ident::THREE, ident::TWO].contains(&(*next).enumeration),
            [17, 5, 6, 18].contains(&(*next).integer),
            (*next).text == RECORD.0,
            (*locals).integer == 7,
            (*locals).enumeration == ident::TWO,
            (*locals).first.0 == FIRST.0 && (*locals).second.0 == SECOND.0,
        ];
        checks.iter().position(|is_right| !is_right).map(|index| index as u64)
    }
}

unsafe fn at(square: *const [[c_int; SIDE]; SIDE], row: usize, column: usize) -> c_int {
    unsafe { *square.cast::<[c_int; SIDE]>().wrapping_add(row).cast::<c_int>().wrapping_add(column) }
}

#[cfg(test)]
mod unit {
    use std::sync::Mutex;
    use std::sync::atomic::Ordering;

    use super::super::TEST;
    use super::super::first::iteration;
    use super::*;
    use crate::testing::in_a_child;
    use crate::timer;

    /// The variables are global: one test at a time.
    static LOCK: Mutex<()> = Mutex::new(());

    /// Runs this many loops, then `inspect`.
    fn after(loops: u32, inspect: impl FnOnce(*mut Locals, (c_int, c_int))) {
        let _guard = LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut locals = LOCALS;
        let locals = &raw mut locals;
        // SAFETY: no other test runs, and `locals` outlives the loops and the check.
        unsafe {
            *global!(square) = [[0; SIDE]; SIDE];
            set_up(locals);
            let mut last = (0, 0);
            for _ in 0..loops {
                last = iteration(locals);
            }
            inspect(locals, last);
        }
    }

    #[test]
    fn the_final_values_are_those_of_dhrystone() {
        after(1000, |locals, last| unsafe {
            let (record, next) = (*GLOBALS.pointer, *GLOBALS.next);
            assert_eq!((GLOBALS.integer, GLOBALS.boolean), (5, 1));
            assert_eq!((GLOBALS.first, GLOBALS.second), (b'A' as c_char, b'B' as c_char));
            assert_eq!((GLOBALS.line[8], GLOBALS.square[8][7]), (7, 1010));
            assert_eq!((record.discriminant, record.enumeration, record.integer), (0, 2, 17));
            assert_eq!((next.discriminant, next.enumeration, next.integer), (0, 1, 18));
            assert_eq!((record.text, next.text), (RECORD.0, RECORD.0));
            assert_eq!((last, (*locals).integer, (*locals).enumeration), ((5, 13), 7, 1));
            assert_eq!(((*locals).first.0, (*locals).second.0), (FIRST.0, SECOND.0));
            assert_eq!(check(1000), Ok(()));
            assert_eq!(check(999), Ok(()), "in the middle of a loop, after Proc_8");
        });
    }

    #[test]
    fn a_wrong_value_is_caught() {
        let caught = |index| Err(Cause::wrong(step::VALUES, index));
        after(3, |_, _| {
            assert_eq!(check(2), Ok(()));
            // Loops that were counted and did not run, and the reverse.
            assert_eq!((check(4), check(1)), (caught(5), caught(5)));
        });
        after(3, |_, _| unsafe {
            GLOBALS.integer = 10;
            assert_eq!(check(3), caught(0));
        });
        after(3, |_, _| unsafe {
            (*GLOBALS.next).text[30 - 1] ^= 1;
            assert_eq!(check(3), caught(14));
        });
        after(3, |locals, _| unsafe {
            (*locals).second.0[19] = b'3';
            assert_eq!(check(3), caught(17));
        });
    }

    #[test]
    fn a_run_that_is_ended_in_the_middle_of_a_loop_is_not_called_wrong() {
        let mut loops = 0;
        for milliseconds in 3..23 {
            let (code, slot) = in_a_child(&TEST, milliseconds, || {});
            assert_eq!((code, slot.failed.load(Ordering::Relaxed)), (0, 0));
            assert!(slot.ended.load(Ordering::Relaxed) > slot.started.load(Ordering::Relaxed));
            loops += slot.count.load(Ordering::Relaxed);
        }
        assert!(loops > 0);
    }

    #[test]
    fn a_run_that_counted_what_it_did_not_do_is() {
        let (code, slot) = in_a_child(&TEST, 5, || timer::COUNT.store(2, Ordering::Relaxed));
        assert_eq!((code, slot.failed.load(Ordering::Relaxed)), (crate::exit::FAILED, step::VALUES));
    }

    #[test]
    fn the_strings_are_as_the_original_wants_them() {
        for Text(text) in [FIRST, SECOND, THIRD, RECORD] {
            assert_eq!(text.iter().position(|byte| *byte == 0), Some(30));
        }
        assert_eq!(FIRST.0.iter().zip(&SECOND.0).position(|(one, two)| one != two), Some(19));
        assert!(FIRST.0 < SECOND.0 && FIRST.0[2] != SECOND.0[3]);
    }
}
