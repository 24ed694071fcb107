//! Latency under load: one thread chases pointers while the others inject traffic, at Intel MLC's delays.

pub mod bench;
pub mod complete;
pub mod curve;
pub mod memory;
pub mod plan;
pub mod roles;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::{Layout, SeriesText};

pub const MODE: Mode<plan::Setup> = Mode {
    name: "loaded",
    title: "latency under load",
    series: &[
        SeriesText {
            key: "memory.loaded",
            title: "latency under load",
            question: "How does latency rise with load?",
            axes: AXES,
            words: &[("idle", "one thread chases, and nothing else is under way")],
            names: "reads:writes",
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: "memory.curves",
            title: "curves of latency under load, by mix of reads and writes",
            question: "What do the curves of latency under load show?",
            axes: AXES,
            words: &[
                ("all", "all threads move the mix, and none chases"),
                ("highest", "the most bandwidth of the curve"),
                ("onset", "the bandwidth from which a load takes twice the idle latency"),
                ("saturated", "the latency at the most bandwidth, if the curve has an onset"),
                ("slope", "what each GB/s adds to the latency, up to half of the most bandwidth"),
            ],
            layout: Layout::Aspects,
            ..SeriesText::EMPTY
        },
    ],
    // Of two mixes; more take as much more.
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: complete::complete,
};
