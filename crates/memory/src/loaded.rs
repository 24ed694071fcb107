//! Latency under load: one thread chases pointers while the others inject traffic, at Intel MLC's delays.

pub mod bench;
pub mod complete;
pub mod memory;
pub mod plan;
pub mod roles;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "loaded",
    title: "latency under load",
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: complete::complete,
};
