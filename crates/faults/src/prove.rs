//! The mode that proves which setting helps (`truebench faults --prove`): a [`lab::trial`] with variants that are
//! the program without a setting and with each.
//!
//! CPU time decides, as wait4(2) reports it; time, memory and faults are reported next to it. That a setting
//! took is proved by a start of its own, in which the calls for memory of the program and all that it starts
//! are counted ([`lab::start`]): a variable that is set proves nothing.

mod bench;
mod complete;
mod counted;
mod plan;

use crate::axes::AXES;
use figure::series::{Layout, SeriesText};

pub use plan::{Options, PlanError, Preloaded, Target};

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: plan::NAME,
    title: "a program of yours with each setting",
    series: &[
        SeriesText {
            key: "faults.prove",
            title: "your program with each setting",
            question: "Which setting helps this program?",
            axes: AXES,
            words: &[
                ("cpu", "CPU time, in user code and in the kernel; of a program that is stopped, busy CPUs"),
                ("system", "of it, in the kernel"),
                (
                    "memory",
                    "the most that one of its processes had; of a program that is stopped, what all have",
                ),
                ("faults", "minor and major page faults"),
            ],
            layout: Layout::Aspects,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: suites::settings::EFFECTS,
            title: "each setting, for 1 without",
            question: "How much does each setting change?",
            axes: AXES,
            layout: Layout::Aspects,
            ..SeriesText::EMPTY
        },
    ],
    seconds: 600.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
