//! Bandwidth by STREAM's kernels and three more, and by what a compiler and libc make of them.

pub mod arrays;
pub mod bench;
pub mod expected;
mod fit;
pub mod plan;

use crate::mode::Mode;

/// The mode that runs when none is named.
pub const MODE: Mode<plan::Setup> = Mode {
    name: "bandwidth",
    title: "bandwidth",
    series: &[],
    seconds: 180.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Bandwidth>,
    complete: |figures, _| crate::limits::set_highest_traffic(figures),
};
