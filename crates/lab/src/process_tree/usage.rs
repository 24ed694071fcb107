//! The resources of processes, from their counters.

use procfs_core::process::Stat;
use rustix::param::{clock_ticks_per_second, page_size};

use crate::thread_counters::{seconds, usage};

/// Resources that processes used so far, as a sum, with the children that they waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU seconds in user code, in clock ticks.
    pub user: f64,
    /// CPU seconds in the kernel, in clock ticks.
    pub system: f64,
    pub minor: f64,
    pub major: f64,
    /// Bytes of RSS now. A shared page counts once for each process.
    pub resident: f64,
}

impl Usage {
    /// Usage of a process and of the children that it waited for.
    pub fn of_process(stat: &Stat) -> Usage {
        let tick = clock_ticks_per_second() as f64;
        let process = Usage {
            user: stat.utime as f64 / tick,
            system: stat.stime as f64 / tick,
            minor: stat.minflt as f64,
            major: stat.majflt as f64,
            resident: stat.rss as f64 * page_size() as f64,
        };
        process.plus(&Usage::of_waited_children(stat))
    }

    /// Usage of the children that a process waited for. Their RSS is 0.
    pub fn of_waited_children(stat: &Stat) -> Usage {
        let tick = clock_ticks_per_second() as f64;
        Usage {
            user: stat.cutime.max(0) as f64 / tick,
            system: stat.cstime.max(0) as f64 / tick,
            minor: stat.cminflt as f64,
            major: stat.cmajflt as f64,
            resident: 0.0,
        }
    }

    /// Usage of the children that this process waited for. Their RSS is 0.
    pub fn of_children() -> Usage {
        let usage = usage(libc::RUSAGE_CHILDREN);
        Usage {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            minor: usage.ru_minflt as f64,
            major: usage.ru_majflt as f64,
            resident: 0.0,
        }
    }

    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }

    pub fn plus(&self, other: &Usage) -> Usage {
        self.combine(other, |a, b| a + b, self.resident + other.resident)
    }

    /// The growth since an earlier reading, but the RSS of now. A counter that fell counts as unchanged: a
    /// child that ends is missing from both its own and its parent's counters for a moment.
    pub fn since(&self, before: &Usage) -> Usage {
        self.combine(before, |now, then| (now - then).max(0.0), self.resident)
    }

    /// The larger of each counter, but the RSS of now.
    pub fn at_least(&self, before: &Usage) -> Usage {
        self.combine(before, f64::max, self.resident)
    }

    fn combine(&self, other: &Usage, join: fn(f64, f64) -> f64, resident: f64) -> Usage {
        Usage {
            user: join(self.user, other.user),
            system: join(self.system, other.system),
            minor: join(self.minor, other.minor),
            major: join(self.major, other.major),
            resident,
        }
    }
}
