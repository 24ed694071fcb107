//! malloc_usable_size(3) of the allocator under test.

use core::ffi::c_void;

use crate::libc_parts::{library, symbol};

pub type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;

/// The function of the library that defines malloc(3). `None` if that library does not define it: the
/// function of another library must not be called on these blocks.
pub fn usable_size() -> Option<UsableSize> {
    let (usable_size, malloc) = (symbol(c"malloc_usable_size"), symbol(c"malloc"));
    let is_of_malloc =
        !usable_size.is_null() && library(usable_size).is_some_and(|base| library(malloc) == Some(base));
    // SAFETY: the function of this name, as malloc.h declares it.
    is_of_malloc.then(|| unsafe { core::mem::transmute::<*mut c_void, UsableSize>(usable_size) })
}
