//! Cross-check with a second instrument: UnixBench's own programs, alternating with truebench's tests.
//!
//! A test with UnixBench's name must give UnixBench's result on every machine. The user's build of UnixBench
//! runs with the same schedule, duration, CPUs and file system. Each test gets a ratio with its interval.

mod bench;
mod plan;
pub mod unixbench;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "cross-check",
    title: "cross-check: UnixBench's own programs and truebench's",
    series: &[SeriesText {
        key: "system.cross",
        title: "UnixBench's own programs",
        question: "Do UnixBench's own programs measure the same?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    // Twelve free tests and five on one CPU take about 105 s a round. UnixBench's file copies alone sleep for
    // 15 s each.
    seconds: 1500.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| plan::complete(figures),
};
