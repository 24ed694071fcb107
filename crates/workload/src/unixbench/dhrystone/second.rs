//! The second file of the original: procedures 6 to 8 and the functions. In C the first file cannot see their
//! bodies. Here they are never inlined, and [`opaque`] hides arguments and results from the compiler.

use core::ffi::{c_char, c_int};

use super::variables::*;
use crate::opaque;

#[inline(never)]
pub unsafe extern "C" fn proc_6(value: c_int, to: *mut c_int) {
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
pub unsafe extern "C" fn proc_7(one: c_int, two: c_int, to: *mut c_int) {
    opaque::memory();
    let (one, two) = (opaque::int(one), opaque::int(two));
    unsafe { *to = two.wrapping_add(one.wrapping_add(2)) };
}

#[inline(never)]
pub unsafe extern "C" fn proc_8(
    line: *mut c_int,
    square: *mut [[c_int; SIDE]; SIDE],
    one: c_int,
    two: c_int,
) {
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

/// Func_1, as called from the first file.
#[inline(never)]
pub unsafe extern "C" fn func_1(one: c_char, two: c_char) -> c_int {
    opaque::memory();
    let (one, two) = (opaque::int(c_int::from(one)) as c_char, opaque::int(c_int::from(two)) as c_char);
    opaque::int(unsafe { compare(one, two) })
}

/// Func_1, as inlined in its own file.
#[inline(always)]
unsafe fn compare(one: c_char, two: c_char) -> c_int {
    if one != two {
        return ident::ONE;
    }
    unsafe { *global!(first) = one };
    ident::TWO
}

#[inline(never)]
pub unsafe extern "C" fn func_2(one: *mut c_char, two: *mut c_char) -> c_int {
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
