//! A second instrument: another program's figures next to truebench's, in the same schedule.
//!
//! Two instruments that disagree prove that at least one does not measure what is expected of it (study 1,
//! step 4). Here a program of the user's that is on PATH runs with the same threads, places, sizes and pages,
//! a round of it in turn with a round of truebench, quoted by the same statistic.

pub mod bench;
mod likwid;
mod mlc;
pub mod plan;
mod stream;
pub mod tool;
mod tools;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub use tools::TOOLS;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "cross-check",
    title: "cross-check: figures of other programs and of truebench",
    series: &[SeriesText {
        key: "memory.cross",
        title: "the same by other tools",
        question: "Do other tools measure the same?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 115.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| plan::complete(figures),
};
