//! How quiet the machine is for any benchmark: a heartbeat on every CPU at once, the gaps in it, and what made them.
//!
//! - [`gaps`] sums up the gaps of one heartbeat: how many, how long, whose. Pure.
//! - [`heartbeat`] is the loop that reads the clock; [`bench`] is the worker; [`plan`] makes the figures;
//!   [`complete`] adds those of each CPU.

pub mod bench;
pub mod complete;
pub mod gaps;
pub mod heartbeat;
pub mod plan;

use crate::mode::Mode;

/// The mode.
pub const MODE: Mode = Mode {
    name: "noise",
    title: "how quiet the CPUs are",
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
