//! Memory for calls of malloc before the next malloc is known: dlsym(3) itself may call it. It is never
//! freed.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the memory; glibc's dlsym allocates at most some hundred.
const BYTES: usize = 1 << 16;
/// Alignment of malloc(3), and room for the size before each block.
const STEP: usize = 16;

#[repr(C, align(16))]
struct Arena {
    bytes: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: no two callers get the same bytes.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena { bytes: UnsafeCell::new([0; BYTES]), used: AtomicUsize::new(0) };

/// Allocates a zeroed block. Null if there is no room.
pub fn allocate(size: usize) -> *mut c_void {
    if size > BYTES {
        return core::ptr::null_mut();
    }
    let bytes = size.next_multiple_of(STEP).wrapping_add(STEP);
    let offset = ARENA.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        used.checked_add(bytes).filter(|used| *used <= BYTES)
    });
    let Ok(offset) = offset else { return core::ptr::null_mut() };
    // SAFETY: inside the memory, and no other caller gets these bytes.
    unsafe {
        let head = ARENA.bytes.get().cast::<u8>().add(offset);
        head.cast::<usize>().write(size);
        head.add(STEP).cast()
    }
}

/// The size of a block, if it is from this memory.
pub fn size_of(block: *mut c_void) -> Option<usize> {
    let base = ARENA.bytes.get() as usize;
    // SAFETY: the size is stored before the block.
    (base..base + BYTES)
        .contains(&(block as usize))
        .then(|| unsafe { block.cast::<u8>().sub(STEP).cast::<usize>().read() })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_do_not_overlap() {
        let (one, other) = (allocate(1), allocate(100));
        assert!(one.addr() & 15 == 0 && other.addr() & 15 == 0);
        assert!(other as usize >= one as usize + 16);
        assert_eq!((size_of(one), size_of(other)), (Some(1), Some(100)));
        assert_eq!(size_of((&raw const one).cast_mut().cast()), None);
        assert!(allocate(BYTES).is_null() && allocate(usize::MAX).is_null());
    }
}
