//! Who gives the blocks: the allocator under test, or one of two that do nothing, to take the cost of all else away.

use core::ffi::c_void;

use super::order::{Giver, Order};
use crate::shared::{Cause, step};
use crate::sys;

/// What gives blocks and takes them back. Which it is, is asked at each call: a branch that is always predicted, alike for all,
/// and one copy of the load instead of three.
#[derive(Debug)]
pub enum Heap {
    /// malloc(3) and free(3), as whoever was loaded first defines them.
    Real,
    /// One block for all: what is left is the load itself. The block stays in the nearest cache, so that what an allocator's
    /// blocks cost by lying elsewhere is the allocator's (alloc-test's "void").
    Void(*mut u8),
    /// Each block behind the one before, round and round: addresses as far apart as an allocator's, and no bookkeeping. What
    /// it costs more than [`Heap::Void`] is the place of the blocks; what an allocator costs more than this is its work.
    Bump {
        /// Where it begins.
        base: *mut u8,
        /// Its bytes.
        bytes: usize,
        /// Where the next block is.
        next: usize,
    },
}

/// What malloc aligns to on 64-bit machines.
const ALIGN: usize = 16;

impl Heap {
    /// The one that is asked for, for blocks of at most so many bytes.
    ///
    /// # Errors
    /// No memory, or no such giver.
    pub fn of(order: &Order, largest: usize) -> Result<Heap, Cause> {
        let fresh = |bytes| sys::fresh(bytes).ok_or_else(|| Cause::now(step::MEMORY));
        if order.giver == Giver::Real as u32 {
            Ok(Heap::Real)
        } else if order.giver == Giver::Void as u32 {
            fresh(largest).map(Heap::Void)
        } else if order.giver == Giver::Bump as u32 {
            let bytes = (order.bump as usize).max(largest);
            fresh(bytes).map(|base| Heap::Bump { base, bytes, next: 0 })
        } else {
            Err(Cause::wrong(step::ARGUMENTS, u64::from(order.giver)))
        }
    }

    /// A block of so many bytes; null if there is none.
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

    /// Takes a block back.
    ///
    /// # Safety
    /// The block came from this heap, or one of the same kind, and is not used any more.
    #[inline(always)]
    pub unsafe fn free(&mut self, block: *mut u8) {
        if let Heap::Real = self {
            // SAFETY: the caller's.
            unsafe { libc::free(block.cast::<c_void>()) };
        }
    }
}
