//! The measured topology: the time of a cache-line transfer between every two CPUs, next to what the machine,
//! or a hypervisor, reports that they share.

pub mod bench;
pub mod choose;
pub mod classes;
pub mod line;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "cores",
    title: "a line between every two CPUs",
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| classes::complete(figures),
};
