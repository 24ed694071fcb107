//! From node to node: bandwidth and idle latency of every NUMA node's memory as the CPUs of every node see it.
//!
//! - [`nodes`] says which nodes there are to measure between, how they stand to one another, and why some cannot be
//!   measured; [`room`] how much of each node's memory is used; [`plan`] makes
//!   [`cells`] of it, and [`limits`] says what they are held against.
//! - [`bench`] is the worker; [`memory`] keeps a node's memory, bound to it, and proves where it lies; [`lap`] walks a
//!   chain of pointers.

pub mod bench;
pub mod cells;
pub mod lap;
pub mod limits;
pub mod memory;
pub mod nodes;
pub mod plan;
pub mod room;

use crate::mode::Mode;

/// `memory numa`.
pub const MODE: Mode = Mode {
    name: "numa",
    title: "from node to node",
    seconds: 80.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, machine| limits::set(figures, machine),
};
