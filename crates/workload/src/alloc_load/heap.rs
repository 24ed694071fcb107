//! Where blocks come from: the allocator under test, or one of two controls without an allocator.

use core::ffi::c_void;

use super::parameters::{BlockSource, Parameters};
use crate::shared::{Cause, step};
use crate::sys;

/// A source of blocks. Matched at each call: an always predicted branch, the same for all sources, and one
/// copy of the load instead of three.
#[derive(Debug)]
pub enum Heap {
    /// malloc(3) and free(3) of the library that was loaded first.
    Real,
    /// One block for all (alloc-test's "void"). It leaves the cost of the load itself. The block stays in the
    /// L1 cache, so the cache misses of an allocator's blocks count as the allocator's cost.
    Void(*mut u8),
    /// Each block after the one before, in a ring: addresses as far apart as an allocator's, without its
    /// bookkeeping. It costs more than [`Heap::Void`] by the cache misses of the blocks. An allocator costs
    /// more than this by its own work.
    Bump {
        base: *mut u8,
        bytes: usize,
        /// Offset of the next block.
        next: usize,
    },
}

/// Alignment of malloc(3) on 64-bit machines.
const ALIGN: usize = 16;

impl Heap {
    /// The source that the parameters name, for blocks of at most `largest` bytes.
    pub fn new(parameters: &Parameters, largest: usize) -> Result<Heap, Cause> {
        let fresh = |bytes| sys::fresh(bytes).ok_or_else(|| Cause::now(step::MEMORY));
        if parameters.block_source == BlockSource::Real as u32 {
            Ok(Heap::Real)
        } else if parameters.block_source == BlockSource::Void as u32 {
            fresh(largest).map(Heap::Void)
        } else if parameters.block_source == BlockSource::Bump as u32 {
            let bytes = (parameters.bump_bytes as usize).max(largest);
            fresh(bytes).map(|base| Heap::Bump { base, bytes, next: 0 })
        } else {
            Err(Cause::wrong(step::ARGUMENTS, u64::from(parameters.block_source)))
        }
    }

    /// Allocates a block. Null on failure.
    ///
    /// # Safety
    /// `size` is at most what the heap was made for.
    #[inline(always)]
    pub unsafe fn allocate(&mut self, size: usize) -> *mut u8 {
        match self {
            // SAFETY: any size may be asked for.
            Heap::Real => unsafe { libc::malloc(size) }.cast(),
            Heap::Void(block) => *block,
            Heap::Bump { base, bytes, next } => {
                let at = if size > bytes.wrapping_sub(*next) { 0 } else { *next };
                let after = at.wrapping_add(size).wrapping_add(ALIGN - 1) & !(ALIGN - 1);
                *next = if after < *bytes { after } else { 0 };
                base.wrapping_add(at)
            }
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// The block is from a heap of this kind, and is not used any more.
    #[inline(always)]
    pub unsafe fn free(&mut self, block: *mut u8) {
        if let Heap::Real = self {
            // SAFETY: the caller's.
            unsafe { libc::free(block.cast::<c_void>()) };
        }
    }
}
