//! The functions that programs call instead of the C library's.
//!
//! An allocation is recorded after it, and a free before it: in between no other block has the address.

use core::ffi::{c_int, c_void};

use crate::{attach, bootstrap, next};

/// Records an allocation. `begun` is [`start_time`], or 0.
#[inline]
fn record(block: *mut c_void, size: usize, begun: u64) -> *mut c_void {
    if attach::concerns(size)
        && !block.is_null()
        && let Some(sink) = attach::sink()
    {
        sink.allocated(block as usize, size, begun, false);
    }
    block
}

/// The time before an allocation that touches its block (zeroes or copies it); 0 if events are not recorded.
#[inline]
fn start_time(size: usize) -> u64 {
    if attach::concerns(size) { attach::sink().map_or(0, |sink| sink.start_time()) } else { 0 }
}

fn out_of_memory() -> *mut c_void {
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    core::ptr::null_mut()
}

#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    match next::malloc() {
        // SAFETY: the caller's arguments.
        Some(next) => record(unsafe { next(size) }, size, 0),
        None => bootstrap::allocate(size),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    match (next::calloc(), count.checked_mul(size)) {
        (Some(next), all) => {
            let all = all.unwrap_or(usize::MAX);
            let begun = start_time(all);
            // SAFETY: the caller's arguments.
            record(unsafe { next(count, size) }, all, begun)
        }
        (None, Some(all)) => bootstrap::allocate(all),
        (None, None) => out_of_memory(),
    }
}

/// # Safety
/// As for free of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() || bootstrap::size_of(block).is_some() {
        return;
    }
    // While the next free is unknown, no block is from it.
    let Some(next) = next::free() else { return };
    if let Some(sink) = attach::sink() {
        sink.freed(block as usize);
    }
    // SAFETY: the caller's arguments.
    unsafe { next(block) };
}

// C23.
/// # Safety
/// As for free_sized of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, _: usize) {
    // SAFETY: the caller's.
    unsafe { free(block) };
}

// C23.
/// # Safety
/// As for free_aligned_sized of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _: usize, _: usize) {
    // SAFETY: the caller's.
    unsafe { free(block) };
}

/// Recorded as the end of one block and the allocation of another, even at the same address.
///
/// # Safety
/// As for realloc of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return malloc(size);
    }
    if let Some(old_size) = bootstrap::size_of(block) {
        let moved = malloc(size);
        if !moved.is_null() {
            // SAFETY: two blocks of at least this size.
            unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast(), old_size.min(size)) };
        }
        return moved;
    }
    let Some(next) = next::realloc() else { return out_of_memory() };
    let Some(sink) = attach::sink() else {
        // SAFETY: the caller's arguments.
        return unsafe { next(block, size) };
    };
    let removed = sink.remove(block as usize);
    let begun = start_time(size);
    // SAFETY: the caller's arguments.
    let moved = unsafe { next(block, size) };
    if moved.is_null() && size != 0 {
        sink.restore(removed);
        return moved;
    }
    sink.confirm(removed);
    if !moved.is_null() && attach::concerns(size) {
        sink.allocated(moved as usize, size, begun, true);
    }
    moved
}

/// # Safety
/// As for reallocarray of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's.
        Some(all) => unsafe { realloc(block, all) },
        None => out_of_memory(),
    }
}

/// # Safety
/// As for posix_memalign of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    let Some(next) = next::posix_memalign() else { return libc::ENOMEM };
    // SAFETY: the caller's arguments.
    let error = unsafe { next(to, alignment, size) };
    if error == 0 {
        // SAFETY: written on success.
        record(unsafe { *to }, size, 0);
    }
    error
}

macro_rules! aligned {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(alignment: usize, size: usize) -> *mut c_void {
            // SAFETY: the caller's arguments.
            next::$name().map_or_else(out_of_memory, |next| record(unsafe { next(alignment, size) }, size, 0))
        }
    )*};
}

aligned!(aligned_alloc memalign);

macro_rules! paged {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(size: usize) -> *mut c_void {
            // SAFETY: the caller's arguments.
            next::$name().map_or_else(out_of_memory, |next| record(unsafe { next(size) }, size, 0))
        }
    )*};
}

paged!(valloc pvalloc);

extern "C" fn loaded() {
    next::malloc();
    attach::sink();
}

extern "C" fn unloaded() {
    if let Some(blocks) = attach::detach() {
        blocks.end_all();
    }
}

/// Counts a process that allocates nothing.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Runs at exit(3).
#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

/// _exit(2), which does not run [`UNLOADED`].
#[unsafe(no_mangle)]
pub extern "C" fn _exit(code: c_int) -> ! {
    unloaded();
    loop {
        // SAFETY: always allowed.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// As [`_exit`], by its C99 name.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(code: c_int) -> ! {
    _exit(code)
}
