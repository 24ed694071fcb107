//! The mode that runs a program of the user's under each allocator (`truebench alloc try`).
//!
//! Each round is one start of the program, from fork to its end; allocators are interleaved. What it used, the kernel tells
//! who waited for it. Who served is proved beforehand by a start of its own, in which the dynamic linker writes down which
//! file's malloc it bound for whom, in every process: no program has to take part in that.
//!
//! - [`plan`] says what is run; [`bench`](mod@bench) is the worker; [`complete`] makes the figures that follow.
//!   A start is [`lab::start`]'s, the proof [`lab::preload`]'s.

mod bench;
mod complete;
mod plan;

use std::path::PathBuf;

use lab::schedule::Rules;
use lab::start::Program;

use crate::find::Chosen;
use crate::mode::PlanError;

/// The mode.
pub const MODE: lab::mode::Mode<Options, PlanError> = lab::mode::Mode {
    name: "try",
    title: "a program of yours under each allocator",
    seconds: 120.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The allocators that are compared.
    pub allocators: Chosen,
    /// What is run.
    pub program: Program,
    /// An empty directory, in which the dynamic linker writes down what it bound.
    pub directory: PathBuf,
    /// When there are enough rounds.
    pub rules: Rules,
}
