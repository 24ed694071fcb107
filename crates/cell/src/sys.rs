//! What the tests need of libc, in a form that cannot panic.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::AtomicU32;

/// errno.
pub fn errno() -> c_int {
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() }
}

// The standard library, which would ask for it, is not there.
#[link(name = "c")]
unsafe extern "C" {}

/// Ends the process by SIGABRT.
pub fn abort() -> ! {
    // SAFETY: always allowed.
    unsafe { libc::abort() }
}

/// A decimal number, all of it.
pub fn number(text: &CStr) -> Option<u64> {
    let mut value: u64 = 0;
    let bytes = text.to_bytes();
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    (!bytes.is_empty()).then_some(value)
}

/// Says something on standard error.
pub fn say(text: &CStr) {
    let bytes = text.to_bytes();
    // SAFETY: the bytes live for the call.
    unsafe { libc::write(2, bytes.as_ptr().cast::<c_void>(), bytes.len()) };
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to write.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Maps the first bytes of a descriptor, shared.
pub fn map(descriptor: c_int, bytes: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh mapping of the system's choice.
    let base =
        unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, descriptor, 0) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}

/// Unmaps it.
pub fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: as mapped by `map`; nobody uses it any more.
    unsafe { libc::munmap(base.cast(), bytes) };
}

/// Sleeps until the word is no longer `value`.
pub fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(core::sync::atomic::Ordering::Acquire) == value {
        // SAFETY: a word that lives; no timeout.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                value,
                core::ptr::null::<c_void>(),
            )
        };
    }
}

/// Wakes all that sleep on the word.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: a word that lives.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, c_int::MAX) };
}

/// Binds the calling thread to one CPU. Whether it is, by what was read back.
pub fn pin(cpu: usize) -> bool {
    // SAFETY: all zero is an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    if cpu >= 8 * size_of::<libc::cpu_set_t>() {
        return false;
    }
    // SAFETY: inside the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: a set of this size.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } != 0 {
        return false;
    }
    // SAFETY: all zero is an empty set.
    let mut back: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: ours to write.
    unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut back) };
    // SAFETY: two sets.
    unsafe { libc::CPU_EQUAL(&set, &back) }
}
