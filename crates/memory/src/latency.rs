//! Idle latency: one thread follows chains of pointers of ascending size, in two orders, on huge and on small pages.
//!
//! - [`plan`] chooses sizes, [`layout`] where the chains lie; [`bench`] is the worker that lays and walks them.
//! - [`walk`] measures one chain in one round: also for others who need the latency of a memory.
//! - [`derive`] computes what follows: the edges of caches, and what page walks cost.

pub mod bench;
pub mod derive;
pub mod layout;
pub mod plan;
pub mod walk;

use crate::mode::Mode;

/// `memory latency`.
pub const MODE: Mode = Mode {
    name: "latency",
    title: "idle latency",
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: derive::complete,
};
