//! The page-fault doctor: how many faults a program takes, where from, what they cost here, by which mechanism, and which lever
//! helps, proved.

pub mod demo;
pub mod walk;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "faults";

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    match name {
        word if word == walk::MODE.name => Some(walk::MODE.prepare),
        _ => None,
    }
}
