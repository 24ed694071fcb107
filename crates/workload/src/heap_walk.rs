//! Allocates, touches and frees four blocks, one step at a time. After each step the process sleeps until it
//! may continue, and truebench reads its memory from outside. The process allocates nothing else, so every
//! change is that of a step.

use core::ffi::{CStr, c_char, c_void};

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::{Outcome, libc_parts, opaque, sys, timer};

/// The name of this workload. It takes no other arguments.
pub const NAME: &str = "walk";

/// Names and sizes of the blocks, in bytes.
pub const BLOCKS: [(&str, usize); 4] = [("a", 30 << 10), ("b", 40 << 10), ("c", 200 << 10), ("d", 100 << 10)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Malloc,
    Touch,
    Free,
}

/// The steps, each with an index into [`BLOCKS`].
///
/// The first eleven are those of the study. The last two allocate and touch the third block again: its
/// address shows whether its first free raised the mmap threshold, and its faults show the effect.
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

/// Fields of the slot, written after each step.
pub mod fields {
    /// End of the heap: the break of brk(2).
    pub const BREAK: usize = 0;
    pub const FAULTS: usize = 1;
    /// Address of malloc(3), which shows the library that serves.
    pub const MALLOC: usize = 2;
    /// Version of the GNU C library, as 2036 for 2.36; 0 for another C library.
    pub const VERSION: usize = 3;
    /// Addresses of the blocks, one field each; 0 for a block that is not allocated.
    pub const BLOCKS: usize = 4;
    /// The words before the blocks, where the GNU C library keeps size and flags. 0 if the block is not
    /// allocated or begins a page: then the word before it may not be mapped.
    pub const HEADERS: usize = 8;
}

/// Flag in a header: the block has its own mapping (IS_MMAPPED in malloc/malloc.c of the GNU C library).
pub const IS_MMAPPED: u64 = 2;

/// Runs the steps.
pub fn run(job: &Job) -> Outcome {
    let mut blocks = [core::ptr::null_mut::<u8>(); BLOCKS.len()];
    job.slot.set(fields::MALLOC, libc_parts::symbol(c"malloc") as u64);
    job.slot.set(fields::VERSION, version());
    write(job, &blocks, 0);
    for (number, (deed, index)) in STEPS.iter().enumerate() {
        timer::signal_ready(job);
        sys::wait_for_count(&job.shared.head().go, (number as u32).wrapping_add(1));
        let (Some(block), Some((_, size))) = (blocks.get_mut(*index), BLOCKS.get(*index)) else {
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
            // SAFETY: a block of this size.
            Deed::Touch => unsafe { touch(*block, *size) },
            Deed::Free => {
                // SAFETY: from malloc, and not used any more.
                unsafe { libc::free(block.cast::<c_void>()) };
                *block = core::ptr::null_mut();
            }
        }
        let faults = sys::usage(libc::RUSAGE_SELF).ru_minflt.wrapping_sub(before);
        write(job, &blocks, faults as u64);
    }
    timer::signal_ready(job);
    sys::wait_for_count(&job.shared.head().go, (STEPS.len() as u32).wrapping_add(1));
    Ok(())
}

/// Writes to every page that holds a byte of the block.
///
/// # Safety
/// `block` has `size` bytes, at least 1.
unsafe fn touch(block: *mut u8, size: usize) {
    // SAFETY: within the block. Its last byte may be on one more page.
    unsafe {
        sys::touch(block, size, 1);
        block.wrapping_add(size).wrapping_sub(1).write_volatile(1);
    }
}

fn write(job: &Job, blocks: &[*mut u8], faults: u64) {
    let slot = job.slot;
    // The system call, because C libraries differ in what sbrk(3) allows.
    // SAFETY: 0 is no valid break, so nothing moves.
    slot.set(fields::BREAK, unsafe { libc::syscall(libc::SYS_brk, 0) } as u64);
    slot.set(fields::FAULTS, faults);
    for (index, block) in blocks.iter().enumerate() {
        slot.set(fields::BLOCKS.wrapping_add(index), *block as u64);
        // SAFETY: the word is on the block's own page.
        let header = if *block as usize & sys::page().wrapping_sub(1) >= 8 {
            unsafe { block.cast::<u64>().wrapping_sub(1).read_volatile() }
        } else {
            0
        };
        slot.set(fields::HEADERS.wrapping_add(index), header);
    }
}

fn version() -> u64 {
    let address = libc_parts::symbol(c"gnu_get_libc_version");
    if address.is_null() {
        return 0;
    }
    // SAFETY: the type of this function in the GNU C library, and in libraries that emulate it.
    let text = unsafe {
        let version = core::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(address);
        CStr::from_ptr(version())
    };
    parse(text.to_bytes()).unwrap_or(0)
}

/// Parses `2.36` as 2036.
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
        for (deed, index) in STEPS {
            assert_eq!(live[index], deed != Deed::Malloc, "{deed:?} {index}");
            live[index] = deed != Deed::Free;
        }
    }
}
