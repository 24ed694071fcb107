//! Finds the memory that truebench shares, at the first call that can.

use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use shm::blocks::{self, Blocks};
use shm::recording::{self, Recording, VARIABLE};
use shm::sys;

use crate::book::{Book, Own};
use crate::large::Large;
use crate::next;
use crate::sink::Sink;

/// Whether calls are recorded.
static STATE: AtomicU32 = AtomicU32::new(BEFORE);
const BEFORE: u32 = 0;
const STARTING: u32 = 1;
const ON: u32 = 2;
const OFF: u32 = 3;
/// Those of large blocks.
const LARGE: u32 = 4;

/// Bytes of the smallest block whose birth is recorded, as far as is known.
static LEAST: AtomicUsize = AtomicUsize::new(0);
static SHARED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static OWN: AtomicPtr<Own> = AtomicPtr::new(core::ptr::null_mut());

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Whether the birth of a block of so many bytes may have to be recorded.
#[inline]
pub fn concerns(size: usize) -> bool {
    size >= LEAST.load(Ordering::Relaxed)
}

/// Where to write; `None` if nothing is recorded, or not yet, or no longer.
#[inline]
pub fn sink() -> Option<Sink> {
    match STATE.load(Ordering::Acquire) {
        // SAFETY: it was stored before the state said so, and lives as long as the process.
        LARGE => Some(Sink::Large(Large::new(unsafe { Blocks::over(SHARED.load(Ordering::Relaxed)) }))),
        ON => open().map(Sink::All),
        BEFORE => begin(),
        _ => None,
    }
}

/// The same, where all blocks are counted, for the last time: from now on nothing is recorded. `None` in a process that did not
/// record itself, such as a vfork child, whose memory is its parent's.
pub fn last() -> Option<Book> {
    let Some(Sink::All(book)) = sink() else { return None };
    if !book.is_of(sys::process()) {
        return None;
    }
    STATE.compare_exchange(ON, OFF, Ordering::AcqRel, Ordering::Relaxed).ok()?;
    Some(book)
}

fn open() -> Option<Book> {
    let (shared, own) = (SHARED.load(Ordering::Relaxed), OWN.load(Ordering::Relaxed));
    // SAFETY: both were stored before the state said so, and live as long as the process.
    Some(unsafe { Book::new(Recording::over(shared), &*own) })
}

#[cold]
fn begin() -> Option<Sink> {
    // Before the C library has begun there is no environment to look at.
    // SAFETY: a word of the C library's, that nobody writes meanwhile.
    let environment = unsafe { environ };
    if environment.is_null() || !next::are_known() {
        return None;
    }
    if STATE.compare_exchange(BEFORE, STARTING, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return None;
    }
    let errno = sys::errno();
    // SAFETY: as the C library keeps it.
    let found = unsafe { path(environment) }.and_then(shared);
    let state = match found {
        Some(Shared::All(shared)) => count_all(shared),
        Some(Shared::Large(shared)) => tell_large(shared),
        None => OFF,
    };
    if state == OFF {
        LEAST.store(usize::MAX, Ordering::Relaxed);
    }
    STATE.store(state, Ordering::Release);
    // SAFETY: always a valid location.
    unsafe { *libc::__errno_location() = errno };
    if state == OFF { None } else { sink() }
}

/// Gets ready to count all blocks; the state from now on.
fn count_all(shared: Recording) -> u32 {
    let Some(own) = Own::map() else {
        shared.head().refused.store(sys::errno() as u64, Ordering::Relaxed);
        return OFF;
    };
    SHARED.store(shared.base(), Ordering::Relaxed);
    OWN.store(core::ptr::from_ref(own).cast_mut(), Ordering::Relaxed);
    ON
}

/// Gets ready to tell of large blocks; the state from now on.
fn tell_large(shared: Blocks) -> u32 {
    SHARED.store(shared.base(), Ordering::Relaxed);
    LEAST.store(shared.head().least.load(Ordering::Relaxed) as usize, Ordering::Relaxed);
    Large::new(shared).greet();
    LARGE
}

/// The value of [`VARIABLE`].
///
/// # Safety
/// Strings, the last of them null.
unsafe fn path(mut environment: *const *const c_char) -> Option<&'static CStr> {
    loop {
        // SAFETY: the caller's; the end was not yet reached.
        let entry = unsafe { environment.read() };
        if entry.is_null() {
            return None;
        }
        // SAFETY: the caller's.
        let text = unsafe { CStr::from_ptr(entry) };
        let rest = text.to_bytes_with_nul().strip_prefix(VARIABLE.as_bytes());
        if let Some(value) = rest.and_then(|rest| rest.strip_prefix(b"=")) {
            return CStr::from_bytes_with_nul(value).ok();
        }
        environment = environment.wrapping_add(1);
    }
}

/// The memory, which says what is to be recorded.
enum Shared {
    All(Recording),
    Large(Blocks),
}

/// Maps it, if it is what it should be: by then the path may lead elsewhere.
fn shared(path: &CStr) -> Option<Shared> {
    // SAFETY: a string.
    let descriptor = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOCTTY) };
    if descriptor < 0 {
        return None;
    }
    let shared = match size(descriptor) {
        Some(recording::BYTES) => Recording::map(descriptor)
            .filter(|shared| shared.head().magic.load(Ordering::Relaxed) == recording::MAGIC)
            .map(Shared::All),
        Some(blocks::BYTES) => Blocks::map(descriptor)
            .filter(|shared| shared.head().magic.load(Ordering::Relaxed) == blocks::MAGIC)
            .map(Shared::Large),
        _ => None,
    };
    // SAFETY: ours.
    unsafe { libc::close(descriptor) };
    shared
}

fn size(descriptor: c_int) -> Option<usize> {
    // SAFETY: all zero is a valid status.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: ours to write.
    let is_told = unsafe { libc::fstat(descriptor, &mut status) } == 0;
    is_told.then_some(status.st_size as usize)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn the_variable_is_found_by_its_whole_name() {
        let other = [c"TRUEBENCH_RECORDINGS=/no".as_ptr(), c"X=1".as_ptr(), core::ptr::null()];
        // SAFETY: strings that live, and null.
        assert_eq!(unsafe { path(other.as_ptr()) }, None);
        let there = [c"X=1".as_ptr(), c"TRUEBENCH_RECORDING=/proc/7/fd/3".as_ptr(), core::ptr::null()];
        // SAFETY: likewise.
        assert_eq!(unsafe { path(there.as_ptr()) }, Some(c"/proc/7/fd/3"));
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_left_alone() {
        assert!(shared(c"/proc/self/exe").is_none() && shared(c"/dev/null").is_none());
        assert!(shared(c"/nowhere").is_none());
    }
}
