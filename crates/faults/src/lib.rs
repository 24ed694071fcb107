//! The page-fault doctor: how many faults a program takes, where from, what they cost here, by which mechanism, and which lever
//! helps, proved.

pub mod levers;
pub mod manager;
pub mod prove;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "faults";

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    (name == prove::MODE.name).then_some(prove::MODE.prepare)
}
