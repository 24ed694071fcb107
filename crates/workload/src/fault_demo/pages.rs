//! Mappings of the program, stacks of its threads, and pages shared with its children.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use super::failure::Failure;
use super::pace::Pace;
use super::thread::in_thread;
use crate::opaque;
use crate::sys::{self, touch};

const MEMORY: Failure = c"truebench-workload: no memory could be mapped\n";
/// Alignment of a mapping of huge pages: the smallest huge page of all kernels with pages of 4 KiB.
const HUGE: usize = 2 << 20;

/// What the program does with a mapping once it has touched all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Unmap,
    /// Keeps the mapping and frees its pages: madvise(MADV_DONTNEED).
    Purge,
}

/// Maps and touches memory, of huge pages if asked.
pub fn mappings(pace: Pace, bytes: usize, after: After, huge: bool) -> Result<(), Failure> {
    let mapped = bytes.wrapping_add(if huge { HUGE } else { 0 });
    let map = || {
        let base = sys::fresh(mapped).ok_or(MEMORY)?;
        let padding = if huge { (base as usize).wrapping_neg() & (HUGE - 1) } else { 0 };
        let begin = base.wrapping_add(padding);
        // SAFETY: within the mapping.
        if huge && unsafe { libc::madvise(begin.cast(), bytes, libc::MADV_HUGEPAGE) } != 0 {
            return Err(c"truebench-workload: this kernel has no transparent huge pages\n");
        }
        Ok((base, begin))
    };
    let mut mapping = None;
    pace.each(|| {
        let (base, begin) = match mapping {
            Some(mapping) => mapping,
            None => map()?,
        };
        // SAFETY: within the mapping.
        unsafe { touch(begin, bytes, 1) };
        match after {
            After::Unmap => sys::unmap(base, mapped),
            After::Purge => {
                mapping = Some((base, begin));
                // SAFETY: the contents of the mapping are not needed.
                if unsafe { libc::madvise(begin.cast(), bytes, libc::MADV_DONTNEED) } != 0 {
                    return Err(c"truebench-workload: madvise(MADV_DONTNEED) was refused\n");
                }
            }
        }
        Ok(())
    })
}

/// Writes to memory that a forked child shares, as a database does that forks to save a snapshot.
pub fn fork(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let base = sys::fresh(bytes).ok_or(MEMORY)?;
    // SAFETY: just mapped.
    unsafe { touch(base, bytes, 1) };
    pace.each(|| {
        let mut ends: [c_int; 2] = [-1, -1];
        // SAFETY: writes to a local variable.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(c"truebench-workload: no pipe could be made\n");
        }
        let [read, write] = ends;
        // SAFETY: one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // Lives until the parent closes the other end, or ends.
            let mut byte = 0u8;
            // SAFETY: descriptors of this process, and a byte to write to; ends the child.
            unsafe {
                libc::close(write);
                libc::read(read, (&raw mut byte).cast(), 1);
                libc::_exit(0);
            }
        }
        // SAFETY: mapped, with no other reference; descriptors of this process.
        unsafe {
            if child > 0 {
                touch(base, bytes, 1);
            }
            libc::close(write);
            libc::close(read);
        }
        // SAFETY: no status is asked for.
        if child < 0 || unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) } != child {
            return Err(c"truebench-workload: no child could be forked\n");
        }
        Ok(())
    })
}

pub const STACK: usize = 256 << 10;

/// Starts a thread for each iteration, as a server with a thread per connection does.
pub fn stacks(pace: Pace) -> Result<(), Failure> {
    pace.each(|| {
        // SAFETY: a body that takes nothing.
        unsafe { in_thread(touch_stack, core::ptr::null_mut()) }
    })
}

extern "C" fn touch_stack(_: *mut c_void) -> *mut c_void {
    let mut array = [MaybeUninit::<u8>::uninit(); STACK];
    let base = opaque::address(array.as_mut_ptr()).cast::<u8>();
    // From the top, as a stack grows: some kernels fault on an access far below the stack pointer.
    let mut at = STACK;
    while let Some(below) = at.checked_sub(sys::page()) {
        // SAFETY: within the array.
        unsafe { base.wrapping_add(below).write_volatile(1) };
        at = below;
    }
    core::ptr::null_mut()
}
