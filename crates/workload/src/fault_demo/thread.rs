//! A thread for a shape.

use core::ffi::c_void;

use super::failure::Failure;

/// Runs a body in a thread, and waits for its end.
///
/// # Safety
/// The body takes this argument.
pub(super) unsafe fn in_thread(
    body: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> Result<(), Failure> {
    let mut thread = core::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the caller's; default attributes; joined once.
    let failed = unsafe {
        libc::pthread_create(thread.as_mut_ptr(), core::ptr::null(), body, argument) != 0
            || libc::pthread_join(thread.assume_init(), core::ptr::null_mut()) != 0
    };
    if failed { Err(c"truebench-workload: no thread could be started\n") } else { Ok(()) }
}
