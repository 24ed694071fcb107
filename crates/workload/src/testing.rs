//! For unit tests: runs a test in a process of its own, forked and not executed.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use crate::job::Job;
use crate::shared::{HEAD_BYTES, Head, Shared, Slot};
use crate::unixbench::Test;

/// Runs the test in a child after `prepare`, with the start given. Returns the child's exit code and its
/// slot.
pub fn in_a_child(test: &'static Test, milliseconds: u64, prepare: fn()) -> (c_int, &'static Slot) {
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping, zeroed, large enough for a slot, and never unmapped.
    let shared = unsafe {
        let base = libc::mmap(core::ptr::null_mut(), Shared::bytes(1), protection, kind, -1, 0).cast::<u8>();
        assert!(Shared::bytes(1) > HEAD_BYTES && !base.is_null());
        (*base.cast::<Head>()).slots.store(1, Ordering::Relaxed);
        Shared::over(base)
    };
    shared.head().go.store(1, Ordering::Release);
    let slot = shared.slot(0).unwrap();
    // SAFETY: the child runs code of a workload, which takes no lock and allocates nothing.
    let child = unsafe { libc::fork() };
    if child == 0 {
        prepare();
        let job = Job { slot, shared, milliseconds, argv: core::ptr::null(), first: 0, argc: 0 };
        // SAFETY: one thread.
        let code = match unsafe { (test.run)(&job) } {
            Ok(()) => crate::exit::DONE,
            Err(cause) => {
                slot.fail(cause);
                crate::exit::FAILED
            }
        };
        // SAFETY: ends the child.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "status {status:#x}");
    (libc::WEXITSTATUS(status), slot)
}
