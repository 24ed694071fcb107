//! The page-fault doctor: how many faults a program takes, where from, what they cost here, by which mechanism, and which lever
//! helps, proved.
//!
//! - [`prices`] is the mode of what faults, and the calls around them, cost here.
//! - [`price`] is what a minor fault costs here, in a moment; [`mapping`] and [`clocks`] are what prices are measured with.

pub mod clocks;
pub mod mapping;
pub mod price;
pub mod prices;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "faults";

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    match name {
        "prices" => Some(prices::MODE.prepare),
        _ => None,
    }
}
