//! Alignment: what misaligned vectors and arrays at awkward distances cost, in L1 and in memory.

pub mod bench;
pub mod layout;
pub mod plan;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "alignment",
    title: "alignment",
    series: &[SeriesText {
        key: "memory.alignment",
        title: "bandwidth by alignment",
        question: "What do misaligned vectors cost?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Alignment>,
    complete: |figures, machine| plan::set_limits(figures, machine),
};
