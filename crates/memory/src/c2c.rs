//! Cache to cache: the latency of a line that another core holds, clean (MLC's HIT) or modified (HITM).

pub mod bench;
pub mod lines;
pub mod plan;

use crate::axes::AXES;
use crate::mode::Mode;
use figure::series::SeriesText;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "c2c",
    title: "cache to cache",
    series: &[SeriesText {
        key: "memory.c2c",
        title: "latency of a line that another core holds",
        question: "How long does a line take from the cache of another core?",
        axes: AXES,
        words: &[
            ("hit", "the other core has only read the line"),
            ("hitm", "the other core has written the line"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    // A latency has no limit but the requester's own cache, which is evidence.
    complete: |_, _| {},
};
