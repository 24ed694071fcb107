//! Latency under load: one thread chases pointers while the others inject traffic, at Intel MLC's delays.

pub mod bench;
pub mod complete;
pub mod memory;
pub mod plan;
pub mod roles;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "loaded",
    title: "latency under load",
    series: &[SeriesText {
        key: "memory.loaded",
        title: "latency under load",
        question: "How does latency rise with load?",
        axes: AXES,
        words: &[
            ("idle", "one thread chases, and nothing else is under way"),
            ("all", "all threads move the mix, and none chases"),
        ],
        names: "reads:writes",
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: complete::complete,
};
