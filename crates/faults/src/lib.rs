//! The page-fault doctor: how many faults a program takes, where from, what they cost here, by which mechanism, and which lever
//! helps, proved.
//!
//! - [`price`] is what a minor fault costs here, in a moment; [`mapping`] and [`clocks`] are what prices are measured with.

pub mod clocks;
pub mod mapping;
pub mod price;

pub mod classify;
pub mod manager;
pub mod observe;
pub mod rates;
pub mod target;
pub mod trace;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "faults";

/// The figure that all that is found follows from: minor faults a second.
pub const MINOR: &str = "faults.minor";

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    (name == observe::NAME).then_some(observe::prepare)
}
