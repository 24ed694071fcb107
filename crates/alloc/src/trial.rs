//! The mode that runs a program of the user's under each allocator (`truebench alloc try`): a [`lab::trial`]
//! whose variants are allocators.
//!
//! That an allocator serves is proved by a start of its own: the dynamic linker writes down which file's
//! malloc it bound, in every process ([`lab::preload`]).
//!
//! - [`plan`] is what is run; [`bench`](mod@bench) makes the proofs; [`complete`] makes the figures that
//!   follow.

mod bench;
mod complete;
mod plan;

use std::path::PathBuf;

use lab::schedule::Rules;
use lab::start::Program;

use crate::find::Chosen;
use crate::mode::PlanError;

/// The mode.
pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
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
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    /// When there are enough rounds.
    pub rules: Rules,
}
