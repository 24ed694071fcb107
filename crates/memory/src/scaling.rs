//! Bandwidth by threads: from one to all CPUs, under the bindings of study 1 (step 9) and packed siblings.

pub mod bench;
pub mod bindings;
pub mod knee;
pub mod layout;
pub mod node_arrays;
pub mod plan;
pub mod points;
pub mod sizing;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "scaling",
    title: "bandwidth by threads",
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Scaling>,
    complete: knee::complete,
};
