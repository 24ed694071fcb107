//! The mode that runs a user's program under each allocator (`truebench alloc try`): a [`lab::trial`]
//! whose variants are allocators.
//!
//! That an allocator serves is proved by a start of its own: the dynamic linker writes down which file's
//! malloc it bound, in every process ([`lab::preload`]).

mod bench;
mod complete;
mod plan;

pub use plan::Options;

use crate::mode::PlanError;

pub const MODE: lab::mode::Mode<Options, PlanError, lab::trial::Setup> = lab::mode::Mode {
    name: plan::NAME,
    title: "a program of yours under each allocator",
    seconds: 120.0,
    plan: plan::plan,
    prepare: |setup, event| lab::trial::prepare(setup, event, bench::prove),
    complete: |figures, _| complete::complete(figures),
};
