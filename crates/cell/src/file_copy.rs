//! Copying a file by read and write: what the file tests have in common.
//!
//! Files so small stay in the page cache: it is that which is measured, with the file system's path to it; nothing is ever
//! synchronised. Both files exist in full before the start, so that a short pass measures what a long one does: UnixBench's
//! copy grows in the first turn of its 30 s. What was copied is verified.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use crate::shared::{Cause, step};
use crate::sys::Text;
use crate::test::Job;
use crate::{Outcome, timer};

/// What is copied, and how.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of one read and one write, at most [`BUFFER_BYTES`].
    pub buffer: usize,
    /// KiB of the file.
    pub blocks: u64,
}

/// Bytes of the buffer, whatever the test uses of it.
const BUFFER_BYTES: usize = 8192;
/// Bytes of a block, and of the unit that is counted.
const BLOCK: u64 = 1024;
/// What words of the files are made of: the golden ratio, so that no two are alike.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Static, as in UnixBench: with one of the heap, the processor may see addresses of buffer and page alike.
struct Buffer(UnsafeCell<[u8; BUFFER_BYTES]>);
// SAFETY: processes of the file tests have one thread.
unsafe impl Sync for Buffer {}
static BUFFER: Buffer = Buffer(UnsafeCell::new([0; BUFFER_BYTES]));

/// Contents of the source.
const OURS: u64 = 1;
/// Contents of the other file before anything is copied to it.
const BLANK: u64 = 2;

type Name = Text<64>;

/// Copies in the working directory until the time is over; nothing of it is left.
pub fn copy(job: &Job, sizes: Sizes) -> Outcome {
    // SAFETY: a number.
    let process = unsafe { libc::getpid() } as u64;
    let name = |end: &[u8]| Name::new().and(b"truebench-")?.and_number(process)?.and(end);
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
    fill(from, bytes, size, OURS)?;
    fill(to, bytes, size, BLANK)?;
    rewind(from)?;
    rewind(to)?;
    timer::start_and_return(job)?;
    let copied = turn(from, to, size)?;
    job.slot.count.store(copied / BLOCK, core::sync::atomic::Ordering::Release);
    verify(from, 0, bytes, OURS)?;
    verify(to, 0, copied.min(bytes), OURS)?;
    verify(to, copied.min(bytes), bytes, BLANK)
}

/// Copies round and round, and returns the bytes.
fn turn(from: c_int, to: c_int, size: usize) -> Result<u64, Cause> {
    let buffer = BUFFER.0.get().cast::<u8>();
    let mut copied: u64 = 0;
    while !timer::is_over() {
        // SAFETY: `size` is at most the buffer's.
        let read = unsafe { libc::read(from, buffer.cast(), size) };
        if read > 0 {
            // SAFETY: that many bytes have just been read.
            let wrote = unsafe { libc::write(to, buffer.cast(), read as usize) };
            if wrote != read {
                return Err(short_write(to, wrote));
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

/// Why less was written than should have been: of a part that was, only another attempt tells.
fn short_write(to: c_int, wrote: isize) -> Cause {
    if wrote >= 0 {
        // SAFETY: one byte of the buffer.
        let more = unsafe { libc::write(to, BUFFER.0.get().cast(), 1) };
        if more >= 0 {
            return Cause::wrong(step::WRITE, wrote as u64);
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

/// The byte of such contents at an offset in the file.
fn byte(contents: u64, offset: u64) -> u8 {
    let word = (offset / 8).wrapping_add(1).wrapping_mul(STEP).wrapping_mul(contents);
    (word >> (8 * (offset % 8))) as u8
}

/// Writes the first `bytes` of a file, `size` at a time, as UnixBench's are written: file systems with large folios choose
/// by the size of a write of which pieces they make the page cache.
fn fill(file: c_int, bytes: u64, size: usize, contents: u64) -> Outcome {
    // SAFETY: one thread; nobody else has it.
    let buffer = unsafe { &mut *BUFFER.0.get() };
    let mut done = 0;
    while done < bytes {
        let size = (bytes - done).min(size as u64) as usize;
        for (offset, to) in (done..).zip(buffer.iter_mut().take(size)) {
            *to = byte(contents, offset);
        }
        // SAFETY: at most the buffer's size.
        let wrote = unsafe { libc::write(file, buffer.as_ptr().cast(), size) };
        if wrote != size as isize {
            return Err(short_write(file, wrote));
        }
        done += size as u64;
    }
    Ok(())
}

/// Reads a range and compares it with what must be there.
fn verify(file: c_int, start: u64, end: u64, contents: u64) -> Outcome {
    let mut at = start;
    while at < end {
        let size = (end - at).min(BUFFER_BYTES as u64) as usize;
        // SAFETY: at most the buffer's size.
        let read = unsafe { libc::pread(file, BUFFER.0.get().cast(), size, at as libc::off_t) };
        if read < 0 {
            return Err(Cause::now(step::READ));
        }
        // SAFETY: one thread; nobody else has it.
        let buffer = unsafe { &*BUFFER.0.get() };
        let mut pairs = (at..end).zip(buffer.iter().take(read as usize));
        if let Some((offset, _)) = pairs.find(|(offset, found)| **found != byte(contents, *offset)) {
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

    // One test for all: they share the buffer.
    #[test]
    fn copies_are_verified_to_the_byte() {
        let (from, to, bytes) = (file(), file(), 20 * BLOCK);
        fill(from, bytes, 256, OURS).unwrap();
        fill(to, bytes, 4096, BLANK).unwrap();
        verify(from, 0, bytes, OURS).unwrap();
        assert_eq!(
            verify(to, 0, bytes, OURS),
            Err(Cause::wrong(step::CONTENTS, 0)),
            "nothing was copied yet"
        );
        // By ourselves: once round and a part of the next.
        rewind(from).unwrap();
        rewind(to).unwrap();
        let mut copied = 0;
        while copied < 12 * BLOCK {
            let buffer = BUFFER.0.get().cast::<u8>();
            // SAFETY: less than the buffer's size.
            let (read, wrote) = unsafe {
                let read = libc::read(from, buffer.cast(), 1024);
                (read, libc::write(to, buffer.cast(), read as usize))
            };
            assert_eq!(read, wrote);
            copied += read as u64;
        }
        verify(to, 0, copied, OURS).unwrap();
        verify(to, copied, bytes, BLANK).unwrap();
        // A byte that is wrong, one that is missing.
        let wrong = !byte(OURS, 9001);
        // SAFETY: one byte.
        unsafe { libc::pwrite(to, (&raw const wrong).cast(), 1, 9001) };
        assert_eq!(verify(to, 0, copied, OURS), Err(Cause::wrong(step::CONTENTS, 9001)));
        // SAFETY: touches no memory.
        unsafe { libc::ftruncate(from, 5000) };
        assert_eq!(verify(from, 0, bytes, OURS), Err(Cause::wrong(step::CONTENTS, 5000)));
        // SAFETY: two files that nobody uses any more.
        unsafe { (libc::close(from), libc::close(to)) };
    }

    #[test]
    fn a_full_file_system_is_the_cause_of_a_short_write() {
        // Always full.
        // SAFETY: a string that lives.
        let full = unsafe { libc::open(c"/dev/full".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
        assert!(full >= 0);
        let cause = short_write(full, 100);
        assert_eq!((cause.step, cause.errno), (step::WRITE, libc::ENOSPC));
        // SAFETY: nobody uses it any more.
        unsafe { libc::close(full) };
    }
}
