//! Laps under the events by which a program is watched ([`trace`](crate::trace)): what they add to a fault, to a sample, to a task
//! switch. Each lap does the same with them and without, in turn, so that only what they add is left.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use figure::CpuList;
use rustix::thread::gettid;

use super::ground::Ground;
use super::lap::{Lap, timed};
use crate::clocks::Used;
use crate::mapping::Mapping;
use crate::trace::events::{Events, Set, Target};

/// A period so long that a lap hardly meets a sample: what is left is counting. A prime.
const COUNTED: u64 = 1_000_003;
/// The period by which samples are priced: few enough that the rings of a lap hold them. A prime.
pub const SAMPLED: u64 = 13;
/// Task switches of a lap, and how long the thread sleeps for each: as short as can be.
const SWITCHES: usize = 64;
const SLEEP: Duration = Duration::from_nanos(1);

thread_local! {
    /// The events of this thread, opened by its first lap.
    static EVENTS: RefCell<Option<Events>> = const { RefCell::new(None) };
}

/// Why there are none, in words for the user.
///
/// # Errors
/// That.
pub fn look() -> Result<(), String> {
    open(COUNTED).map(drop).map_err(|error| crate::trace::told(&error, 1, 1))
}

/// The events of this thread, which is pinned to its CPU.
fn open(period: u64) -> io::Result<Events> {
    let cpu = u32::try_from(rustix::thread::sched_getcpu()).unwrap_or_default();
    let thread = gettid().as_raw_nonzero().get().unsigned_abs();
    Events::open(&Target::Running(vec![thread]), &CpuList::from_iter([cpu]), period)
}

/// Does something under events with this period; `burst` turns on those that see every fault.
fn under<T>(period: u64, burst: bool, body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    EVENTS.with_borrow_mut(|events| {
        let mut seen = Vec::new();
        let events = match events {
            Some(events) => events,
            none => none.insert(open(period)?),
        };
        if events.period() != period {
            let thread = gettid().as_raw_nonzero().get().unsigned_abs();
            events.set_period(period, &[thread], &mut seen)?;
        }
        events.turn(Set::Minor, true);
        events.turn(Set::Burst, burst);
        let done = body();
        events.turn(Set::Minor, false);
        events.turn(Set::Burst, false);
        events.drain(&mut seen);
        done
    })
}

/// Closes the events of this thread: those that are turned off are looked at all the same, at each fault and each switch.
fn close() {
    EVENTS.with_borrow_mut(|events| *events = None);
}

/// First writes to a fresh region.
fn touch(ground: &Ground) -> io::Result<Used> {
    let region = Mapping::anonymous(ground.region)?;
    Ok(timed(|| (0..region.pages()).for_each(|page| region.write(page))).1)
}

fn pages(ground: &Ground) -> f64 {
    (ground.region / ground.page) as f64
}

/// What counting adds to each fault.
pub fn counted(ground: &Ground) -> io::Result<Lap> {
    // Once before each time that counts: opening and closing leave other pages and caches behind.
    let twice = || touch(ground).and_then(|_| touch(ground));
    let used = under(COUNTED, false, twice)?;
    close();
    Ok(Lap { units: pages(ground), used, again: twice()? })
}

/// What a sample with its stack adds to counting.
pub fn sampled(ground: &Ground) -> io::Result<Lap> {
    let used = under(SAMPLED, false, || touch(ground))?;
    let again = under(COUNTED, false, || touch(ground))?;
    Ok(Lap { units: pages(ground) / SAMPLED as f64, used, again })
}

/// What a burst, in which every fault is seen without its stack, adds to counting.
pub fn burst(ground: &Ground) -> io::Result<Lap> {
    let used = under(COUNTED, true, || touch(ground))?;
    let again = under(COUNTED, false, || touch(ground))?;
    Ok(Lap { units: pages(ground), used, again })
}

/// What a task's switch off its CPU and back costs more.
pub fn switched(_: &Ground) -> io::Result<Lap> {
    let sleep = || timed(|| (0..SWITCHES).for_each(|_| std::thread::sleep(SLEEP))).1;
    let used = under(COUNTED, false, || Ok(sleep()))?;
    close();
    Ok(Lap { units: SWITCHES as f64, used, again: sleep() })
}
