//! CPU time and run delay of a client thread: show whether the client was the limit.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::time;

/// Of one thread: over a window, or since its start. In nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Since boot if not over a window.
    pub wall: u64,
    pub cpu: u64,
    /// On a run queue; `None` without schedstat.
    pub run_delay: Option<u64>,
}

impl Usage {
    pub fn now() -> Usage {
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        Usage {
            wall: time::now(),
            cpu: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64,
            run_delay: schedstat.and_then(|text| text.split_ascii_whitespace().nth(1)?.parse().ok()),
        }
    }

    /// Since an earlier moment; 0 without one.
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
