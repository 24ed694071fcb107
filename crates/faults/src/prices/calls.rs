//! Laps of the calls that give memory back and take it again.

use std::io;

use rustix::mm::Advice;

use super::ground::Ground;
use super::lap::{Lap, fill, timed};
use crate::mapping::Mapping;

/// Calls of a lap, where one is too short to be timed.
const CALLS: usize = 256;

fn filled(ground: &Ground) -> io::Result<Mapping> {
    let region = Mapping::anonymous(ground.region)?;
    fill(&region);
    Ok(region)
}

/// A touched region unmapped, by the page.
pub fn unmapped(ground: &Ground) -> io::Result<Lap> {
    let region = filled(ground)?;
    let pages = region.pages();
    let (done, used) = timed(|| region.unmap());
    done?;
    Ok(Lap::of(pages, used))
}

/// A touched region given back and still mapped, by the page.
pub fn dontneed(ground: &Ground) -> io::Result<Lap> {
    advised(ground, Advice::LinuxDontNeed)
}

/// A touched region given up until the kernel wants it, by the page.
pub fn freed(ground: &Ground) -> io::Result<Lap> {
    advised(ground, Advice::LinuxFree)
}

fn advised(ground: &Ground, advice: Advice) -> io::Result<Lap> {
    let region = filled(ground)?;
    let (done, used) = timed(|| region.advise(advice));
    done?;
    Ok(Lap::of(region.pages(), used))
}

/// A region mapped and unmapped that nobody touches.
pub fn mapped(ground: &Ground) -> io::Result<Lap> {
    let calls = || (0..CALLS).try_for_each(|_| Mapping::plain(ground.region)?.unmap());
    let (done, used) = timed(calls);
    done?;
    Ok(Lap::of(CALLS, used))
}

/// The end of the heap moved up and down again, where nobody touches it.
pub fn moved(ground: &Ground) -> io::Result<Lap> {
    let heap = Heap::here()?;
    let (done, used) = timed(|| (0..CALLS).try_for_each(|_| heap.up_and_down(ground.region)));
    done?;
    Ok(Lap::of(CALLS, used))
}

/// The end of this process's heap. The C library does not know that we move it: nothing may be allocated from the heap meanwhile. The
/// other threads sleep then, and this one allocates nothing.
struct Heap(usize);

impl Heap {
    fn here() -> io::Result<Heap> {
        match set(0) {
            0 => Err(io::Error::other("this process has no heap that brk could move")),
            end => Ok(Heap(end)),
        }
    }

    fn up_and_down(&self, bytes: usize) -> io::Result<()> {
        // The call answers with the end that holds, whatever was asked for (brk(2), "C library/kernel differences").
        if set(self.0 + bytes) != self.0 + bytes {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if set(self.0) != self.0 {
            return Err(io::Error::other("the end of the heap could not be moved down again"));
        }
        Ok(())
    }
}

fn set(end: usize) -> usize {
    // SAFETY: the end only moves above what is in use, and back.
    (unsafe { libc::syscall(libc::SYS_brk, end) }) as usize
}
