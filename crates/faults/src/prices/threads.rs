//! Laps of several threads: a change of the page table while others run, and faults while others fault.

use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::pool::WorkerThread;
use rustix::mm::Advice;

use super::fixture::Fixture;
use super::lap::{Lap, fill, timed, timed_calls};
use crate::mapping::{Mapping, page_size};

/// Pages that a lap gives back one by one.
const PAGES: usize = 256;
/// Pages that stay, so that no page table becomes empty: freeing one interrupts even idle CPUs.
const STAYING: usize = 8;
const LAPS: usize = 4;

/// A call that gives the last page back; its number is the second argument.
type Release = fn(&mut Mapping, usize) -> io::Result<()>;

/// The signal to the other threads that a sample is over.
#[derive(Debug, Default)]
pub struct SampleEnd {
    samples: AtomicUsize,
}

/// Signals the end of a sample, also when it fails.
struct SignalOnDrop<'a>(&'a SampleEnd, usize);

impl Drop for SignalOnDrop<'_> {
    fn drop(&mut self) {
        self.0.samples.store(self.1 + 1, Ordering::Release);
    }
}

/// madvise(MADV_DONTNEED) of one page after the other, while the other threads run.
pub fn dontneed(fixture: &Fixture, thread: &WorkerThread, sample: usize, end: &SampleEnd) -> io::Result<Lap> {
    release_pages(fixture, thread, sample, end, |region, page| {
        region.advise_pages(page, 1, Advice::LinuxDontNeed)
    })
}

/// munmap of one page after the other, from the end of the region, so that no mapping is split.
pub fn munmap(fixture: &Fixture, thread: &WorkerThread, sample: usize, end: &SampleEnd) -> io::Result<Lap> {
    release_pages(fixture, thread, sample, end, |region, _| region.cut(1))
}

fn release_pages(
    fixture: &Fixture,
    thread: &WorkerThread,
    sample: usize,
    end: &SampleEnd,
    release: Release,
) -> io::Result<Lap> {
    if thread.index > 0 {
        while end.samples.load(Ordering::Acquire) <= sample {
            spin_loop();
        }
        return Ok(Lap::default());
    }
    let _signal = SignalOnDrop(end, sample);
    let mut all = Vec::with_capacity(LAPS);
    for _ in 0..LAPS {
        // Within one page table.
        let mut region = Mapping::anonymous_at((PAGES + STAYING) * page_size(), fixture.table)?;
        fill(&region);
        let last = region.pages();
        all.push(timed_calls(PAGES, || (1..=PAGES).try_for_each(|nth| release(&mut region, last - nth)))?);
    }
    Ok(all.into_iter().sum())
}

/// First writes of all threads at once, each in a region of its own.
pub fn first_write(fixture: &Fixture, thread: &WorkerThread, _: usize, _: &SampleEnd) -> io::Result<Lap> {
    let region = Mapping::anonymous(fixture.each(thread.threads));
    // A thread without a region comes to the barrier too: the others wait there.
    if thread.wait().is_err() {
        return Err(io::Error::other("another thread failed"));
    }
    let region = region?;
    let ((), used) = timed(|| fill(&region));
    let ((), again) = timed(|| fill(&region));
    let _ = thread.wait();
    Ok(Lap { again, ..Lap::new(region.pages(), used) })
}
