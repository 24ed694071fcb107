//! The records, strings and arrays.

use core::ffi::{c_char, c_int};

use crate::opaque;

/// Bytes of a string: thirty characters and a zero.
pub const STRING: usize = 31;
pub const SIDE: usize = 50;

/// The three strings. The test needs: thirty characters, of which the first nineteen are equal; the first
/// string is the lowest; the third character of the first differs from the fourth of the second.
pub static FIRST: Text = Text(*b"TRUEBENCH COMPARES 1 TO OTHERS\0");
pub static SECOND: Text = Text(*b"TRUEBENCH COMPARES 2 OF A KIND\0");
pub static THIRD: Text = Text(*b"TRUEBENCH COMPARES 3 IN A LINE\0");
pub static RECORD: Text = Text(*b"TRUEBENCH COPIES ALL OF RECORD\0");

/// The enumeration, an int as in C.
pub mod ident {
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
pub struct Record {
    pub next: *mut Record,
    pub discriminant: c_int,
    pub enumeration: c_int,
    pub integer: c_int,
    pub text: [u8; STRING],
}

/// A string, aligned as C's compilers align arrays.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct Text(pub [u8; STRING]);

/// Local variables of the loop with an escaping address. Aligned, so that no string crosses a cache line: on the
/// stack that depends on chance, and changes UnixBench's results.
#[repr(C, align(64))]
pub struct Locals {
    pub first: Text,
    pub second: Text,
    pub integer: c_int,
    pub enumeration: c_int,
}

#[repr(C)]
pub struct Globals {
    pub pointer: *mut Record,
    pub next: *mut Record,
    pub integer: c_int,
    pub boolean: c_int,
    pub first: c_char,
    pub second: c_char,
    pub line: [c_int; SIDE],
    pub square: [[c_int; SIDE]; SIDE],
    /// Two records, aligned as malloc(3) aligns them.
    pub records: [Aligned; 2],
    /// For the check only.
    pub locals: *mut Locals,
}

#[repr(C, align(16))]
pub struct Aligned(pub Record);

// SAFETY: zeros are valid integers and pointers.
pub static mut GLOBALS: Globals = unsafe { core::mem::zeroed() };

/// The address of a global variable.
macro_rules! global {
    ($($place:tt)+) => { (&raw mut $crate::unixbench::dhrystone::variables::GLOBALS.$($place)+) };
}
pub(super) use global;

/// Local variables before the first loop.
pub const LOCALS: Locals = Locals { first: FIRST, second: Text([0; STRING]), integer: 0, enumeration: 0 };

/// Values before the first loop.
pub unsafe fn set_up(locals: *mut Locals) {
    unsafe {
        opaque::address(&raw mut GLOBALS);
        let (record, next) = (global!(records[0].0), global!(records[1].0));
        *record =
            Record { next, discriminant: ident::ONE, enumeration: ident::THREE, integer: 40, text: RECORD.0 };
        *global!(pointer) = record;
        *global!(next) = next;
        *global!(square[8][7]) = 10;
        *global!(locals) = opaque::address(locals);
    }
}
