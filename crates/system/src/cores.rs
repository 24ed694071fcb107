//! The measured topology: the time of a cache-line transfer between every two CPUs, next to what the machine,
//! or a hypervisor, reports that they share.

pub mod bench;
pub mod choose;
pub mod classes;
pub mod line;
pub mod plan;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "cores",
    title: "a line between every two CPUs",
    series: &[SeriesText {
        key: "system.cores",
        title: "a line between two CPUs, one way",
        question: "How long does a line take between two CPUs, one way?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| classes::complete(figures),
};
