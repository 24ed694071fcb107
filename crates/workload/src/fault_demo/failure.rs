//! Why a shape cannot run.

use core::ffi::CStr;

/// Why a shape cannot run on this machine: a line for standard error.
pub type Failure = &'static CStr;
