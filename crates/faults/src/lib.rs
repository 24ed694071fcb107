//! The page-fault doctor: how many faults a program takes, where they come from, what they cost, which
//! mechanism causes them, and which setting helps, with proof.
//!
//! [`watch`] takes the rates from /proc, and a worker, [`observe`], finds where the faults come from
//! ([`trace`]). [`complete`] makes figures of both. The modes are [`prices`], [`prove`] and [`walk`].

pub mod allocator;
mod axes;
pub mod blocks;
pub mod classify;
pub mod clocks;
pub mod complete;
pub mod demo;
pub mod mapping;
mod modes;
pub mod observe;
pub mod prices;
pub mod prove;
pub mod rates;
pub mod settings;
pub mod suspended;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod walk;
pub mod watch;

pub use modes::{series, worker};

pub const SUITE: &str = "faults";

/// Minor faults per second of the watched program.
pub const MINOR: &str = "faults.minor";
/// Major faults per second.
pub const MAJOR: &str = "faults.major";
/// The price of a minor fault, in ns: of the mode [`prices`].
pub const PRICE: &str = "faults.prices.minor.write";
/// The price of a fault that brings a huge page, in µs.
pub const HUGE_PRICE: &str = "faults.prices.huge";
/// The share of the faults that samples represent: observed figures follow from it.
pub const COVERAGE: &str = "faults.coverage";
/// What watching added to the program's CPU time, as a share of what it would have used otherwise.
pub const SLOWDOWN: &str = "faults.slowdown";
/// Calls for memory per second; the figure of a kind has its word behind it.
pub const CALLS: &str = "faults.calls";
/// What page faults cost, as a share of the program's CPU time.
pub const GAIN: &str = "faults.gain";
