//! The calls of libc that the recorder and the workload program both need, in a form that cannot panic.

use core::ffi::c_int;

// Without the standard library no other crate asks for the C library.
#[link(name = "c")]
unsafe extern "C" {}

#[inline]
pub fn errno() -> c_int {
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() }
}

pub fn abort() -> ! {
    // SAFETY: always allowed.
    unsafe { libc::abort() }
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[inline]
pub fn now() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

#[inline]
pub fn clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to a local variable.
    unsafe { libc::clock_gettime(clock, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Maps the first bytes of a file, shared.
pub fn map(descriptor: c_int, bytes: usize) -> Option<*mut u8> {
    map_with(libc::MAP_SHARED, descriptor, bytes)
}

/// Maps zeroed memory that forked children share.
pub fn share(bytes: usize) -> Option<*mut u8> {
    map_with(libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, bytes)
}

/// Maps zeroed memory of this process alone, without a call of malloc(3).
pub fn fresh(bytes: usize) -> Option<*mut u8> {
    map_with(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, bytes)
}

/// As [`fresh`]; a forked child gets zeroes. `None` also before Linux 4.14, which has no MADV_WIPEONFORK.
pub fn fresh_wiped_on_fork(bytes: usize) -> Option<*mut u8> {
    // SAFETY: just mapped, of this size.
    fresh(bytes).filter(|base| unsafe { libc::madvise(base.cast(), bytes, libc::MADV_WIPEONFORK) } == 0)
}

fn map_with(flags: c_int, descriptor: c_int, bytes: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let base = unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, flags, descriptor, 0) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}

/// Unmaps memory of [`map`], [`share`] or [`fresh`].
pub fn unmap(base: *mut u8, bytes: usize) {
    // SAFETY: a mapping of this module, which is not used any more.
    unsafe { libc::munmap(base.cast(), bytes) };
}

pub fn page() -> usize {
    // SAFETY: a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize
}

pub fn process() -> libc::pid_t {
    // SAFETY: always allowed.
    unsafe { libc::getpid() }
}
