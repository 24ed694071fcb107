//! The mode that runs a program of the user's under each allocator (`truebench alloc try`): a [`lab::trial`]
//! whose variants are allocators.
//!
//! That an allocator serves is proved by a start of its own: the dynamic linker writes down which file's
//! malloc it bound, in every process ([`lab::preload`]).

mod bench;
mod complete;
mod plan;

use std::path::PathBuf;

use lab::schedule::Rules;
use lab::start::Program;

use crate::find::Chosen;
use crate::mode::PlanError;

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: "try",
    title: "a program of yours under each allocator",
    seconds: 120.0,
    plan: plan::plan,
    prepare: |setup, event| lab::trial::prepare(setup, event, bench::prove),
    complete: |figures, _| complete::complete(figures),
};

#[derive(Clone, Debug)]
pub struct Options {
    pub allocators: Chosen,
    pub program: Program,
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    pub rules: Rules,
}
