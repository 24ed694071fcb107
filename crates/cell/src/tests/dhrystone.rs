//! Dhrystone 2: the loop of R. P. Weicker's Dhrystone 2.1 (SIGPLAN Notices 23/8, 1988), as UnixBench counts it.

use core::ffi::{c_char, c_int};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, step};
use crate::test::{Class, Job, Test};
use crate::{Outcome, opaque, timer};

/// The test.
pub const TEST: Test = Test {
    name: "dhry2reg",
    title: "Dhrystone 2 using register variables",
    unit: "lps",
    baseline: 116_700.0,
    timebase: 1.0,
    scale: 1.0,
    seconds: 10.0,
    is_long: true,
    class: Class::Compute,
    counts: "one loop of Dhrystone 2.1: assignments, comparisons, calls, a copied string and a compared one",
    groups: &["oldsystem", "dhry"],
    run,
};

/// Bytes of a string: thirty characters and a zero.
const STRING: usize = 31;
/// Sides of the arrays.
const SIDE: usize = 50;

/// The three strings. What matters of them: thirty characters, of which the first nineteen are the same; the first string is
/// the lowest; the third character of the first is not the fourth of the second.
static FIRST: [u8; STRING] = *b"TRUEBENCH COMPARES 1 TO OTHERS\0";
static SECOND: [u8; STRING] = *b"TRUEBENCH COMPARES 2 OF A KIND\0";
static THIRD: [u8; STRING] = *b"TRUEBENCH COMPARES 3 IN A LINE\0";
static RECORD: [u8; STRING] = *b"TRUEBENCH COPIES ALL OF RECORD\0";

/// The enumeration, an int as in C.
mod ident {
    use core::ffi::c_int;
    pub const ONE: c_int = 0;
    pub const TWO: c_int = 1;
    pub const THREE: c_int = 2;
    pub const FOUR: c_int = 3;
    pub const FIVE: c_int = 4;
}

/// The record of 56 bytes that is copied once in a loop.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    next: *mut Record,
    discriminant: c_int,
    enumeration: c_int,
    integer: c_int,
    text: [u8; STRING],
}

/// A string on the stack, aligned as C's compilers align arrays there.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Text([u8; STRING]);

/// What a loop leaves in variables of its own whose address is known to others.
#[repr(C)]
struct Locals {
    first: Text,
    second: Text,
    integer: c_int,
    enumeration: c_int,
}

/// The global variables.
#[repr(C)]
struct Globals {
    pointer: *mut Record,
    next: *mut Record,
    integer: c_int,
    boolean: c_int,
    first: c_char,
    second: c_char,
    line: [c_int; SIDE],
    square: [[c_int; SIDE]; SIDE],
    /// Two records, aligned as malloc(3) aligns.
    records: [Aligned; 2],
    /// For the check alone.
    locals: *mut Locals,
}

#[repr(C, align(16))]
struct Aligned(Record);

const BLANK: Aligned = Aligned(Record {
    next: core::ptr::null_mut(),
    discriminant: 0,
    enumeration: 0,
    integer: 0,
    text: [0; STRING],
});

static mut GLOBALS: Globals = Globals {
    pointer: core::ptr::null_mut(),
    next: core::ptr::null_mut(),
    integer: 0,
    boolean: 0,
    first: 0,
    second: 0,
    line: [0; SIDE],
    square: [[0; SIDE]; SIDE],
    records: [BLANK, BLANK],
    locals: core::ptr::null_mut(),
};

/// Where a global variable is.
macro_rules! global {
    ($($place:tt)+) => { (&raw mut GLOBALS.$($place)+) };
}

unsafe fn run(job: &Job) -> Outcome {
    // SAFETY: one thread, and a handler that reads.
    unsafe {
        let mut locals = LOCALS;
        set_up(&raw mut locals);
        timer::check(check);
        timer::start(job)?;
        loop {
            turn(&raw mut locals);
            timer::count();
        }
    }
}

