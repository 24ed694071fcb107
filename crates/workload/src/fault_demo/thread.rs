//! A thread for a shape.

use core::ffi::c_void;

use super::failure::Failure;
use crate::libc_parts::{self, Body};

/// Runs a body in a thread, and waits for its end.
///
/// # Safety
/// The body takes this argument.
pub(super) unsafe fn in_thread(body: Body, argument: *mut c_void) -> Result<(), Failure> {
    let mut thread = core::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the caller's; default attributes; joined once.
    let failed = unsafe {
        libc_parts::pthread_create(thread.as_mut_ptr(), body, argument) != 0
            || libc_parts::pthread_join(thread.assume_init()) != 0
    };
    if failed { Err(c"truebench-workload: no thread could be started\n") } else { Ok(()) }
}
