//! The mode that compares allocators under the load.
//!
//! Each round of a figure is one process, or several, from the first block to the last. The rounds of all
//! allocators are interleaved, with rounds of the harness alone ("void"). The cost of an allocator is the
//! difference, round by round.

mod bench;
mod complete;
mod plan;
mod team;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "load",
    title: "allocators under the load of alloc-test",
    series: &[
        SeriesText {
            key: "alloc.pair",
            title: "a pair of malloc and free",
            question: "Which allocator is fastest?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: "alloc.steady",
            title: "a pair of malloc and free, with the load itself",
            question: "Which allocator is fastest, with the load itself?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: "alloc.direct",
            title: "a pair of malloc and free, drawn as it runs",
            question: "Which allocator is fastest, drawn as it runs?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: "alloc.replay",
            title: "a pair of malloc and free, replayed",
            question: "Which allocator is fastest, replayed?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: "alloc.overhead",
            title: "memory for each byte that is requested",
            question: "Which allocator needs the least memory?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
    ],
    seconds: 240.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
