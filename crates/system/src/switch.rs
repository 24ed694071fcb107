//! The cost of a context switch by the placement of the two tasks: free, both on one CPU, and on two CPUs of
//! each class; and the wake-up latency.
//!
//! UnixBench's test does not pin its tasks, so it measures the scheduler's placement. Here the pinned figures
//! explain the free one.

pub mod bench;
pub mod latency;
pub mod plan;
pub mod task_evidence;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "switch",
    title: "switches by placement",
    series: &[SeriesText {
        key: "system.switch",
        title: "two tasks that wake one another",
        question: "How fast do two tasks wake one another, by placement?",
        axes: AXES,
        words: &[
            ("free", "where the scheduler puts the two tasks: placement-dependent"),
            ("young", "new tasks in each round; those of the other free figures last and have settled"),
            ("same-cpu", "both tasks on one CPU"),
            ("wake", "latency, by how long the waker stays busy"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 150.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| latency::complete(figures),
};
