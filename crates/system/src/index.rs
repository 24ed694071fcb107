//! The tests of UnixBench's index. Each pass is short and runs in its own process. Passes are repeated until
//! the interval is narrow.

pub mod bench;
pub mod complete;
pub mod pass;
pub mod plan;
pub mod scripts;
pub mod workdir;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "index",
    title: "UnixBench's tests",
    series: &[],
    seconds: 300.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::scores(figures),
};
