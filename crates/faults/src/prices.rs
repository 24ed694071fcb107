//! What page faults, and the calls around them, cost on this machine. [`catalogue`] lists the prices.

pub mod anonymous;
pub mod bench;
pub mod calls;
pub mod capabilities;
pub mod catalogue;
pub mod child;
pub mod complete;
pub mod files;
pub mod fixture;
pub mod lap;
pub mod plan;
pub mod scratch;
pub mod test_files;
pub mod threads;
pub mod watching;

pub use plan::{Options, PlanError};

use crate::axes::AXES;
use figure::series::SeriesText;
pub const MODE: lab::mode::Mode<Options, PlanError, plan::Setup> = lab::mode::Mode {
    name: plan::NAME,
    title: "what page faults cost",
    series: &[SeriesText {
        key: "faults.prices",
        title: "what page faults, and the calls around them, cost",
        question: "What does a page fault cost?",
        axes: AXES,
        words: &[
            ("anonymous", ""),
            ("file", ""),
            ("call", ""),
            ("whole", ""),
            ("disk", ""),
            ("concurrent", ""),
            ("madvise", "one page given back by madvise(MADV_DONTNEED)"),
            ("munmap", "one page unmapped"),
            ("extra", "what the other threads add"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 90.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
