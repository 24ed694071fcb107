//! Idle latency: one thread follows chains of pointers of ascending size, in two orders, on huge and on small
//! pages.
//!
//! - [`plan`] chooses sizes, [`layout`] where the chains lie; [`bench`] is the worker that writes and walks
//!   them.
//! - [`chain_walk`] measures one chain in one round.
//! - [`derive`] computes what follows: the edges of caches, and what page walks cost.

pub mod bench;
pub mod chain_walk;
pub mod derive;
pub mod layout;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode = Mode {
    name: "latency",
    title: "idle latency",
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: derive::complete,
};
