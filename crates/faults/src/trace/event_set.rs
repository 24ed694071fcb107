//! The events of one set: what they record, and their rings.

use std::io;

use perf_event::data::endian::Native;
use perf_event::data::parse::ParseConfig;
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};

use super::event_ring::{drain, sample_registers, sample_stacks, set_period};
use super::record::{Entry, EventKind, Reader, Set};
use super::time::now;

/// Bytes that no record exceeds: the copy of the stack, a call chain of 127 entries
/// (kernel.perf_event_max_stack) and the rest.
const LARGEST: usize = 16 << 10;
/// Pages of each ring. Without privileges a process may have 129 for each CPU (perf_event_mlock_kb).
pub const PAGES: [(Set, usize); 4] = [(Set::Rare, 16), (Set::Minor, 64), (Set::Burst, 32), (Set::Maps, 8)];
/// A privileged process gets so many times as many at least, and at most: at the first period a program of a
/// million faults a second fills the least in 6 ms and the most in 45 ms. A hypervisor may keep the reader
/// from its CPU for as long.
pub const PRIVILEGED: [usize; 2] = [8, 64];
/// Beyond that least, all rings together take at most so many bytes, and this part of the memory.
const MOST_BYTES: usize = 128 << 20;
const MEMORY_DIVISOR: usize = 128;

pub struct EventSet {
    pub set: Set,
    pub period: u64,
    pub rings: Vec<Sampler>,
    bytes: usize,
    /// The process whose records are left out.
    without: Option<u32>,
    /// Counters that write into the ring of another one.
    pub others: Vec<Counter>,
    /// Lost records that were reported: the kernel writes a record of them when there is room again.
    reported: u64,
}

impl EventSet {
    /// Of rings of so many bytes each.
    pub fn new(
        set: Set,
        period: u64,
        bytes: usize,
        without: Option<u32>,
        rings: Vec<Sampler>,
        others: Vec<Counter>,
    ) -> EventSet {
        EventSet { set, period, rings, bytes, without, others, reported: 0 }
    }

    pub fn counters(&mut self) -> impl Iterator<Item = &mut Counter> {
        self.rings.iter_mut().map(Sampler::as_counter_mut).chain(&mut self.others)
    }

    /// Reads its rings, whose samples stand for so many events; returns whether one of them had no room left, so that records may
    /// be missing.
    pub fn drain(&mut self, weight: u64, entries: &mut Vec<Entry>) -> bool {
        let reader = Reader { set: self.set, weight, without: self.without };
        let (mut was_full, before) = (false, entries.len());
        for ring in &mut self.rings {
            let bytes = drain(ring, self.bytes, reader, entries);
            was_full |= bytes + LARGEST > self.bytes;
        }
        let lost = entries[before..].iter().map(|entry| match entry.kind {
            EventKind::Lost { records, .. } => records,
            _ => 0,
        });
        self.reported += lost.sum::<u64>();
        was_full
    }

    /// Gives its events, which are off and which no task inherits, another period. Not if samples were lost: the kernel reports them
    /// with later ones, which stand for another number. Returns whether it was done.
    pub fn change_period(&mut self, period: u64, entries: &mut Vec<Entry>) -> io::Result<bool> {
        self.drain(self.period, entries);
        if let Some(lost) = self.unreported() {
            entries.push(lost);
            return Ok(false);
        }
        self.period = period;
        self.counters().try_for_each(|counter| set_period(counter, period))?;
        Ok(true)
    }

    /// Reads what is left in its rings.
    pub fn close(mut self, entries: &mut Vec<Entry>) {
        self.drain(self.period, entries);
        entries.extend(self.unreported());
    }

    /// Lost records that no record reported, as none came after them; from the counters (Linux 6.0).
    pub fn unreported(&mut self) -> Option<Entry> {
        let lost = self.counters().filter_map(|counter| counter.read_full().ok()?.lost()).sum::<u64>();
        let records = lost.checked_sub(self.reported).filter(|records| *records > 0)?;
        self.reported = lost;
        Some(Entry { time: now(), kind: EventKind::lost(self.set, records, self.period) })
    }
}

/// Bytes of a ring that has so many times the unprivileged pages. perf_event2 adds the page of the head.
pub fn bytes(set: Set, room: usize) -> usize {
    let pages = PAGES.iter().find(|(other, _)| *other == set).map_or(8, |(_, pages)| *pages);
    pages * rustix::param::page_size() * room
}

/// How many times the unprivileged pages rings may have on so many CPUs: a power of two.
pub fn room(cpus: usize) -> usize {
    let memory = rustix::system::sysinfo();
    let bytes = (memory.totalram as usize).saturating_mul(memory.mem_unit as usize);
    within(MOST_BYTES.min(bytes / MEMORY_DIVISOR), cpus)
}

fn within(bytes: usize, cpus: usize) -> usize {
    let pages = PAGES.iter().map(|(_, pages)| pages).sum::<usize>();
    let fits = bytes / (pages * rustix::param::page_size() * cpus.max(1));
    let [least, most] = PRIVILEGED;
    (fits + 1).next_power_of_two().div_euclid(2).clamp(least, most)
}

/// An event of a set, of no task and no CPU as yet.
pub fn builder(set: Set, sees_kernel: bool, period: u64) -> Builder<'static> {
    let event = match set {
        Set::Rare => Software::PAGE_FAULTS_MAJ,
        Set::Minor | Set::Burst => Software::PAGE_FAULTS_MIN,
        Set::Maps => Software::DUMMY,
    };
    let mut builder = Builder::new(event);
    builder.enabled(false).inherit(true).sample_id_all(true).clockid(Clock::MONOTONIC);
    builder.sample(SampleFlag::TID | SampleFlag::TIME);
    if sees_kernel {
        builder.include_kernel();
    }
    builder.sample_period(period);
    if set != Set::Maps {
        // Not PERIOD: with it the kernel writes a sample for every single event (perf_swevent_event).
        builder.sample(SampleFlag::IP | SampleFlag::ADDR);
    }
    match set {
        Set::Rare | Set::Minor => sample_stacks(&mut builder),
        Set::Burst => sample_registers(&mut builder),
        Set::Maps => {}
    }
    match set {
        Set::Rare => {
            builder.mmap(true).mmap2(true).comm(true).comm_exec(true).task(true);
        }
        Set::Maps => {
            builder.mmap_data(true).mmap2(true);
        }
        Set::Minor | Set::Burst => {}
    }
    builder
}

pub fn config(set: Set) -> ParseConfig<Native> {
    ParseConfig::from(*builder(set, true, 1).attrs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_larger_where_there_is_room() {
        let one = 120 * rustix::param::page_size();
        assert_eq!([1, 2, 8, 256].map(|cpus| within(64 * 4 * one, cpus)), [64, 64, 32, 8]);
        assert_eq!([0, 8, 15, 16, 31, 1000].map(|times| within(times * one, 1)), [8, 8, 8, 16, 16, 64]);
    }
}
