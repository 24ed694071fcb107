//! The cost of a context switch by the placement of the two tasks: free, both on one CPU, and on two CPUs of
//! each class; and the wake-up latency.
//!
//! UnixBench's test does not pin its tasks, so it measures the scheduler's placement. Here the pinned figures
//! explain the free one.

pub mod bench;
pub mod latency;
pub mod plan;
pub mod task_evidence;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "switch",
    title: "switches by placement",
    seconds: 150.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| latency::complete(figures),
};
