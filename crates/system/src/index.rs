//! The tests of UnixBench's index, as short passes of their own process, repeated until the interval is narrow.

pub mod bench;
pub mod complete;
pub mod pass;
pub mod place;
pub mod plan;
pub mod scripts;

use crate::mode::Mode;

/// The mode.
pub const MODE: Mode = Mode {
    name: "index",
    title: "UnixBench's tests",
    seconds: 300.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::scores(figures),
};
