//! The mode that proves which setting helps (`truebench faults --prove`): a [`lab::trial`] whose variants are
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
use std::path::PathBuf;

use lab::schedule::Rules;
use lab::start::Program;
use suites::faults::{Manager, Mechanism};

use crate::settings::Version;

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: "prove",
    title: "a program of yours with each setting",
    series: &[
        SeriesText {
            key: "faults.prove",
            title: "your program with each setting",
            question: "Which setting helps this program?",
            axes: AXES,
            words: &[
                (
                    "cpu",
                    "CPU time, in user code and in the kernel; of a program that is stopped, CPUs kept busy",
                ),
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
            key: "faults.settings",
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

#[derive(Clone, Debug)]
pub struct Options {
    pub program: Program,
    pub manager: Manager,
    /// Which version of it; `None` if that is not known.
    pub version: Option<Version>,
    /// Mechanisms against which settings are tried; none for all.
    pub mechanisms: Vec<Mechanism>,
    /// The settings that are asked for by name; none for all.
    pub only: Vec<String>,
    pub allocators: Vec<Preloaded>,
    /// Seconds that a program gets until its rates are steady, if it does not end by itself.
    pub until_rate: Option<f64>,
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    pub rules: Rules,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("--setting {setting}: of {manager} there are {available}")]
    Setting { setting: String, manager: &'static str, available: String },
    #[error(
        "nothing can be tried from outside: {0} has no setting that would help; another allocator can be tried \
         (--allocator jemalloc), and --manager says who manages the memory if it is not {0}"
    )]
    Nothing(&'static str),
    #[error(transparent)]
    Setup(#[from] serde_json::Error),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preloaded {
    pub name: String,
    pub library: PathBuf,
    pub environment: Vec<(String, String)>,
}
