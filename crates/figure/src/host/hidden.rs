//! Sources of evidence that a container, a filter of system calls or a setting keeps from a process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Machine;

/// A source that this process cannot read or ask, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hidden {
    /// The source.
    pub source: Source,
    /// What keeps it, with what would show it if that is known.
    pub reason: String,
}

/// A source of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// perf_event_open(2) on processes of our own.
    PerfEvents,
    /// sched_setaffinity(2).
    Pinning,
    /// mbind(2) and move_pages(2).
    MemoryPlacement,
    /// CPU time of the whole machine in /proc/stat.
    CpuTimes,
    /// /proc/interrupts.
    Interrupts,
    /// Processes outside of this container, or of other users.
    Processes,
}

impl Machine {
    /// Why a source is hidden; `None` where it is not.
    pub fn hidden(&self, source: Source) -> Option<&str> {
        self.hidden.iter().find(|hidden| hidden.source == source).map(|hidden| hidden.reason.as_str())
    }
}
