//! A walk through the heap: four blocks come, are touched, and go, one step at a time. After each step the process sleeps until
//! it is let go on, so that whoever started it can look at its memory; it reads nothing of that itself, and allocates nothing
//! besides, so that all there is to see is what the steps did.

use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering;

use crate::shared::{Cause, step};
use crate::test::Job;
use crate::{Outcome, opaque, sys, timer};

/// The name as the cell's first argument. It takes no others.
pub const NAME: &str = "walk";

/// The blocks: their names, and bytes.
pub const BLOCKS: [(&str, usize); 4] = [("a", 30 << 10), ("b", 40 << 10), ("c", 200 << 10), ("d", 100 << 10)];

/// What is done with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It is asked for.
    Malloc,
    /// Every page of it is written to.
    Touch,
    /// It is given back.
    Free,
}

/// The steps: what is done, and with which of the [`BLOCKS`].
///
/// The first eleven are those of the study. The last two ask for the third block once more: where it comes from now shows
/// whether its first free moved the threshold, and its touch what that is worth.
pub const STEPS: [(Deed, usize); 13] = [
    (Deed::Malloc, 0),
    (Deed::Touch, 0),
    (Deed::Malloc, 1),
    (Deed::Touch, 1),
    (Deed::Malloc, 2),
    (Deed::Touch, 2),
    (Deed::Malloc, 3),
    (Deed::Touch, 3),
    (Deed::Free, 2),
    (Deed::Free, 1),
    (Deed::Free, 3),
    (Deed::Malloc, 2),
    (Deed::Touch, 2),
];

/// What it notes after each step.
pub mod note {
    /// Where the heap ends: the break, as brk(2) has it.
    pub const BREAK: usize = 0;
    /// Minor faults in the step.
    pub const FAULTS: usize = 1;
    /// Where malloc lies: who serves.
    pub const MALLOC: usize = 2;
    /// The GNU C library's version, as 2036 for 2.36; 0 where the C library is another.
    pub const VERSION: usize = 3;
    /// Addresses of the blocks from here on; 0 for one that is not there.
    pub const BLOCKS: usize = 4;
    /// The words before them, in which the GNU C library keeps sizes and flags; 0 where the block is not there, or begins a
    /// page: nobody knows then what is before it.
    pub const HEADERS: usize = 8;
}

/// In such a word: the block has a mapping of its own (malloc/malloc.c of the GNU C library, IS_MMAPPED).
pub const IS_MMAPPED: u64 = 2;

/// Walks.
///
/// # Errors
/// malloc gave no memory.
pub fn run(job: &Job) -> Outcome {
    let mut blocks = [core::ptr::null_mut::<u8>(); BLOCKS.len()];
    write(job, note::MALLOC, address(c"malloc"));
    write(job, note::VERSION, version());
    tell(job, &blocks, 0);
    for (number, (deed, which)) in STEPS.iter().enumerate() {
        timer::is_ready(job);
        sys::wait_for_count(&job.shared.head().go, (number as u32).wrapping_add(1));
        let (Some(block), Some((_, size))) = (blocks.get_mut(*which), BLOCKS.get(*which)) else {
            return Err(Cause::wrong(step::ARGUMENTS, number as u64));
        };
        let before = sys::usage(libc::RUSAGE_SELF).ru_minflt;
        match deed {
            Deed::Malloc => {
                // SAFETY: any size may be asked for.
                *block = opaque::address(unsafe { libc::malloc(*size) }.cast::<u8>());
                if block.is_null() {
                    return Err(Cause::now(step::ALLOCATE));
                }
            }
            // SAFETY: a block of so many bytes.
            Deed::Touch => unsafe { touch(*block, *size) },
            Deed::Free => {
                // SAFETY: from malloc, and not used any more.
                unsafe { libc::free(block.cast::<c_void>()) };
                *block = core::ptr::null_mut();
            }
        }
        let faults = sys::usage(libc::RUSAGE_SELF).ru_minflt.wrapping_sub(before);
        tell(job, &blocks, faults as u64);
    }
    timer::is_ready(job);
    sys::wait_for_count(&job.shared.head().go, (STEPS.len() as u32).wrapping_add(1));
    Ok(())
}

/// Writes to every page that has a byte of the block.
///
/// # Safety
/// `block` has `size` bytes, at least 1.
unsafe fn touch(block: *mut u8, size: usize) {
    let mut at = 0;
    while at < size {
        // SAFETY: within the block.
        unsafe { block.wrapping_add(at).write_volatile(1) };
        at = at.wrapping_add(sys::page());
    }
    // SAFETY: its last byte, which may be on a page more.
    unsafe { block.wrapping_add(size).wrapping_sub(1).write_volatile(1) };
}

/// Notes what is so now.
fn tell(job: &Job, blocks: &[*mut u8], faults: u64) {
    // The system call itself: C libraries differ in what their sbrk(3) allows. It moves nothing, as no end is at 0.
    // SAFETY: see above.
    write(job, note::BREAK, unsafe { libc::syscall(libc::SYS_brk, 0) } as u64);
    write(job, note::FAULTS, faults);
    for (index, block) in blocks.iter().enumerate() {
        write(job, note::BLOCKS.wrapping_add(index), *block as u64);
        // SAFETY: the word is on the block's own page.
        let header = if *block as usize & sys::page().wrapping_sub(1) >= 8 {
            unsafe { block.cast::<u64>().wrapping_sub(1).read_volatile() }
        } else {
            0
        };
        write(job, note::HEADERS.wrapping_add(index), header);
    }
}

/// Where a function lies; 0 if there is none of that name.
fn address(name: &CStr) -> u64 {
    // SAFETY: a name that lives.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 }
}

/// As [`note::VERSION`].
fn version() -> u64 {
    // SAFETY: a name that lives.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gnu_get_libc_version".as_ptr()) };
    if found.is_null() {
        return 0;
    }
    // SAFETY: declared so by the GNU C library; no other has one of that name, or it is for programs of that one.
    let text = unsafe {
        let version = core::mem::transmute::<*mut c_void, extern "C" fn() -> *const core::ffi::c_char>(found);
        CStr::from_ptr(version())
    };
    parse(text.to_bytes()).unwrap_or(0)
}

/// `2.36` as 2036.
fn parse(text: &[u8]) -> Option<u64> {
    let mut parts = text.split(|byte| *byte == b'.').map(|part| {
        part.iter().try_fold(0u64, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit <= 9).then(|| value.wrapping_mul(10).wrapping_add(u64::from(digit)))
        })
    });
    let (major, minor) = (parts.next()??, parts.next()??);
    (major > 0 && minor < 1000).then(|| major.wrapping_mul(1000).wrapping_add(minor))
}

fn write(job: &Job, index: usize, value: u64) {
    if let Some(note) = job.slot.note(index) {
        note.store(value, Ordering::Release);
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        assert_eq!(parse(b"2.36"), Some(2036));
        assert_eq!(parse(b"2.36.9000"), Some(2036));
        assert_eq!((parse(b"2"), parse(b""), parse(b"2.x"), parse(b"2.1000")), (None, None, None, None));
    }

    #[test]
    fn each_block_is_there_when_it_is_touched_or_freed() {
        let mut live = [false; BLOCKS.len()];
        for (deed, which) in STEPS {
            assert_eq!(live[which], deed != Deed::Malloc, "{deed:?} {which}");
            live[which] = deed != Deed::Free;
        }
    }
}
