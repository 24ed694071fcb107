//! `truebench-workload`: the tiny process in which counted operations run. See the crate `workload`.

#![no_main]
// Release builds abort on panic, which needs no runtime; tests unwind, and then the standard library brings
// what that takes.
#![cfg_attr(panic = "abort", no_std)]

use core::ffi::{c_char, c_int};

/// main(3), without Rust's runtime: what that sets up would be set up at every exec that is measured.
///
/// # Safety
/// Called by the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: as the C library calls it.
    unsafe { workload::main(argc, argv) }
}

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    workload::sys::abort()
}

/// Named by unwinding tables of the core library, and never called.
#[cfg(panic = "abort")]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
