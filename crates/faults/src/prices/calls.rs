//! Laps of the calls that give memory back and ask for it.

use std::io;

use rustix::mm::Advice;

use super::fixture::Fixture;
use super::lap::{Lap, fill, timed_calls};
use crate::mapping::Mapping;

/// Calls of a lap, where one is too short to be timed.
const CALLS: usize = 256;

fn filled(fixture: &Fixture) -> io::Result<Mapping> {
    let region = Mapping::anonymous(fixture.region)?;
    fill(&region);
    Ok(region)
}

pub fn munmap(fixture: &Fixture) -> io::Result<Lap> {
    let region = filled(fixture)?;
    timed_calls(region.pages(), || region.unmap())
}

pub fn dontneed(fixture: &Fixture) -> io::Result<Lap> {
    advised(fixture, Advice::LinuxDontNeed)
}

pub fn free(fixture: &Fixture) -> io::Result<Lap> {
    advised(fixture, Advice::LinuxFree)
}

fn advised(fixture: &Fixture, advice: Advice) -> io::Result<Lap> {
    let region = filled(fixture)?;
    timed_calls(region.pages(), || region.advise(advice))
}

pub fn map_unmap(fixture: &Fixture) -> io::Result<Lap> {
    timed_calls(CALLS, || (0..CALLS).try_for_each(|_| Mapping::plain(fixture.region)?.unmap()))
}

/// brk up and down again, without a touch.
pub fn brk_up_down(fixture: &Fixture) -> io::Result<Lap> {
    let heap = Heap::current()?;
    timed_calls(CALLS, || (0..CALLS).try_for_each(|_| heap.up_and_down(fixture.region)))
}

/// The end of this process's heap. The C library does not know that it moves: nothing may be allocated from
/// the heap meanwhile. The other threads sleep then, and this one allocates nothing.
struct Heap(usize);

impl Heap {
    fn current() -> io::Result<Heap> {
        match brk(0) {
            0 => Err(io::Error::other("this process has no heap that brk could move")),
            end => Ok(Heap(end)),
        }
    }

    fn up_and_down(&self, bytes: usize) -> io::Result<()> {
        // The call returns the end of the heap, moved or not (brk(2), "C library/kernel differences").
        if brk(self.0 + bytes) != self.0 + bytes {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if brk(self.0) != self.0 {
            return Err(io::Error::other("the end of the heap could not be moved down again"));
        }
        Ok(())
    }
}

fn brk(end: usize) -> usize {
    // SAFETY: the end only moves above what is in use, and back.
    (unsafe { libc::syscall(libc::SYS_brk, end) }) as usize
}
