//! The mode that compares allocators under the load.
//!
//! Each round of a figure is a process of its own (or several), from its first block to its last. Who serves in which round is
//! interleaved; the harness alone ("void") runs among them, and what an allocator costs is the difference, round by round.
//!
//! - [`plan`] decides how large the load is, [`team`] who runs it and where; [`bench`](mod@bench) is the worker; [`complete`] makes the
//!   figures that people ask for. All but the worker are pure.

mod bench;
mod complete;
mod plan;
mod team;

use crate::mode::Mode;

/// The mode.
pub const MODE: Mode = Mode {
    name: "load",
    title: "allocators under the load of alloc-test",
    seconds: 240.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| complete::complete(figures),
};