/// Local variables before the first loop.
const LOCALS: Locals = Locals { first: Text(FIRST), second: Text([0; STRING]), integer: 0, enumeration: 0 };

/// Values before the first loop.
unsafe fn set_up(locals: *mut Locals) {
    unsafe {
        opaque::address(&raw mut GLOBALS);
        let (record, next) = (global!(records[0].0), global!(records[1].0));
        *record =
            Record { next, discriminant: ident::ONE, enumeration: ident::THREE, integer: 40, text: RECORD };
        *global!(pointer) = record;
        *global!(next) = next;
        *global!(square[8][7]) = 10;
        *global!(locals) = opaque::address(locals);
    }
}

/// One loop. What it returns are the two variables that nothing outside uses: a compiler leaves out what computes them.
#[inline(always)]
unsafe fn turn(locals: *mut Locals) -> (c_int, c_int) {
    unsafe {
        proc_5();
        proc_4();
        let (mut one, mut two): (c_int, c_int) = (2, 3);
        copy(&raw mut (*locals).second.0, &raw const SECOND);
        (*locals).enumeration = ident::TWO;
        let is_greater = func_2((&raw mut (*locals).first).cast(), (&raw mut (*locals).second).cast());
        *global!(boolean) = c_int::from(is_greater == 0);
        while one < two {
            (*locals).integer = one.wrapping_mul(5).wrapping_sub(two);
            proc_7(one, two, &raw mut (*locals).integer);
            one = one.wrapping_add(1);
        }
        proc_8(global!(line).cast(), global!(square), one, (*locals).integer);
        proc_1(*global!(pointer));
        let mut letter = b'A' as c_char;
        while letter <= *global!(second) {
            if (*locals).enumeration == func_1(letter, b'C' as c_char) {
                proc_6(ident::ONE, &raw mut (*locals).enumeration);
                copy(&raw mut (*locals).second.0, &raw const THIRD);
                two = timer::COUNT.load(Ordering::Relaxed) as c_int;
                *global!(integer) = two;
            }
            letter = letter.wrapping_add(1);
        }
        let three = (*locals).integer;
        two = two.wrapping_mul(one);
        one = two.checked_div(three).unwrap_or(0);
        two = two.wrapping_sub(three).wrapping_mul(7).wrapping_sub(one);
        proc_2(&mut one);
        (one, two)
    }
}

/// strcpy(3) of a constant, which compilers turn into moves.
#[inline(always)]
unsafe fn copy(to: *mut [u8; STRING], from: *const [u8; STRING]) {
    unsafe { *to = *from };
}

#[inline(never)]
unsafe extern "C" fn proc_1(record: *mut Record) {
    unsafe {
        let next = (*record).next;
        *next = **global!(pointer);
        (*record).integer = 5;
        (*next).integer = (*record).integer;
        (*next).next = (*record).next;
        proc_3(&raw mut (*next).next);
        if (*next).discriminant == ident::ONE {
            (*next).integer = 6;
            proc_6((*record).enumeration, &raw mut (*next).enumeration);
            (*next).next = (**global!(pointer)).next;
            proc_7((*next).integer, 10, &raw mut (*next).integer);
        } else {
            *record = *(*record).next;
        }
    }
}

#[inline(always)]
unsafe fn proc_2(value: &mut c_int) {
    // A loop in the original, which goes on until this has been done: C compilers may take for granted that it ends.
    if unsafe { *global!(first) } == b'A' as c_char {
        *value = value.wrapping_add(10).wrapping_sub(1).wrapping_sub(unsafe { *global!(integer) });
    }
}

#[inline(always)]
unsafe fn proc_3(to: *mut *mut Record) {
    unsafe {
        if !(*global!(pointer)).is_null() {
            *to = (**global!(pointer)).next;
        }
        proc_7(10, *global!(integer), &raw mut (**global!(pointer)).integer);
    }
}

