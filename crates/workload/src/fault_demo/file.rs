//! Pages of a file that is mapped: in the page cache already, or dropped from it.

use core::ffi::{CStr, c_int};

use super::failure::Failure;
use super::pace::Pace;
use crate::sys;

const VARIABLE: &CStr = c"TMPDIR";
const DEFAULT: &CStr = c"/tmp";
/// File systems without a disk, as statfs(2) numbers them.
const TMPFS: u32 = 0x0102_1994;
const RAMFS: u32 = 0x8584_58f6;
const WRITING: Failure =
    c"truebench-workload: cannot write to the directory for temporary files (TMPDIR names another)\n";

/// Maps a file, reads a byte of every page, and unmaps it. If `is_dropped`, drops its pages from the page
/// cache first and turns read-ahead off, so that each page is read from the disk.
pub fn run(pace: Pace, bytes: usize, is_dropped: bool) -> Result<(), Failure> {
    let file = make(bytes)?;
    if is_dropped && is_memory(file) {
        return Err(
            c"truebench-workload: the directory for temporary files is in memory, not on a disk (TMPDIR names another)\n",
        );
    }
    pace.each(|| {
        // SAFETY: touches no memory.
        if is_dropped && unsafe { libc::posix_fadvise(file, 0, 0, libc::POSIX_FADV_DONTNEED) } != 0 {
            return Err(c"truebench-workload: posix_fadvise was refused\n");
        }
        // SAFETY: a new mapping at an address that the kernel chooses.
        let base =
            unsafe { libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file, 0) };
        if base == libc::MAP_FAILED {
            return Err(c"truebench-workload: the file could not be mapped\n");
        }
        // SAFETY: just mapped.
        if is_dropped && unsafe { libc::madvise(base, bytes, libc::MADV_RANDOM) } != 0 {
            return Err(c"truebench-workload: madvise(MADV_RANDOM) was refused\n");
        }
        let mut at = 0;
        while at < bytes {
            // SAFETY: within the mapping, which the file fills.
            unsafe { base.cast::<u8>().wrapping_add(at).read_volatile() };
            at = at.wrapping_add(sys::page());
        }
        sys::unmap(base.cast(), bytes);
        Ok(())
    })
}

/// Maps a file privately, writes to every page, and unmaps it: the kernel copies each page.
pub fn copy(pace: Pace, bytes: usize) -> Result<(), Failure> {
    let file = make(bytes)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    pace.each(|| {
        // SAFETY: a new mapping at an address that the kernel chooses.
        let base = unsafe { libc::mmap(core::ptr::null_mut(), bytes, access, libc::MAP_PRIVATE, file, 0) };
        if base == libc::MAP_FAILED {
            return Err(c"truebench-workload: the file could not be mapped\n");
        }
        // SAFETY: within the mapping, which the file fills.
        unsafe { sys::touch(base.cast(), bytes, 1) };
        sys::unmap(base.cast(), bytes);
        Ok(())
    })
}

/// Creates an unnamed file and writes it to its disk.
fn make(bytes: usize) -> Result<c_int, Failure> {
    // SAFETY: a name that lives.
    let directory = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    let directory = if directory.is_null() { DEFAULT.as_ptr() } else { directory.cast_const() };
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: a path that lives.
    let mut file = unsafe { libc::open(directory, flags, 0o600 as libc::mode_t) };
    if file < 0 {
        file = make_and_unlink(directory).ok_or(WRITING)?;
    }
    let buffer = [1u8; 16 << 10];
    let mut written = 0usize;
    while written < bytes {
        let part = bytes.wrapping_sub(written).min(buffer.len());
        // SAFETY: a buffer of at least this size.
        let count = unsafe { libc::write(file, buffer.as_ptr().cast(), part) };
        if count <= 0 {
            return Err(WRITING);
        }
        written = written.wrapping_add(count as usize);
    }
    // Dirty pages cannot be dropped from the page cache.
    // SAFETY: touches no memory.
    if unsafe { libc::fsync(file) } == 0 { Ok(file) } else { Err(WRITING) }
}

/// For file systems without O_TMPFILE: creates a file and removes its name at once.
fn make_and_unlink(directory: *const core::ffi::c_char) -> Option<c_int> {
    // SAFETY: a string that ends with zero.
    let directory = unsafe { CStr::from_ptr(directory) };
    let path = sys::Text::<4096>::new().and(directory.to_bytes())?.and(b"/truebench-demo-")?;
    let path = path.and_number(sys::process() as u64)?;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: a path that lives.
    unsafe {
        let file = libc::open(path.as_ptr(), flags, 0o600 as libc::mode_t);
        (file >= 0 && libc::unlink(path.as_ptr()) == 0).then_some(file)
    }
}

fn is_memory(file: c_int) -> bool {
    // SAFETY: all zero is a valid value.
    let mut status: libc::statfs = unsafe { core::mem::zeroed() };
    // SAFETY: writes to a local variable.
    let failed = unsafe { libc::fstatfs(file, &mut status) } != 0;
    !failed && [TMPFS, RAMFS].contains(&(status.f_type as u32))
}
