//! Bandwidth by threads: from one to all CPUs, under the bindings of study 1 (step 9) and packed siblings.

pub mod bench;
pub mod bindings;
pub mod kinds;
pub mod knee;
pub mod layout;
pub mod node_arrays;
pub mod plan;
pub mod points;
pub mod sizing;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "scaling",
    title: "bandwidth by threads",
    series: &[SeriesText {
        key: "memory.scaling",
        title: "bandwidth by threads",
        question: "How does bandwidth grow with threads?",
        axes: AXES,
        words: &[
            ("cores", "a place is a core"),
            ("threads", "a place is a hardware thread"),
            ("packed", "the hardware threads of a core are filled before the next core"),
            ("dynamic", "threads take small blocks as they get free"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Scaling>,
    complete: knee::complete,
};
