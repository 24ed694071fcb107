//! The page-fault doctor: how many faults a program takes, where from, what they cost here, by which mechanism, and which lever
//! helps, proved.
//!
//! - [`watch`] looks at a program from its start ([`target`]) to its end: [`rates`] by the kernel's books, and beside it a worker,
//!   [`observe`], that looks where the faults come from ([`trace`]).
//! - [`classify`] goes from what was seen to mechanisms, [`manager`] to who manages the memory. Pure. [`complete`] makes figures of it all.
//! - [`blocks`] are large blocks that a preloaded recorder tells of: which faults are in which.
//! - [`prices`] is the mode of what faults, and the calls around them, cost here.
//! - [`levers`] is what can be set or written against it, [`prove`] the mode that runs a program with each and without.
//! - [`demo`] are programs that fault, each in one way.
//! - [`walk`] is the mode that shows what malloc does with four blocks.
//! - [`mapping`] and [`clocks`] are what prices are measured with.

pub mod allocator;
pub mod blocks;
pub mod classify;
pub mod clocks;
pub mod complete;
pub mod demo;
pub mod levers;
pub mod mapping;
pub mod observe;
pub mod prices;
pub mod prove;
pub mod rates;
pub mod target;
pub mod trace;
pub mod walk;
pub mod watch;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "faults";

/// Minor faults a second of the program that is watched.
pub const MINOR: &str = "faults.minor";
/// Major faults a second.
pub const MAJOR: &str = "faults.major";
/// What a minor fault costs here: of the mode [`prices`].
pub const PRICE: &str = "faults.prices.minor.write";
/// The share of the faults that samples stand for: what is found follows from it.
pub const COVERAGE: &str = "faults.coverage";
/// What watching added to the program's CPU time, as a share of what it would have used without.
pub const SLOWDOWN: &str = "faults.slowdown";
/// Calls for memory a second: one figure for each kind has its word behind it.
pub const CALLS: &str = "faults.calls";
/// What page faults cost, as a share of the program's CPU time.
pub const GAIN: &str = "faults.gain";

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    match name {
        observe::NAME => Some(observe::prepare),
        "prices" => Some(prices::MODE.prepare),
        word if word == walk::MODE.name => Some(walk::MODE.prepare),
        word if word == prove::MODE.name => Some(prove::MODE.prepare),
        _ => None,
    }
}
