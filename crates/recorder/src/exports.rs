//! The functions that programs call instead of the C library's.
//!
//! A block is entered once it is there, and struck out before it is gone: in between its address is nobody else's.

use core::ffi::{c_int, c_void};

use crate::{arena, next, start};

/// A block of so many bytes came to be; `begun`: see there, or 0.
#[inline]
fn born(block: *mut c_void, size: usize, begun: u64) -> *mut c_void {
    if start::concerns(size)
        && !block.is_null()
        && let Some(sink) = start::sink()
    {
        sink.born(block as usize, size, begun, false);
    }
    block
}

/// When a block is asked for that will be touched before it is there, zeroed or copied; 0 if nobody wants to know.
#[inline]
fn begun(size: usize) -> u64 {
    if start::concerns(size) { start::sink().map_or(0, |sink| sink.begun()) } else { 0 }
}

fn none() -> *mut c_void {
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    core::ptr::null_mut()
}

/// malloc(3).
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    match next::malloc() {
        // SAFETY: handed on.
        Some(next) => born(unsafe { next(size) }, size, 0),
        None => arena::take(size),
    }
}

/// calloc(3).
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    match (next::calloc(), count.checked_mul(size)) {
        (Some(next), all) => {
            let all = all.unwrap_or(usize::MAX);
            let begun = begun(all);
            // SAFETY: handed on.
            born(unsafe { next(count, size) }, all, begun)
        }
        (None, Some(all)) => arena::take(all),
        (None, None) => none(),
    }
}

/// free(3).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() || arena::size_of(block).is_some() {
        return;
    }
    // Whoever is not yet known did not give it.
    let Some(next) = next::free() else { return };
    if let Some(sink) = start::sink() {
        sink.ended(block as usize);
    }
    // SAFETY: handed on.
    unsafe { next(block) };
}

/// free_sized of C23.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, _: usize) {
    // SAFETY: the caller's.
    unsafe { free(block) };
}

/// free_aligned_sized of C23.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _: usize, _: usize) {
    // SAFETY: the caller's.
    unsafe { free(block) };
}

/// realloc(3): the end of a block and the birth of another, wherever it lies.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return malloc(size);
    }
    if let Some(before) = arena::size_of(block) {
        let moved = malloc(size);
        if !moved.is_null() {
            // SAFETY: two blocks of at least these bytes.
            unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast(), before.min(size)) };
        }
        return moved;
    }
    let Some(next) = next::realloc() else { return none() };
    let Some(sink) = start::sink() else {
        // SAFETY: handed on.
        return unsafe { next(block, size) };
    };
    let taken = sink.taken(block as usize);
    let begun = begun(size);
    // SAFETY: handed on.
    let moved = unsafe { next(block, size) };
    if moved.is_null() && size != 0 {
        sink.restore(taken);
        return moved;
    }
    sink.confirm(taken);
    if !moved.is_null() && start::concerns(size) {
        sink.born(moved as usize, size, begun, true);
    }
    moved
}

/// reallocarray(3).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's.
        Some(all) => unsafe { realloc(block, all) },
        None => none(),
    }
}

/// posix_memalign(3).
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let Some(next) = next::posix_memalign() else { return libc::ENOMEM };
    // SAFETY: handed on.
    let error = unsafe { next(to, alignment, size) };
    if error == 0 {
        // SAFETY: it was written.
        born(unsafe { *to }, size, 0);
    }
    error
}

macro_rules! aligned {
    ($($name:ident)*) => {$(
        #[doc = concat!(stringify!($name), "(3).")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(alignment: usize, size: usize) -> *mut c_void {
            // SAFETY: handed on.
            next::$name().map_or_else(none, |next| born(unsafe { next(alignment, size) }, size, 0))
        }
    )*};
}

aligned!(aligned_alloc memalign);

macro_rules! paged {
    ($($name:ident)*) => {$(
        #[doc = concat!(stringify!($name), "(3).")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(size: usize) -> *mut c_void {
            // SAFETY: handed on.
            next::$name().map_or_else(none, |next| born(unsafe { next(size) }, size, 0))
        }
    )*};
}

paged!(valloc pvalloc);

extern "C" fn loaded() {
    next::malloc();
    start::sink();
}

extern "C" fn unloaded() {
    if let Some(book) = start::last() {
        book.settle();
    }
}

/// A process is counted although it allocates nothing.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// exit(3) comes by here.
#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

/// _exit(2), which does not.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(code: c_int) -> ! {
    unloaded();
    loop {
        // SAFETY: always allowed.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// The same, by its name in C.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(code: c_int) -> ! {
    _exit(code)
}
