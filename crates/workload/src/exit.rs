//! Exit codes.

use core::ffi::c_int;

/// Done; the slot has the result.
pub const DONE: c_int = 0;
pub const USAGE: c_int = 2;
/// Failed; the slot has the cause.
pub const FAILED: c_int = 1;
