//! Pages that the program asks the kernel for itself, and those of its threads and of its children.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use super::pace::Pace;
use super::{Failure, touch};
use crate::{opaque, sys};

/// What is said where there is no memory.
const MEMORY: Failure = c"truebench-cell: no memory could be mapped\n";
/// Bytes that a huge mapping begins at a multiple of: the least huge page of all that there are, unless pages are larger.
const HUGE: usize = 2 << 20;

/// What a program does with a mapping of its own when it has touched all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Unmaps it, and maps another for the next iteration.
    Unmap,
    /// Keeps it, but gives its pages back: madvise(MADV_DONTNEED).
    Purge,
}

/// Mappings of so many bytes, of huge pages if asked.
///
/// # Errors
/// No memory; no huge pages.
pub fn mappings(pace: Pace, bytes: usize, after: After, huge: bool) -> Result<(), Failure> {
    let all = bytes.wrapping_add(if huge { HUGE } else { 0 });
    let map = || {
        let base = sys::fresh(all).ok_or(MEMORY)?;
        let at = if huge { (base as usize).wrapping_neg() & (HUGE - 1) } else { 0 };
        let begin = base.wrapping_add(at);
        // SAFETY: within the mapping.
        if huge && unsafe { libc::madvise(begin.cast(), bytes, libc::MADV_HUGEPAGE) } != 0 {
            return Err(c"truebench-cell: this kernel has no transparent huge pages\n");
        }
        Ok((base, begin))
    };
    let mut kept = None;
    pace.each(|| {
        let (base, begin) = match kept {
            Some(mapped) => mapped,
            None => map()?,
        };
        // SAFETY: so many bytes from there on.
        unsafe { touch(begin, bytes, 1) };
        match after {
            After::Unmap => sys::unmap(base, all),
            After::Purge => {
                kept = Some((base, begin));
                // SAFETY: ours, and what is in it is not needed.
                if unsafe { libc::madvise(begin.cast(), bytes, libc::MADV_DONTNEED) } != 0 {
                    return Err(c"truebench-cell: madvise(MADV_DONTNEED) was refused\n");
                }
            }
        }
        Ok(())
    })
}

/// While a child has a picture of the memory, the program writes to all of it, as a database does that saves itself.
///
/// # Errors
/// No memory, no pipe, no child.
pub fn fork(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let base = sys::fresh(bytes).ok_or(MEMORY)?;
    // SAFETY: just mapped.
    unsafe { touch(base, bytes, 1) };
    pace.each(|| {
        let mut ends: [c_int; 2] = [-1, -1];
        // SAFETY: ours to write.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(c"truebench-cell: no pipe could be made\n");
        }
        let [read, write] = ends;
        // SAFETY: one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // Until the other end is closed, by the parent or by its death.
            let mut byte = 0u8;
            // SAFETY: descriptors of our own, and a byte to write to; the child ends.
            unsafe {
                libc::close(write);
                libc::read(read, (&raw mut byte).cast(), 1);
                libc::_exit(0);
            }
        }
        // SAFETY: mapped, and nobody else's; descriptors of our own.
        unsafe {
            if child > 0 {
                touch(base, bytes, 1);
            }
            libc::close(write);
            libc::close(read);
        }
        // SAFETY: no status is asked for.
        if child < 0 || unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) } != child {
            return Err(c"truebench-cell: no child could be forked\n");
        }
        Ok(())
    })
}

/// Bytes of its stack that a thread uses.
pub const STACK: usize = 256 << 10;

/// A thread for each iteration, as a server has them that makes one for each connection.
///
/// # Errors
/// No thread.
pub fn stacks(pace: Pace) -> Result<(), Failure> {
    pace.each(|| {
        let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
        // SAFETY: a body that takes nothing; default attributes; joined once.
        let failed = unsafe {
            libc::pthread_create(thread.as_mut_ptr(), core::ptr::null(), deep, core::ptr::null_mut()) != 0
                || libc::pthread_join(thread.assume_init(), core::ptr::null_mut()) != 0
        };
        if failed { Err(c"truebench-cell: no thread could be started\n") } else { Ok(()) }
    })
}

extern "C" fn deep(_: *mut c_void) -> *mut c_void {
    let mut room = [MaybeUninit::<u8>::uninit(); STACK];
    let base = opaque::address(room.as_mut_ptr()).cast::<u8>();
    // From the top, as a stack grows: below what is in use there is a guard, and some kernels mind a leap over it.
    let mut at = STACK;
    while let Some(below) = at.checked_sub(sys::page()) {
        // SAFETY: within the room.
        unsafe { base.wrapping_add(below).write_volatile(1) };
        at = below;
    }
    core::ptr::null_mut()
}
