//! Noise: a heartbeat loop on every CPU at the same time, the gaps in it, and their causes.

pub mod bench;
pub mod complete;
pub mod gaps;
pub mod heartbeat;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "noise",
    title: "how quiet the CPUs are",
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
