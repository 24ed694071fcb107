//! What a thread uses up in a phase.

use core::ffi::{c_int, c_ulong};
use core::sync::atomic::Ordering;

use super::order::note;
use crate::shared::Slot;
use crate::{sys, timer};

/// What is counted besides time.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Descriptor of the counter of cycles; negative where there is none.
    cycles: c_int,
}

/// What there was at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    cpu_time: u64,
    minor: u64,
    major: u64,
    system: u64,
    run_delay: u64,
    voluntary: u64,
    involuntary: u64,
    monotonic: u64,
}

/// Time in which steps were done: all of a phase, or the windows of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    /// Nanoseconds.
    pub wall: u64,
    /// Ticks of the time stamp counter.
    pub ticks: u64,
    /// Cycles of the CPU, if they are counted.
    pub cycles: u64,
}

/// perf_event_open(2)'s attributes as they were at first (PERF_ATTR_SIZE_VER0): what follows may be left out.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    read: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

const _: () = assert!(size_of::<Attributes>() == 64);

/// exclude_kernel and exclude_hv.
const USER_ALONE: u64 = 1 << 5 | 1 << 6;

impl Meter {
    /// For the calling thread.
    pub fn new() -> Meter {
        // PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES.
        let attributes = Attributes {
            kind: 0,
            size: size_of::<Attributes>() as u32,
            config: 0,
            period: 0,
            sample: 0,
            read: 0,
            flags: USER_ALONE,
            wakeup: 0,
            breakpoint: 0,
            config1: 0,
        };
        let cloexec: c_ulong = 1 << 3;
        // SAFETY: attributes of the size that they tell; this thread, any CPU, no group.
        let opened =
            unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, cloexec) };
        Meter { cycles: opened as c_int }
    }

    /// Cycles so far; `u64::MAX` where they are not counted.
    pub fn cycles(&self) -> u64 {
        let mut value = 0u64;
        if self.cycles < 0 {
            return u64::MAX;
        }
        // SAFETY: room for a number.
        let read = unsafe { libc::read(self.cycles, (&raw mut value).cast(), 8) };
        if read == 8 { value } else { u64::MAX }
    }

    /// Now.
    pub fn read(&self) -> Reading {
        let usage = sys::usage(libc::RUSAGE_THREAD);
        let system = (usage.ru_stime.tv_sec as u64).wrapping_mul(1_000_000);
        Reading {
            cpu_time: sys::clock(libc::CLOCK_THREAD_CPUTIME_ID),
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
            system: system.wrapping_add(usage.ru_stime.tv_usec as u64),
            run_delay: timer::run_delay(c"/proc/thread-self/schedstat"),
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            monotonic: sys::now(),
        }
    }

    /// Writes what a phase took that began with that reading.
    pub fn write(&self, slot: &Slot, phase: usize, before: &Reading, busy: &Busy, calls: (u64, u64)) {
        let now = self.read();
        let base = note::PHASES.wrapping_add(phase.wrapping_mul(note::PHASE));
        let put = |at: usize, value: u64| {
            if let Some(note) = slot.note(base.wrapping_add(at)) {
                note.store(value, Ordering::Relaxed);
            }
        };
        put(note::WALL, busy.wall);
        put(note::TICKS, busy.ticks);
        put(note::CYCLES, if self.cycles < 0 { u64::MAX } else { busy.cycles });
        put(note::CPU_TIME, now.cpu_time.wrapping_sub(before.cpu_time));
        put(note::MINOR, now.minor.wrapping_sub(before.minor));
        put(note::MAJOR, now.major.wrapping_sub(before.major));
        put(note::SYSTEM, now.system.wrapping_sub(before.system));
        let known = now.run_delay != u64::MAX && before.run_delay != u64::MAX;
        put(note::RUN_DELAY, if known { now.run_delay.wrapping_sub(before.run_delay) } else { u64::MAX });
        put(note::VOLUNTARY, now.voluntary.wrapping_sub(before.voluntary));
        put(note::INVOLUNTARY, now.involuntary.wrapping_sub(before.involuntary));
        put(note::ALLOCATED, calls.0);
        put(note::FREED, calls.1);
        put(note::BEGIN, before.monotonic);
        put(note::END, now.monotonic);
    }

    /// Times something.
    pub fn time<R>(&self, busy: &mut Busy, body: impl FnOnce() -> R) -> R {
        let (cycles, wall, ticks) = (self.cycles(), sys::now(), sys::ticks());
        let result = body();
        busy.ticks = busy.ticks.wrapping_add(sys::ticks().wrapping_sub(ticks));
        busy.wall = busy.wall.wrapping_add(sys::now().wrapping_sub(wall));
        busy.cycles = busy.cycles.wrapping_add(self.cycles().wrapping_sub(cycles));
        result
    }
}
