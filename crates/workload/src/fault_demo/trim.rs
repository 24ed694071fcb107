//! Small blocks, of which nearly all are freed in each iteration, with malloc_trim(3) at its end or without.

use super::failure::Failure;
use super::pace::Pace;
use crate::opaque;
use crate::sys::touch;

/// Bytes of all blocks.
pub const WHOLE: usize = BYTES * BLOCKS;
const BYTES: usize = 1000;
const BLOCKS: usize = 8192;
/// One block in so many stays, so that the heap cannot end below it.
const STAYS: usize = 64;

/// Runs the iterations. Its stack is not that of the other shapes, whose faults are counted.
#[inline(never)]
pub fn run(pace: Pace, trims: bool) -> Result<(), Failure> {
    let mut blocks = [core::ptr::null_mut::<u8>(); BLOCKS];
    pace.each(|| {
        for block in blocks.iter_mut().filter(|block| block.is_null()) {
            // SAFETY: any size may be asked for.
            *block = opaque::address(unsafe { libc::malloc(BYTES) }.cast());
            if block.is_null() {
                return Err(c"truebench-workload: malloc gave no memory\n");
            }
            // SAFETY: a block of this size.
            unsafe { touch(*block, BYTES, 1) };
        }
        let go = blocks.chunks_mut(STAYS).filter_map(<[_]>::split_last_mut).flat_map(|(_, go)| go);
        for block in go {
            // SAFETY: it is of malloc, and freed once.
            unsafe { libc::free((*block).cast()) };
            *block = core::ptr::null_mut();
        }
        if trims { trim() } else { Ok(()) }
    })
}

#[cfg(target_env = "gnu")]
fn trim() -> Result<(), Failure> {
    // SAFETY: it takes a number.
    unsafe { libc::malloc_trim(0) };
    Ok(())
}

#[cfg(not(target_env = "gnu"))]
fn trim() -> Result<(), Failure> {
    Err(c"truebench-workload: this C library has no malloc_trim\n")
}
