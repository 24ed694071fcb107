//! Bandwidth and idle latency of every NUMA node's memory from the CPUs of every node.

pub mod bench;
pub mod cells;
pub mod limits;
pub mod memory;
pub mod nodes;
pub mod plan;
pub mod room;
pub mod traversal;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "numa",
    title: "from node to node",
    series: &[SeriesText {
        key: "memory.numa",
        title: "from node to node",
        question: "How fast is the memory of each node from each node?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 80.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Numa>,
    complete: |figures, machine| limits::set(figures, machine),
};
