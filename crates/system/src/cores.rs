//! The topology as it is measured: what one cache line takes from one CPU to another, for every pair of CPUs, beside what
//! the machine, or a hypervisor, says that the two share.
//!
//! - [`choose`] says which pairs, where there is no time for all; [`plan`] makes figures of them.
//! - [`line`] is what goes to and fro; [`bench`] is the worker; [`classes`] sums up the pairs of each class.

pub mod bench;
pub mod choose;
pub mod classes;
pub mod line;
pub mod plan;

use crate::mode::Mode;

/// The series of pairs, and the beginning of all ids.
pub const SERIES: &str = "system.cores";
/// `kernel` of the pairs.
pub const KERNEL: &str = "ping-pong";

/// The mode.
pub const MODE: Mode = Mode {
    name: "cores",
    title: "a line between every two CPUs",
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| classes::complete(figures),
};
