//! Idle latency: one thread follows chains of ascending size, in two orders, on huge and on small pages.

pub mod bench;
pub mod derive;
pub mod layout;
pub mod plan;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "latency",
    title: "idle latency",
    series: &[SeriesText {
        key: "memory.latency",
        title: "idle latency by array size",
        question: "How long does a load take, by array size?",
        axes: AXES,
        words: &[
            ("random", "any line after any other"),
            ("pages", "all lines of a page before the next page"),
            ("huge", "huge pages"),
            ("small", "small pages"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Latency>,
    complete: derive::complete,
};
