//! Memory for those who call malloc while the real one is being looked for: dlsym(3) itself may. It is never given back.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of it; glibc's dlsym takes at most some hundred.
const BYTES: usize = 1 << 16;
/// Bytes between two blocks at least: what malloc promises of addresses, and room for the size.
const STEP: usize = 16;

#[repr(C, align(16))]
struct Arena {
    bytes: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: no two callers get the same bytes.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena { bytes: UnsafeCell::new([0; BYTES]), used: AtomicUsize::new(0) };

/// A block of zeros; null if there is no room.
pub fn take(size: usize) -> *mut c_void {
    if size > BYTES {
        return core::ptr::null_mut();
    }
    let whole = size.next_multiple_of(STEP).wrapping_add(STEP);
    let taken = ARENA.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        used.checked_add(whole).filter(|used| *used <= BYTES)
    });
    let Ok(at) = taken else { return core::ptr::null_mut() };
    // SAFETY: inside, and nobody else's.
    unsafe {
        let head = ARENA.bytes.get().cast::<u8>().add(at);
        head.cast::<usize>().write(size);
        head.add(STEP).cast()
    }
}

/// Bytes of a block, if it is one of these.
pub fn size_of(block: *mut c_void) -> Option<usize> {
    let base = ARENA.bytes.get() as usize;
    // SAFETY: a block of ours has its size before it.
    (base..base + BYTES)
        .contains(&(block as usize))
        .then(|| unsafe { block.cast::<u8>().sub(STEP).cast::<usize>().read() })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_apart() {
        let (one, other) = (take(1), take(100));
        assert!(one.addr() & 15 == 0 && other.addr() & 15 == 0);
        assert!(other as usize >= one as usize + 16);
        assert_eq!((size_of(one), size_of(other)), (Some(1), Some(100)));
        assert_eq!(size_of((&raw const one).cast_mut().cast()), None);
        assert!(take(BYTES).is_null() && take(usize::MAX).is_null());
    }
}
