//! From node to node: bandwidth and idle latency of every NUMA node's memory as the CPUs of every node see
//! it.
//!
//! - [`nodes`] says which nodes there are to measure between, how they stand to one another, and why some
//!   cannot be measured; [`room`] how much of each node's memory is used; [`plan`] makes [`cells`] of it, and
//!   [`limits`] says what they are compared with.
//! - [`bench`] is the worker; [`memory`] keeps a node's memory, bound to it, and proves where it lies;
//!   [`traversal`] walks a chain of pointers.

pub mod bench;
pub mod cells;
pub mod limits;
pub mod memory;
pub mod nodes;
pub mod plan;
pub mod room;
pub mod traversal;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "numa",
    title: "from node to node",
    seconds: 80.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Numa>,
    complete: |figures, machine| limits::set(figures, machine),
};