#[inline(always)]
unsafe fn proc_4() {
    unsafe {
        let is_a = c_int::from(*global!(first) == b'A' as c_char);
        *global!(boolean) |= is_a;
        *global!(second) = b'B' as c_char;
    }
}

#[inline(always)]
unsafe fn proc_5() {
    unsafe {
        *global!(first) = b'A' as c_char;
        *global!(boolean) = 0;
    }
}

// The other file of the original.

#[inline(never)]
unsafe extern "C" fn proc_6(value: c_int, to: *mut c_int) {
    opaque::memory();
    let value = opaque::int(value);
    unsafe {
        *to = value;
        if !func_3(value) {
            *to = ident::FOUR;
        }
        match value {
            ident::ONE => *to = ident::ONE,
            ident::TWO => *to = if *global!(integer) > 100 { ident::ONE } else { ident::FOUR },
            ident::THREE => *to = ident::TWO,
            ident::FIVE => *to = ident::THREE,
            _ => {}
        }
    }
}

#[inline(never)]
unsafe extern "C" fn proc_7(one: c_int, two: c_int, to: *mut c_int) {
    opaque::memory();
    let (one, two) = (opaque::int(one), opaque::int(two));
    unsafe { *to = two.wrapping_add(one.wrapping_add(2)) };
}

#[inline(never)]
unsafe extern "C" fn proc_8(line: *mut c_int, square: *mut [[c_int; SIDE]; SIDE], one: c_int, two: c_int) {
    opaque::memory();
    let (one, two) = (opaque::int(one), opaque::int(two));
    let (line, square) = (opaque::address(line), opaque::address(square).cast::<[c_int; SIDE]>());
    unsafe {
        let at = one.wrapping_add(5) as isize;
        let row = square.wrapping_offset(at).cast::<c_int>();
        *line.wrapping_offset(at) = two;
        *line.wrapping_offset(at + 1) = *line.wrapping_offset(at);
        *line.wrapping_offset(at + 30) = at as c_int;
        let mut index = at;
        while index <= at + 1 {
            *row.wrapping_offset(index) = at as c_int;
            index += 1;
        }
        let before = row.wrapping_offset(at - 1);
        *before = (*before).wrapping_add(1);
        let far = square.wrapping_offset(at + 20).cast::<c_int>();
        *far.wrapping_offset(at) = *line.wrapping_offset(at);
        *global!(integer) = 5;
    }
}

/// As it is called from the other file.
#[inline(never)]
unsafe extern "C" fn func_1(one: c_char, two: c_char) -> c_int {
    opaque::memory();
    let (one, two) = (opaque::int(c_int::from(one)) as c_char, opaque::int(c_int::from(two)) as c_char);
    opaque::int(unsafe { compare(one, two) })
}

/// Func_1's body, inlined where it is called in its own file.
#[inline(always)]
unsafe fn compare(one: c_char, two: c_char) -> c_int {
    if one != two {
        return ident::ONE;
    }
    unsafe { *global!(first) = one };
    ident::TWO
}

#[inline(never)]
unsafe extern "C" fn func_2(one: *mut c_char, two: *mut c_char) -> c_int {
    opaque::memory();
    let mut at: isize = 2;
    let mut letter: c_char = 0;
    unsafe {
        while at <= 2 {
            if compare(*one.wrapping_offset(at), *two.wrapping_offset(at + 1)) == ident::ONE {
                letter = b'A' as c_char;
                at += 1;
            }
        }
        if letter >= b'W' as c_char && letter < b'Z' as c_char {
            at = 7;
        }
        if letter == b'R' as c_char {
            return opaque::int(1);
        }
        if libc::strcmp(one, two) > 0 {
            *global!(integer) = (at as c_int).wrapping_add(7);
            return opaque::int(1);
        }
    }
    opaque::int(0)
}

#[inline(always)]
fn func_3(value: c_int) -> bool {
    value == ident::THREE
}

