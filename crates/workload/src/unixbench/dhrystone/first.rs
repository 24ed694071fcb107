//! The first file of the original: the loop, and the procedures 1 to 5.

use core::ffi::{c_char, c_int};
use core::sync::atomic::Ordering;

use super::second::{func_1, func_2, proc_6, proc_7, proc_8};
use super::variables::*;
use crate::timer;

/// One loop. Returns the two variables that nothing else uses: compilers remove the code that computes them.
#[inline(always)]
pub unsafe fn iteration(locals: *mut Locals) -> (c_int, c_int) {
    unsafe {
        proc_5();
        proc_4();
        let (mut one, mut two): (c_int, c_int) = (2, 3);
        copy(&raw mut (*locals).second.0, &raw const SECOND.0);
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
                copy(&raw mut (*locals).second.0, &raw const THIRD.0);
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

/// strcpy(3) of a constant. Compilers turn it into moves.
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
    // A loop in the original, which ends once this is done. C compilers may assume that a loop ends.
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
