//! The mode that compares allocators under the load.
//!
//! Each round of a figure is one process, or several, from the first block to the last. The rounds of all
//! allocators are interleaved, with rounds of the harness alone ("void"). The cost of an allocator is the
//! difference, round by round.

mod bench;
mod complete;
mod plan;
mod team;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "load",
    title: "allocators under the load of alloc-test",
    seconds: 240.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
