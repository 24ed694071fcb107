//! What a thread of the client used: whether the client was the limit.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::time;

/// Of one thread, over the window (read as a moment: since boot, or the thread's start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Nanoseconds that passed.
    pub wall: u64,
    /// Nanoseconds on a CPU.
    pub cpu: u64,
    /// Nanoseconds that it was ready and waited for a CPU; `None` where the kernel does not tell.
    pub run_delay: Option<u64>,
}

impl Usage {
    /// Of the calling thread, so far.
    pub fn now() -> Usage {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        Usage {
            wall: time::now(),
            cpu: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64,
            run_delay: told.and_then(|text| text.split_ascii_whitespace().nth(1)?.parse().ok()),
        }
    }

    /// Since then; nothing, if there was no then.
    pub fn since(before: Option<Usage>) -> Usage {
        let Some(before) = before else { return Usage::default() };
        let now = Usage::now();
        Usage {
            wall: now.wall.saturating_sub(before.wall),
            cpu: now.cpu.saturating_sub(before.cpu),
            run_delay: now.run_delay.zip(before.run_delay).map(|(now, before)| now.saturating_sub(before)),
        }
    }
}
