//! CPU time (in nanoseconds), wall-clock time and faults of the calling thread.

use rustix::time::{ClockId, clock_gettime};

/// The calling thread's clocks and fault counters at one moment, or their change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadUsage {
    /// CPU time in user code and in the kernel, in nanoseconds (CLOCK_THREAD_CPUTIME_ID).
    pub cpu: f64,
    /// Wall time, in nanoseconds (CLOCK_MONOTONIC_RAW).
    pub wall: f64,
    pub minor: f64,
    pub major: f64,
}

pub fn nanoseconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

impl ThreadUsage {
    /// Reads before the measured code: the clocks last.
    #[inline]
    pub fn before() -> ThreadUsage {
        let (minor, major) = faults();
        ThreadUsage {
            wall: nanoseconds(ClockId::MonotonicRaw),
            cpu: nanoseconds(ClockId::ThreadCPUTime),
            minor,
            major,
        }
    }

    /// What was used since: the clocks are read first.
    #[inline]
    pub fn since(&self) -> ThreadUsage {
        let (cpu, wall) = (nanoseconds(ClockId::ThreadCPUTime), nanoseconds(ClockId::MonotonicRaw));
        let (minor, major) = faults();
        ThreadUsage {
            cpu: cpu - self.cpu,
            wall: wall - self.wall,
            minor: minor - self.minor,
            major: major - self.major,
        }
    }

    pub fn and(&self, other: &ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            cpu: self.cpu + other.cpu,
            wall: self.wall + other.wall,
            minor: self.minor + other.minor,
            major: self.major + other.major,
        }
    }
}

fn faults() -> (f64, f64) {
    // SAFETY: all zeros is a valid rusage, and the call only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    };
    (usage.ru_minflt as f64, usage.ru_majflt as f64)
}