/// Dhrystone's known final values, which UnixBench does not look at. The signal comes in the middle of a loop, maybe before
/// it is counted: a variable that changes within a loop may have any value that it has there.
fn check(count: u64) -> Outcome {
    if count == 0 {
        return Ok(());
    }
    // SAFETY: nobody else runs, and `set_up` has stored all pointers.
    match unsafe { wrong(count as c_int) } {
        None => Ok(()),
        Some(which) => Err(Cause::wrong(step::VALUES, which)),
    }
}

/// The number, in the list below, of the first value that cannot be after so many loops and a part of another.
unsafe fn wrong(count: c_int) -> Option<u64> {
    unsafe {
        let globals = &raw const GLOBALS;
        let (record, next, locals) = ((*globals).pointer, (*globals).next, (*globals).locals);
        let turns = at(&raw const (*globals).square, 8, 7).wrapping_sub(10).wrapping_sub(count);
        let line = (&raw const (*globals).line).cast::<c_int>().wrapping_add(8);
        let right = [
            (*globals).integer == 5,
            [0, 1].contains(&(*globals).boolean),
            (*globals).first == b'A' as c_char,
            (*globals).second == b'B' as c_char,
            *line == 7,
            [0, 1].contains(&turns),
            at(&raw const (*globals).square, 28, 8) == 7,
            (*record).next == next && (*record).discriminant == ident::ONE,
            (*record).enumeration == ident::THREE,
            [5, 17].contains(&(*record).integer),
            (*record).text == RECORD,
            (*next).next == next && (*next).discriminant == ident::ONE,
            // As copied from the first record, and then.
            [ident::THREE, ident::TWO].contains(&(*next).enumeration),
            [17, 5, 6, 18].contains(&(*next).integer),
            (*next).text == RECORD,
            (*locals).integer == 7,
            (*locals).enumeration == ident::TWO,
            (*locals).first.0 == FIRST && (*locals).second.0 == SECOND,
        ];
        right.iter().position(|right| !right).map(|index| index as u64)
    }
}

/// An element of the square.
unsafe fn at(square: *const [[c_int; SIDE]; SIDE], row: usize, column: usize) -> c_int {
    unsafe { *square.cast::<[c_int; SIDE]>().wrapping_add(row).cast::<c_int>().wrapping_add(column) }
}

#[cfg(test)]
mod unit {
    use std::sync::Mutex;

    use super::*;
    use crate::harness::in_a_child;

    /// The variables are global: one test at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Runs so many loops and looks at what is left.
    fn after(loops: u32, look: impl FnOnce(*mut Locals, (c_int, c_int))) {
        let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut locals = LOCALS;
        let locals = &raw mut locals;
        // SAFETY: alone, and `locals` outlives the loops and the check.
        unsafe {
            *global!(square) = [[0; SIDE]; SIDE];
            set_up(locals);
            let mut last = (0, 0);
            for _ in 0..loops {
                last = turn(locals);
            }
            look(locals, last);
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
            assert_eq!((record.text, next.text), (RECORD, RECORD));
            assert_eq!((last, (*locals).integer, (*locals).enumeration), ((5, 13), 7, 1));
            assert_eq!(((*locals).first.0, (*locals).second.0), (FIRST, SECOND));
            assert_eq!(check(1000), Ok(()));
            assert_eq!(check(999), Ok(()), "in the middle of a loop, after Proc_8");
        });
    }

    #[test]
    fn a_wrong_value_is_caught() {
        let caught = |which| Err(Cause::wrong(step::VALUES, which));
        after(3, |_, _| {
            assert_eq!(check(2), Ok(()));
            // Loops that were counted and not run, and the other way round.
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
        for text in [FIRST, SECOND, THIRD, RECORD] {
            assert_eq!(text.iter().position(|byte| *byte == 0), Some(30));
        }
        assert_eq!(FIRST.iter().zip(&SECOND).position(|(one, two)| one != two), Some(19));
        assert!(FIRST < SECOND && FIRST[2] != SECOND[3]);
    }
}
