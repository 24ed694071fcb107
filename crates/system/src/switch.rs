//! What a switch from task to task costs, by where the two tasks are: where the scheduler likes, both on one CPU, and on two
//! CPUs of each sort that there is; and how late a woken task runs.
//!
//! UnixBench's test leaves the placement to the scheduler, and so measures that. The free figure stands here beside the
//! pinned ones that explain it.
//!
//! - [`plan`] makes figures of placements and ways; [`bench`] is the worker; [`seen`] writes what the two tasks
//!   saw; [`spread`] makes one distribution of all rounds' latencies.

pub mod bench;
pub mod plan;
pub mod seen;
pub mod spread;

use crate::mode::Mode;

/// The mode.
pub const MODE: Mode = Mode {
    name: "switch",
    title: "switches by placement",
    seconds: 150.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| spread::complete(figures),
};
