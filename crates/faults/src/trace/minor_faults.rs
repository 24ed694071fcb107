//! How many minor faults there were: the kernel counts all of them, or those in windows, which stand for the pauses between them.

use std::time::{Duration, Instant};

use super::events::Events;
use super::record::{Entry, EventKind, Set};
use super::time::now;
use super::windows::Windows;

pub struct MinorFaults {
    windows: Windows,
    /// Records of windows that were not taken yet.
    records: Vec<Entry>,
    /// By the counters, at the last count.
    counted: u64,
    /// All up to the last count, also those outside windows.
    pub all: f64,
    /// Those of them that were counted in fact.
    in_windows: f64,
}

impl MinorFaults {
    /// Counts all the time.
    pub fn new(now: Instant) -> MinorFaults {
        MinorFaults { windows: Windows::new(now), records: Vec::new(), counted: 0, all: 0.0, in_windows: 0.0 }
    }

    /// One part in so many of the time is counted.
    pub fn every(&self) -> u64 {
        self.windows.every
    }

    /// Whether a window is open: records that are read now would be missing in it.
    pub fn is_in_window(&self) -> bool {
        self.windows.is_open()
    }

    /// When to open or to close a window.
    pub fn next(&self) -> Option<Instant> {
        self.windows.next()
    }

    /// Opens or closes a window if it is time; returns whether samples may be missing: a ring was full.
    pub fn pass(&mut self, events: &mut Events) -> bool {
        if self.windows.next().is_none_or(|next| Instant::now() < next) {
            return false;
        }
        if self.windows.is_open() {
            return self.close(events);
        }
        self.records.push(Entry { time: now(), kind: EventKind::Window(true) });
        let (opened, took) = turn(events, true);
        self.windows.open(opened, took);
        false
    }

    /// Closes the window that is open; returns whether samples may be missing.
    pub fn close(&mut self, events: &mut Events) -> bool {
        if !self.windows.is_open() {
            return false;
        }
        let (closed, _) = turn(events, false);
        let Some(stands_for) = self.windows.close(closed) else { return false };
        let before = self.records.len();
        let was_full = events.drain_minor(stands_for, &mut self.records);
        let samples = self.records[before..].iter().map(|entry| entry.kind.minor_samples()).sum();
        self.windows.sampled(samples, stands_for);
        self.records.push(Entry { time: now(), kind: EventKind::Window(false) });
        was_full
    }

    /// Moves the records of windows to these.
    pub fn drain(&mut self, entries: &mut Vec<Entry>) {
        entries.append(&mut self.records);
    }

    /// Counts those since it was called last, also those outside windows.
    pub fn count(&mut self, events: &mut Events) -> f64 {
        let counted = events.minor_faults();
        let new = counted.saturating_sub(self.counted) as f64;
        let all = new * self.windows.stand_for();
        (self.counted, self.in_windows, self.all) = (counted, self.in_windows + new, self.all + all);
        all
    }

    /// Leaves out what these events counted up to now.
    pub fn leave_out(&mut self, events: &mut Events) {
        self.counted = events.minor_faults();
    }

    /// Of so many faults in all, those that were counted in fact.
    pub fn counted_of(&self, all: u64) -> u64 {
        (all as f64 * self.in_windows / self.all.max(1.0)) as u64
    }

    /// Counts one part in so many of the time from now on.
    pub fn set_every(&mut self, every: u64, events: &mut Events) {
        self.windows.set(every, Instant::now());
        events.turn(Set::Minor, every == 1);
    }
}

/// Turns the events of one CPU after the other; returns when that was half done, and how long it took.
fn turn(events: &mut Events, on: bool) -> (Instant, Duration) {
    let begun = Instant::now();
    events.turn(Set::Minor, on);
    let took = begun.elapsed();
    (begun + took / 2, took)
}
