//! What a thread uses in a phase.

use core::ffi::{c_int, c_ulong};

use super::parameters::fields;
use crate::shared::Slot;
use crate::{sys, timer};

#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Descriptor of the cycle counter; negative if there is none.
    cycles: c_int,
}

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

/// The time in which steps were executed: a whole phase, or its windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    /// Nanoseconds.
    pub wall: u64,
    /// Ticks of the time stamp counter.
    pub ticks: u64,
    /// CPU cycles, if there is a counter.
    pub cycles: u64,
}

/// perf_event_attr of perf_event_open(2) in its first version (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
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
const USER_ONLY: u64 = 1 << 5 | 1 << 6;

impl Meter {
    pub fn new() -> Meter {
        // Zero is PERF_TYPE_HARDWARE and PERF_COUNT_HW_CPU_CYCLES.
        let attributes =
            Attributes { size: size_of::<Attributes>() as u32, flags: USER_ONLY, ..Attributes::default() };
        let cloexec: c_ulong = 1 << 3;
        // SAFETY: attributes of the size that they state; this thread, any CPU, no group.
        let descriptor =
            unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, cloexec) };
        Meter { cycles: descriptor as c_int }
    }

    /// Cycles so far; `u64::MAX` without a counter.
    pub fn cycles(&self) -> u64 {
        let mut value = 0u64;
        if self.cycles < 0 {
            return u64::MAX;
        }
        // SAFETY: room for eight bytes.
        let read = unsafe { libc::read(self.cycles, (&raw mut value).cast(), 8) };
        if read == 8 { value } else { u64::MAX }
    }

    pub fn read(&self) -> Reading {
        let usage = sys::usage(libc::RUSAGE_THREAD);
        Reading {
            cpu_time: sys::clock(libc::CLOCK_THREAD_CPUTIME_ID),
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
            system: sys::microseconds(usage.ru_stime),
            run_delay: timer::run_delay(c"/proc/thread-self/schedstat"),
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            monotonic: sys::now(),
        }
    }

    /// Writes the fields of a phase that began with the reading `before`. `calls`: blocks allocated and
    /// freed.
    pub fn write(&self, slot: &Slot, phase: usize, before: &Reading, busy: &Busy, calls: (u64, u64)) {
        let now = self.read();
        let base = fields::PHASES.wrapping_add(phase.wrapping_mul(fields::PHASE));
        let set = |offset: usize, value: u64| slot.set(base.wrapping_add(offset), value);
        set(fields::WALL, busy.wall);
        set(fields::TICKS, busy.ticks);
        set(fields::CYCLES, if self.cycles < 0 { u64::MAX } else { busy.cycles });
        set(fields::CPU_TIME, now.cpu_time.wrapping_sub(before.cpu_time));
        set(fields::MINOR, now.minor.wrapping_sub(before.minor));
        set(fields::MAJOR, now.major.wrapping_sub(before.major));
        set(fields::SYSTEM, now.system.wrapping_sub(before.system));
        let is_known = now.run_delay != u64::MAX && before.run_delay != u64::MAX;
        let run_delay = if is_known { now.run_delay.wrapping_sub(before.run_delay) } else { u64::MAX };
        set(fields::RUN_DELAY, run_delay);
        set(fields::VOLUNTARY, now.voluntary.wrapping_sub(before.voluntary));
        set(fields::INVOLUNTARY, now.involuntary.wrapping_sub(before.involuntary));
        set(fields::ALLOCATED, calls.0);
        set(fields::FREED, calls.1);
        set(fields::BEGIN, before.monotonic);
        set(fields::END, now.monotonic);
    }

    /// Runs `body` and adds its time to `busy`.
    pub fn time<R>(&self, busy: &mut Busy, body: impl FnOnce() -> R) -> R {
        let (cycles, wall, ticks) = (self.cycles(), sys::now(), sys::ticks());
        let result = body();
        busy.ticks = busy.ticks.wrapping_add(sys::ticks().wrapping_sub(ticks));
        busy.wall = busy.wall.wrapping_add(sys::now().wrapping_sub(wall));
        busy.cycles = busy.cycles.wrapping_add(self.cycles().wrapping_sub(cycles));
        result
    }
}
