//! File Copy: the three tests that copy a file by read and write, each with sizes of its own.
//!
//! The files are small and stay in the page cache; nothing is synchronised. So the tests measure the page
//! cache and the file system's path to it. Both files exist in full before the start, so that short passes
//! measure the same as long ones: UnixBench's copy grows during the first iteration of its 30 s. The copy is
//! verified.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use crate::job::Job;
use crate::shared::{Cause, step};
use crate::sys::Text;
use crate::unixbench::{Class, Needs, Test};
use crate::{Outcome, sys, timer};

pub const FSTIME: Test = Test {
    name: "fstime",
    title: "File Copy 1024 bufsize 2000 maxblocks",
    baseline: 3960.0,
    counts: "1 KiB copied within the page cache, by read and write of 1024 B",
    run: |job| copy(job, Sizes { buffer: 1024, blocks: 2000 }),
    ..FILE_COPY
};

pub const FSBUFFER: Test = Test {
    name: "fsbuffer",
    title: "File Copy 256 bufsize 500 maxblocks",
    baseline: 1655.0,
    counts: "1 KiB copied within the page cache, by read and write of 256 B",
    run: |job| copy(job, Sizes { buffer: 256, blocks: 500 }),
    ..FILE_COPY
};

pub const FSDISK: Test = Test {
    name: "fsdisk",
    title: "File Copy 4096 bufsize 8000 maxblocks",
    baseline: 5800.0,
    counts: "1 KiB copied within the page cache, by read and write of 4096 B",
    run: |job| copy(job, Sizes { buffer: 4096, blocks: 8000 }),
    ..FILE_COPY
};

const FILE_COPY: Test = Test {
    unit: "KBps",
    class: Class::Files,
    groups: &["system", "oldsystem", "fs"],
    needs: Needs::Directory,
    ..Test::LPS
};

#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Bytes of one read and one write, at most [`BUFFER_BYTES`].
    buffer: usize,
    /// KiB of the file.
    blocks: u64,
}

/// Bytes of the buffer. Tests use a part of it.
const BUFFER_BYTES: usize = 8192;
/// Bytes of a block, which is also the unit of the count.
const BLOCK: u64 = 1024;
/// 2^64 divided by the golden ratio: multiples of it make words of the files that differ.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Static, as in UnixBench: the low address bits of a heap buffer may alias those of the page.
struct Buffer(UnsafeCell<[u8; BUFFER_BYTES]>);
// SAFETY: processes of the file tests have one thread.
unsafe impl Sync for Buffer {}
static BUFFER: Buffer = Buffer(UnsafeCell::new([0; BUFFER_BYTES]));

/// Contents of the source, and of the destination before the copy.
const SOURCE: u64 = 1;
const BLANK: u64 = 2;

type Name = Text<64>;

/// Copies in the working directory until the time is over, then removes both files.
fn copy(job: &Job, sizes: Sizes) -> Outcome {
    let process = sys::process() as u64;
    let name = |suffix: &[u8]| Name::new().and(b"truebench-")?.and_number(process)?.and(suffix);
    let (Some(from), Some(to)) = (name(b".from"), name(b".to")) else {
        return Err(Cause::wrong(step::ARGUMENTS, 0));
    };
    let result = copy_between(job, sizes, &from, &to);
    // SAFETY: strings that live.
    unsafe { (libc::unlink(from.as_ptr()), libc::unlink(to.as_ptr())) };
    result
}

fn copy_between(job: &Job, sizes: Sizes, from: &Name, to: &Name) -> Outcome {
    let (from, to) = (open(from)?, open(to)?);
    let bytes = sizes.blocks.wrapping_mul(BLOCK);
    let size = sizes.buffer.min(BUFFER_BYTES);
    fill(from, bytes, size, SOURCE)?;
    fill(to, bytes, size, BLANK)?;
    rewind(from)?;
    rewind(to)?;
    timer::start_and_return(job)?;
    let copied = copy_until_over(from, to, size)?;
    job.slot.count.store(copied / BLOCK, core::sync::atomic::Ordering::Release);
    verify(from, 0, bytes, SOURCE)?;
    verify(to, 0, copied.min(bytes), SOURCE)?;
    verify(to, copied.min(bytes), bytes, BLANK)
}

/// Copies the file again and again. Returns the bytes copied.
fn copy_until_over(from: c_int, to: c_int, size: usize) -> Result<u64, Cause> {
    let buffer = BUFFER.0.get().cast::<u8>();
    let mut copied: u64 = 0;
    while !timer::is_over() {
        // SAFETY: `size` is at most the buffer's.
        let read = unsafe { libc::read(from, buffer.cast(), size) };
        if read > 0 {
            // SAFETY: the buffer holds this many bytes.
            let written = unsafe { libc::write(to, buffer.cast(), read as usize) };
            if written != read {
                return Err(short_write(to, written));
            }
            copied = copied.wrapping_add(read as u64);
        } else if read == 0 {
            rewind(from)?;
            rewind(to)?;
        } else {
            return Err(Cause::now(step::READ));
        }
    }
    Ok(copied)
}

/// The cause of a short write. A write that wrote a part sets no errno, so this writes again.
fn short_write(to: c_int, written: isize) -> Cause {
    if written >= 0 {
        // SAFETY: one byte of the buffer.
        let more = unsafe { libc::write(to, BUFFER.0.get().cast(), 1) };
        if more >= 0 {
            return Cause::wrong(step::WRITE, written as u64);
        }
    }
    Cause::now(step::WRITE)
}

