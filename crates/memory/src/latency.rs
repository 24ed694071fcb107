//! Idle latency: one thread follows chains of ascending size, in two orders, on huge and on small pages.

pub mod bench;
pub mod derive;
pub mod layout;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "latency",
    title: "idle latency",
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Latency>,
    complete: derive::complete,
};
