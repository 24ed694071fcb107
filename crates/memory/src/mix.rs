//! Bandwidth by mix of reads and writes.

pub mod bench;
pub mod contents;
pub mod plan;

use crate::axes::AXES;
pub use crate::kernels::{MIXES, Mix};
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "mix",
    title: "bandwidth by mix of reads and writes",
    series: &[SeriesText {
        key: "memory.mix",
        title: "bandwidth by mix of reads and writes",
        question: "How does bandwidth change with the share of writes?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 90.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Mixes>,
    complete: |figures, _| crate::limits::set_highest_traffic(figures),
};