fn open(name: &Name) -> Result<c_int, Cause> {
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
    // SAFETY: a string that lives.
    let file = unsafe { libc::open(name.as_ptr(), flags, 0o600 as libc::mode_t) };
    if file < 0 { Err(Cause::now(step::OPEN)) } else { Ok(file) }
}

#[inline(always)]
fn rewind(file: c_int) -> Outcome {
    // SAFETY: touches no memory.
    if unsafe { libc::lseek(file, 0, libc::SEEK_SET) } == 0 { Ok(()) } else { Err(Cause::now(step::SEEK)) }
}

/// The byte at an offset of a file with these contents.
fn byte(contents: u64, offset: u64) -> u8 {
    let word = (offset / 8).wrapping_add(1).wrapping_mul(STEP).wrapping_mul(contents);
    (word >> (8 * (offset % 8))) as u8
}

/// Writes the first `bytes` of a file, `size` at a time, as UnixBench does: file systems with large folios
/// choose the folio size by the size of the write.
fn fill(file: c_int, bytes: u64, size: usize, contents: u64) -> Outcome {
    // SAFETY: one thread, and no other reference.
    let buffer = unsafe { &mut *BUFFER.0.get() };
    let mut done = 0;
    while done < bytes {
        let size = (bytes - done).min(size as u64) as usize;
        for (offset, to) in (done..).zip(buffer.iter_mut().take(size)) {
            *to = byte(contents, offset);
        }
        // SAFETY: at most the buffer's size.
        let written = unsafe { libc::write(file, buffer.as_ptr().cast(), size) };
        if written != size as isize {
            return Err(short_write(file, written));
        }
        done += size as u64;
    }
    Ok(())
}

/// Reads a range and compares it with the expected contents.
fn verify(file: c_int, start: u64, end: u64, contents: u64) -> Outcome {
    let mut at = start;
    while at < end {
        let size = (end - at).min(BUFFER_BYTES as u64) as usize;
        // SAFETY: at most the buffer's size.
        let read = unsafe { libc::pread(file, BUFFER.0.get().cast(), size, at as libc::off_t) };
        if read < 0 {
            return Err(Cause::now(step::READ));
        }
        // SAFETY: one thread, and no mutable reference.
        let buffer = unsafe { &*BUFFER.0.get() };
        let mut pairs = (at..end).zip(buffer.iter().take(read as usize));
        if let Some((offset, _)) = pairs.find(|(offset, actual)| **actual != byte(contents, *offset)) {
            return Err(Cause::wrong(step::CONTENTS, offset));
        }
        if read == 0 {
            return Err(Cause::wrong(step::CONTENTS, at));
        }
        at += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod unit {
    use super::*;

    fn file() -> c_int {
        // SAFETY: a string that lives.
        let file = unsafe { libc::memfd_create(c"unit".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(file >= 0);
        file
    }

    // One test: the buffer is static.
    #[test]
    fn copies_are_verified_to_the_byte() {
        let (from, to, bytes) = (file(), file(), 20 * BLOCK);
        fill(from, bytes, 256, SOURCE).unwrap();
        fill(to, bytes, 4096, BLANK).unwrap();
        verify(from, 0, bytes, SOURCE).unwrap();
        assert_eq!(
            verify(to, 0, bytes, SOURCE),
            Err(Cause::wrong(step::CONTENTS, 0)),
            "nothing was copied yet"
        );
        // Less than the whole file.
        rewind(from).unwrap();
        rewind(to).unwrap();
        let mut copied = 0;
        while copied < 12 * BLOCK {
            let buffer = BUFFER.0.get().cast::<u8>();
            // SAFETY: less than the buffer's size.
            let (read, written) = unsafe {
                let read = libc::read(from, buffer.cast(), 1024);
                (read, libc::write(to, buffer.cast(), read as usize))
            };
            assert_eq!(read, written);
            copied += read as u64;
        }
        verify(to, 0, copied, SOURCE).unwrap();
        verify(to, copied, bytes, BLANK).unwrap();
        // A wrong byte, and a missing one.
        let wrong = !byte(SOURCE, 9001);
        // SAFETY: one byte.
        unsafe { libc::pwrite(to, (&raw const wrong).cast(), 1, 9001) };
        assert_eq!(verify(to, 0, copied, SOURCE), Err(Cause::wrong(step::CONTENTS, 9001)));
        // SAFETY: touches no memory.
        unsafe { libc::ftruncate(from, 5000) };
        assert_eq!(verify(from, 0, bytes, SOURCE), Err(Cause::wrong(step::CONTENTS, 5000)));
        // SAFETY: both files are not used any more.
        unsafe { (libc::close(from), libc::close(to)) };
    }

    #[test]
    fn a_full_file_system_is_the_cause_of_a_short_write() {
        // SAFETY: a string that lives.
        let full = unsafe { libc::open(c"/dev/full".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
        assert!(full >= 0);
        let cause = short_write(full, 100);
        assert_eq!((cause.step, cause.errno), (step::WRITE, libc::ENOSPC));
        // SAFETY: the file is not used any more.
        unsafe { libc::close(full) };
    }
}
