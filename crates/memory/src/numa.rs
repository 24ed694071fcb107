//! Bandwidth and idle latency of every NUMA node's memory from the CPUs of every node.

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
