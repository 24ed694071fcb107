//! The mode that runs a user's program under each allocator (`truebench alloc try`): a [`lab::trial`]
//! with allocators as variants.
//!
//! That an allocator serves is proved by a start of its own: the dynamic linker writes down which file's
//! malloc it bound, in every process ([`lab::preload`]).

mod bench;
mod complete;
mod plan;

pub use plan::Options;

use crate::axes::AXES;
use crate::mode::PlanError;
use figure::series::{Layout, SeriesText};

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: plan::NAME,
    title: "a program of yours under each allocator",
    series: &[SeriesText {
        key: "alloc.try",
        title: "your program under each allocator",
        question: "Which allocator suits this program?",
        axes: AXES,
        words: &[
            ("cpu", "CPU time, in user code and in the kernel"),
            ("ratio", "CPU time, for 1 with the first allocator"),
            ("peak", "the most that one of its processes had in memory"),
            ("faults", "minor and major page faults"),
        ],
        layout: Layout::Aspects,
        ..SeriesText::EMPTY
    }],
    seconds: 120.0,
    plan: plan::plan,
    prepare: |setup, event| lab::trial::prepare(setup, event, bench::prove),
    complete: |figures, _| complete::complete(figures),
};
