//! The mode that proves which lever helps (`truebench faults --prove`): the program is started again and again, without a lever and
//! with each, in turn.
//!
//! CPU time decides, as the kernel tells it to who waited for the program; time, memory and faults stand beside it. That a lever took
//! is proved beforehand by a start of its own, in which the calls for memory are counted that the program and all that it starts make
//! ([`lab::start`]): a variable that is set proves nothing.
//!
//! - [`plan`] says what is tried; [`bench`](mod@bench) is the worker; [`complete`] makes the figures that follow.
//! - [`seen`] is what the start of the proof saw; [`rates`] decides when a program that does not end by itself runs steadily.

mod bench;
mod complete;
mod plan;
mod rates;
mod seen;

use std::path::PathBuf;

use figure::faults::{Manager, Mechanism};
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::start::Program;
use serde::{Deserialize, Serialize};

use crate::levers::Version;

pub use plan::PlanError;

/// The mode.
pub const MODE: lab::mode::Mode<Options, PlanError> = lab::mode::Mode {
    name: "prove",
    title: "a program of yours with each lever",
    seconds: 600.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

/// What the user asked for, and what is known of the program.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is run.
    pub program: Program,
    /// Who manages its memory.
    pub manager: Manager,
    /// Which version of it; `None` if that is not known.
    pub version: Option<Version>,
    /// Mechanisms against which levers are tried; none for all.
    pub mechanisms: Vec<Mechanism>,
    /// The levers that are asked for by name; none for all.
    pub only: Vec<String>,
    /// Other allocators that are tried as levers.
    pub allocators: Vec<Preloaded>,
    /// Seconds that a program gets until its rates are steady, if it does not end by itself.
    pub until_rate: Option<f64>,
    /// An empty directory, in which the dynamic linker writes down what it bound.
    pub directory: PathBuf,
    /// When there are enough rounds.
    pub rules: Rules,
}

/// Another allocator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preloaded {
    /// Its word.
    pub name: String,
    /// Its library.
    pub library: PathBuf,
    /// Variables that it is run with.
    pub environment: Vec<(String, String)>,
}
