//! The cases of all rules, by suite: each carries its values, and its wording: the claim, the evidence, and what to do.

#![allow(clippy::enum_variant_names, reason = "a record has the name of the case alone, without its enum")]

mod alloc;
mod arrays;
mod audit;
mod case;
mod cpus;
pub(crate) mod faults;
mod general;
pub(crate) mod http;
mod loads;
mod memory;
mod rounds;
pub(crate) mod system;
mod texts;
pub(crate) mod topology;

pub use case::Case;

pub(crate) use alloc::{Alloc, Rated};
pub(crate) use arrays::{ArmLoad, Arrays, Difference, Gaps, Injection, NodeShare, Traffic};
pub(crate) use audit::Audit;
pub(crate) use cpus::{CoreKind, CoreLayout, CoreLoad, Cpus};
pub(crate) use faults::Faults;
pub(crate) use general::General;
pub(crate) use http::Http;
pub(crate) use loads::{Interface, Kind, Loads, Queue, Unequal};
pub(crate) use memory::{Baseline, LevelEffect, Memory, MixRate};
pub(crate) use rounds::{FaultCount, Rounds};
pub(crate) use system::System;
pub(crate) use texts::{Runs, Texts};
pub(crate) use topology::{
    Blocks, Class, Doubt, Gap, KneePlace, Limit, Measure, PairsOfClass, RemoteCell, Topology, Walks,
};

/// The names of all cases, by suite.
pub fn names() -> Vec<(&'static str, &'static [&'static str])> {
    vec![
        ("alloc", Alloc::NAMES),
        ("audit", Audit::NAMES),
        ("faults", Faults::NAMES),
        ("general", General::NAMES),
        ("http", Http::NAMES),
        ("memory", Memory::NAMES),
        ("system", System::NAMES),
        ("topology", Topology::NAMES),
        ("cpus", Cpus::NAMES),
        ("rounds", Rounds::NAMES),
        ("arrays", Arrays::NAMES),
        ("loads", Loads::NAMES),
        ("texts", Texts::NAMES),
    ]
}
