//! Totals of a trace.

use serde::{Deserialize, Serialize};

use super::kernel_events::KernelEvents;

/// What is known only at the end of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Minor faults that the kernel counted, sampled or not.
    pub counted: u64,
    /// Those of them that the kernel counted in fact: of a program that faults very often, those in windows.
    #[serde(default)]
    pub in_windows: Option<u64>,
    /// Whether the events were those of the machine to the end, of which the program's were taken.
    #[serde(default)]
    pub is_machine: bool,
    /// Whether they include faults that the kernel takes for the program.
    pub sees_kernel: bool,
    pub period: u64,
    /// The share of NUMA hinting faults among the faults, by the kernel's counter.
    pub hinting: f64,
    #[serde(default)]
    pub events: KernelEvents,
    /// Bytes by which the shared memory of the machine grew, each time that it did; `None` if that is unknown.
    #[serde(default)]
    pub shared_growth: Option<u64>,
    /// CPU seconds that tracing took.
    pub cpu_seconds: f64,
    /// Wall-clock seconds that it lasted.
    pub seconds: f64,
}
