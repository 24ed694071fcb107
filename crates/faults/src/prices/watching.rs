//! Laps with the events that watch a program ([`trace`](crate::trace)): what they add to a fault, a sample, a
//! task switch. Each lap runs the same code with and without them, and the price is the difference.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use super::fixture::Fixture;
use super::lap::{Lap, timed};
use crate::clocks::ThreadUsage;
use crate::mapping::Mapping;
use crate::trace::events::{Events, open_this_thread, this_thread};
use crate::trace::record::Set;

/// A period so long that a lap has hardly a sample, so that only counting is left. A prime.
const COUNTED: u64 = 1_000_003;
/// The period for the price of a sample: long enough that the rings hold all samples of a lap. A prime.
pub const SAMPLED: u64 = 13;
/// Task switches of a lap, and the sleep that causes each: as short as possible.
const SWITCHES: usize = 64;
const SLEEP: Duration = Duration::from_nanos(1);

thread_local! {
    /// The events of this thread, opened by its first lap.
    static EVENTS: RefCell<Option<Events>> = const { RefCell::new(None) };
}

/// Runs `body` with events of this period. `sets`: those for minor faults that are on meanwhile.
fn with_events<T>(period: u64, sets: &[Set], body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    EVENTS.with_borrow_mut(|events| {
        let mut entries = Vec::new();
        let events = match events {
            Some(events) => events,
            none => none.insert(open_this_thread(period)?),
        };
        if events.period != period {
            events.set_period(period, &[this_thread()], &mut entries)?;
        }
        for set in [Set::Minor, Set::Burst] {
            events.turn(set, sets.contains(&set));
        }
        let result = body();
        events.turn(Set::Minor, false);
        events.turn(Set::Burst, false);
        events.drain(&mut entries);
        result
    })
}

/// Closes the events of this thread: disabled events still cost something at each fault and each switch.
fn close() {
    EVENTS.with_borrow_mut(|events| *events = None);
}

fn touch(fixture: &Fixture) -> io::Result<ThreadUsage> {
    let region = Mapping::anonymous(fixture.region)?;
    Ok(timed(|| (0..region.pages()).for_each(|page| region.write(page))).1)
}

fn pages(fixture: &Fixture) -> f64 {
    (fixture.region / fixture.page) as f64
}

pub fn counting(fixture: &Fixture) -> io::Result<Lap> {
    with_open_events(&[Set::Minor], fixture)
}

/// Outside windows the events are off, but open.
pub fn outside(fixture: &Fixture) -> io::Result<Lap> {
    with_open_events(&[], fixture)
}

fn with_open_events(sets: &[Set], fixture: &Fixture) -> io::Result<Lap> {
    // Each measurement follows a lap that is not measured, as opening and closing events change caches.
    let twice = || touch(fixture).and_then(|_| touch(fixture));
    let used = with_events(COUNTED, sets, twice)?;
    close();
    Ok(Lap { units: pages(fixture), used, again: twice()? })
}

pub fn sampling(fixture: &Fixture) -> io::Result<Lap> {
    let used = with_events(SAMPLED, &[Set::Minor], || touch(fixture))?;
    let again = with_events(COUNTED, &[Set::Minor], || touch(fixture))?;
    Ok(Lap { units: pages(fixture) / SAMPLED as f64, used, again })
}

/// What a burst, which records every fault without its stack, adds to counting.
pub fn burst(fixture: &Fixture) -> io::Result<Lap> {
    let used = with_events(COUNTED, &[Set::Minor, Set::Burst], || touch(fixture))?;
    let again = with_events(COUNTED, &[Set::Minor], || touch(fixture))?;
    Ok(Lap { units: pages(fixture), used, again })
}

pub fn task_switch(_: &Fixture) -> io::Result<Lap> {
    let sleep = || timed(|| (0..SWITCHES).for_each(|_| std::thread::sleep(SLEEP))).1;
    let used = with_events(COUNTED, &[Set::Minor, Set::Burst], || Ok(sleep()))?;
    close();
    Ok(Lap { units: SWITCHES as f64, used, again: sleep() })
}
