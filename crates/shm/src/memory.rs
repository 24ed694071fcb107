//! A file that several processes map.

use core::ffi::c_int;
use core::marker::PhantomData;

/// `BYTES` bytes that begin with a `Head` of atomic fields. They stay mapped for the rest of the process.
#[derive(Debug)]
pub struct Memory<Head, const BYTES: usize> {
    base: *mut u8,
    head: PhantomData<Head>,
}

impl<Head, const BYTES: usize> Copy for Memory<Head, BYTES> {}

impl<Head, const BYTES: usize> Clone for Memory<Head, BYTES> {
    fn clone(&self) -> Self {
        *self
    }
}

// SAFETY: all that is reached through it is atomic, except the bytes of stacks, which are copied and then verified.
unsafe impl<Head, const BYTES: usize> Send for Memory<Head, BYTES> {}
// SAFETY: likewise.
unsafe impl<Head, const BYTES: usize> Sync for Memory<Head, BYTES> {}

impl<Head: 'static, const BYTES: usize> Memory<Head, BYTES> {
    pub fn map(descriptor: c_int) -> Option<Self> {
        // SAFETY: a mapping of this size, which nothing unmaps.
        crate::sys::map(descriptor, BYTES).map(|base| unsafe { Self::over(base) })
    }

    /// Wraps memory that is mapped already.
    ///
    /// # Safety
    /// `base` begins `BYTES` bytes of this layout, mapped for the rest of the process.
    pub unsafe fn over(base: *mut u8) -> Self {
        Memory { base, head: PhantomData }
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn head(&self) -> &'static Head {
        // SAFETY: mapped for the rest of the process; all fields are atomic.
        unsafe { &*self.base.cast::<Head>() }
    }
}
