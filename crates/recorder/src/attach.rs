//! Maps the shared memory, at the first call for which the environment and the next malloc are known.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use shm::blocks::{self, Blocks};
use shm::recording::{self, Recording, VARIABLE};
use shm::sys;

use crate::large_blocks::LargeBlocks;
use crate::live_blocks::{LiveBlocks, ProcessState};
use crate::next;
use crate::sink::Sink;

/// Whether, and how, calls are recorded.
static STATE: AtomicU32 = AtomicU32::new(BEFORE);
const BEFORE: u32 = 0;
const STARTING: u32 = 1;
const ALL: u32 = 2;
const OFF: u32 = 3;
const LARGE: u32 = 4;

/// Size of the smallest recorded block, in bytes; 0 before it is known.
static LEAST: AtomicUsize = AtomicUsize::new(0);
static SHARED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static PROCESS_STATE: AtomicPtr<ProcessState> = AtomicPtr::new(core::ptr::null_mut());

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Whether the allocation of a block of this size may have to be recorded.
#[inline]
pub fn concerns(size: usize) -> bool {
    size >= LEAST.load(Ordering::Relaxed)
}

/// Where to record; `None` if nothing is recorded, or not yet, or no longer.
#[inline]
pub fn sink() -> Option<Sink> {
    match STATE.load(Ordering::Acquire) {
        // SAFETY: stored before the state, and mapped for the rest of the process.
        LARGE => Some(Sink::Large(LargeBlocks::new(unsafe { Blocks::over(SHARED.load(Ordering::Relaxed)) }))),
        ALL => Some(Sink::All(live_blocks())),
        BEFORE => attach(),
        _ => None,
    }
}

/// Ends recording and returns the live blocks, if all blocks are counted. `None` in a process that has not
/// recorded itself, such as a vfork child, which shares the memory of its parent.
pub fn detach() -> Option<LiveBlocks> {
    let Some(Sink::All(blocks)) = sink() else { return None };
    if !blocks.belongs_to(sys::process()) {
        return None;
    }
    STATE.compare_exchange(ALL, OFF, Ordering::AcqRel, Ordering::Relaxed).ok()?;
    Some(blocks)
}

fn live_blocks() -> LiveBlocks {
    let (shared, state) = (SHARED.load(Ordering::Relaxed), PROCESS_STATE.load(Ordering::Relaxed));
    // SAFETY: both were stored before [`STATE`], and stay mapped for the rest of the process.
    unsafe { LiveBlocks::new(Recording::over(shared), &*state) }
}

#[cold]
fn attach() -> Option<Sink> {
    // The environment is null until the C library is initialised.
    // SAFETY: a variable of the C library, without concurrent writes.
    let environment = unsafe { environ };
    if environment.is_null() || !next::are_known() {
        return None;
    }
    if STATE.compare_exchange(BEFORE, STARTING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return None;
    }
    let errno = sys::errno();
    // SAFETY: as the C library keeps it.
    let state = unsafe { path(environment) }.and_then(record_to).unwrap_or(OFF);
    if state == OFF {
        LEAST.store(usize::MAX, Ordering::Relaxed);
    }
    STATE.store(state, Ordering::Release);
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() = errno };
    if state == OFF { None } else { sink() }
}

/// Prepares to count all blocks. Returns the new state.
fn count_all(shared: Recording) -> u32 {
    let Some(state) = ProcessState::map() else {
        shared.head().refused.store(sys::errno() as u64, Ordering::Relaxed);
        return OFF;
    };
    SHARED.store(shared.base(), Ordering::Relaxed);
    PROCESS_STATE.store(core::ptr::from_ref(state).cast_mut(), Ordering::Relaxed);
    ALL
}

/// Prepares to record events of large blocks. Returns the new state.
fn record_large(shared: Blocks) -> u32 {
    SHARED.store(shared.base(), Ordering::Relaxed);
    LEAST.store(shared.head().least.load(Ordering::Relaxed) as usize, Ordering::Relaxed);
    LargeBlocks::new(shared).hello();
    LARGE
}

/// The value of [`VARIABLE`].
///
/// # Safety
/// An array of strings that ends with null.
unsafe fn path(mut environment: *const *const c_char) -> Option<&'static CStr> {
    loop {
        // SAFETY: the caller's; not after the end.
        let entry = unsafe { environment.read() };
        if entry.is_null() {
            return None;
        }
        // SAFETY: the caller's.
        let text = unsafe { CStr::from_ptr(entry) };
        let after_name = text.to_bytes_with_nul().strip_prefix(VARIABLE.as_bytes());
        if let Some(value) = after_name.and_then(|text| text.strip_prefix(b"=")) {
            return CStr::from_bytes_with_nul(value).ok();
        }
        environment = environment.wrapping_add(1);
    }
}

/// Prepares to record to the file at this path, if size and magic number are right: the path may be that of
/// another file by now. The size says what to record. Returns the new state.
fn record_to(path: &CStr) -> Option<u32> {
    // SAFETY: a string.
    let descriptor = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOCTTY) };
    if descriptor < 0 {
        return None;
    }
    let state = match size(descriptor) {
        Some(recording::BYTES) => Recording::map(descriptor)
            .filter(|shared| shared.head().magic.load(Ordering::Relaxed) == recording::MAGIC)
            .map(count_all),
        Some(blocks::BYTES) => Blocks::map(descriptor)
            .filter(|shared| shared.head().magic.load(Ordering::Relaxed) == blocks::MAGIC)
            .map(record_large),
        _ => None,
    };
    // SAFETY: a descriptor of this function.
    unsafe { libc::close(descriptor) };
    state
}

fn size(descriptor: c_int) -> Option<usize> {
    // SAFETY: all zero is a valid status.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: writes to a local variable.
    let is_known = unsafe { libc::fstat(descriptor, &mut status) } == 0;
    is_known.then_some(status.st_size as usize)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_variable_is_found_by_its_whole_name() {
        let other = [c"TRUEBENCH_RECORDINGS=/no".as_ptr(), c"X=1".as_ptr(), core::ptr::null()];
        // SAFETY: strings that live, and null.
        assert_eq!(unsafe { path(other.as_ptr()) }, None);
        let present = [c"X=1".as_ptr(), c"TRUEBENCH_RECORDING=/proc/7/fd/3".as_ptr(), core::ptr::null()];
        // SAFETY: likewise.
        assert_eq!(unsafe { path(present.as_ptr()) }, Some(c"/proc/7/fd/3"));
    }

    #[test]
    fn other_files_are_not_mapped() {
        let missing = [c"/proc/self/exe", c"/dev/null", c"/nowhere"];
        assert_eq!(missing.map(record_to), [None; 3]);
    }
}
