//! The tests of UnixBench's index, as short passes of their own process, repeated until the interval is narrow.

mod bench;
mod complete;
mod place;
pub mod plan;
pub mod scripts;

pub use place::sweep;

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
