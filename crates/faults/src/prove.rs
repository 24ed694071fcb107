//! The mode that proves which lever helps (`truebench faults --prove`): a [`lab::trial`] whose variants are
//! the program without a lever and with each.
//!
//! CPU time decides, as wait4(2) reports it; time, memory and faults are reported next to it. That a lever
//! took is proved by a start of its own, in which the calls for memory of the program and all that it starts
//! are counted ([`lab::start`]): a variable that is set proves nothing.

mod bench;
mod complete;
mod counted;
mod plan;

use std::path::PathBuf;

use figure::faults::{Manager, Mechanism};
use lab::schedule::Rules;
use lab::start::Program;

use crate::levers::Version;

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: "prove",
    title: "a program of yours with each lever",
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
    /// Mechanisms against which levers are tried; none for all.
    pub mechanisms: Vec<Mechanism>,
    /// The levers that are asked for by name; none for all.
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
    #[error("--lever {lever}: of {manager} there are {available}")]
    Lever { lever: String, manager: &'static str, available: String },
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
