//! Bandwidth by threads: from one to all CPUs, under the bindings of study 1 (step 9) and packed siblings.
//!
//! - [`bindings`] says which CPU each thread gets, and where threads share cores unequally; [`points`] which
//!   numbers of threads are measured; [`layout`] which part of which node's memory each thread works on.
//! - [`sizing`] decides how large arrays are and what each node holds; [`plan`] makes figures of that;
//!   [`bench`] is the worker; [`node_arrays`] its memory, a region for each node.
//! - [`knee`] finds the fewest threads that reach what there is.

pub mod bench;
pub mod bindings;
pub mod knee;
pub mod layout;
pub mod node_arrays;
pub mod plan;
pub mod points;
pub mod sizing;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "scaling",
    title: "bandwidth by threads",
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Scaling>,
    complete: knee::complete,
};
