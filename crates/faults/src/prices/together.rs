//! Laps of several threads of one process: what a change of the page table costs while others run, and what faults cost while others fault.

use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::pool::Seat;
use rustix::mm::Advice;

use super::ground::Ground;
use super::lap::{Lap, fill, timed};
use crate::mapping::{Mapping, page_size};

/// Pages that are given back one by one in a lap.
const PAGES: usize = 256;
/// Pages that stay, so that no table of pages becomes empty: to give that back interrupts even CPUs that sleep.
const STAYING: usize = 8;
/// Laps of a sample.
const LAPS: usize = 4;

/// A call that takes one page away: the last one that is there, of so many.
type Take = fn(&mut Mapping, usize) -> io::Result<()>;

/// Where the caller tells the others that a sample is over.
#[derive(Debug, Default)]
pub struct Meeting {
    over: AtomicUsize,
}

/// Tells it however the sample ends.
struct Over<'a>(&'a Meeting, usize);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(self.1 + 1, Ordering::Release);
    }
}

/// One page after the other given back by madvise(MADV_DONTNEED), while the other threads run.
pub fn dontneed(ground: &Ground, seat: &Seat, sample: usize, meeting: &Meeting) -> io::Result<Lap> {
    shot(ground, seat, sample, meeting, |region, page| region.advise_pages(page, 1, Advice::LinuxDontNeed))
}

/// One page after the other unmapped, from the end of the region, so that none is split.
pub fn unmapped(ground: &Ground, seat: &Seat, sample: usize, meeting: &Meeting) -> io::Result<Lap> {
    shot(ground, seat, sample, meeting, |region, _| region.cut(1))
}

fn shot(ground: &Ground, seat: &Seat, sample: usize, meeting: &Meeting, take: Take) -> io::Result<Lap> {
    if seat.index > 0 {
        while meeting.over.load(Ordering::Acquire) <= sample {
            spin_loop();
        }
        return Ok(Lap::default());
    }
    let _over = Over(meeting, sample);
    let mut all = Vec::with_capacity(LAPS);
    for _ in 0..LAPS {
        // Within the reach of one table of pages.
        let mut region = Mapping::anonymous_at((PAGES + STAYING) * page_size(), ground.table)?;
        fill(&region);
        let last = region.pages();
        let (done, used) = timed(|| (1..=PAGES).try_for_each(|nth| take(&mut region, last - nth)));
        done?;
        all.push(Lap::of(PAGES, used));
    }
    Ok(all.into_iter().sum())
}

/// First writes of all threads at once, each in a region of its own.
pub fn written(ground: &Ground, seat: &Seat, _: usize, _: &Meeting) -> io::Result<Lap> {
    let region = Mapping::anonymous(ground.each(seat.threads));
    // Whoever has no region comes to the barrier all the same: the others wait there.
    if seat.wait().is_err() {
        return Err(io::Error::other("another thread failed"));
    }
    let region = region?;
    let ((), used) = timed(|| fill(&region));
    let ((), again) = timed(|| fill(&region));
    let _ = seat.wait();
    Ok(Lap { again, ..Lap::of(region.pages(), used) })
}
