//! Noise: a heartbeat loop on every CPU at the same time, the gaps in it, and their causes.

pub mod bench;
pub mod complete;
pub mod gaps;
pub mod heartbeat;
pub mod plan;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::{Layout, SeriesText};

pub const MODE: Mode<plan::Setup> = Mode {
    name: "noise",
    title: "how quiet the CPUs are",
    series: &[SeriesText {
        key: "system.noise",
        title: "time that the CPUs lose",
        question: "How much time do the CPUs lose?",
        axes: AXES,
        words: &[("longest", "the longest gap of a round; all values are medians over the rounds")],
        layout: Layout::Named,
        ..SeriesText::EMPTY
    }],
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
