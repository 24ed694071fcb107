//! The mode that shows what malloc does with four blocks (`truebench faults walk`), step by step, with
//! thresholds that adapt and with thresholds that are frozen.
//!
//! [`workload::heap_walk`] makes the steps, and sleeps after each; its memory is then read from outside. A
//! start gives one round to each figure of its arm. Everything is counted, and nothing is timed.

mod arms;
mod bench;
mod heap_layout;
mod plan;

use crate::axes::AXES;
use figure::series::SeriesText;

pub use plan::{Options, WalkError};

pub const MODE: lab::mode::Mode<Options, WalkError, plan::Setup> = lab::mode::Mode {
    name: plan::NAME,
    title: "what malloc does with four blocks, step by step",
    series: &[SeriesText {
        key: "faults.walk",
        title: "what is in memory as blocks come and go",
        question: "What is in memory as blocks come and go?",
        axes: AXES,
        words: &[
            ("dynamic", "the thresholds of malloc as a program gets them"),
            ("frozen", "with MALLOC_TRIM_THRESHOLD_=131072"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |_, _| {},
};
