//! The memory suite. Each way of measuring is a [`Mode`](mode::Mode) with a plan and a worker of its own.

#![allow(
    missing_docs,
    reason = "an internal crate: docs give units, ranges, errors and reasons, and do not repeat names"
)]

pub mod alignment;
mod axes;
pub mod bandwidth;
pub mod c2c;
pub mod cache_size;
pub mod calibration;
pub mod conditions;
pub mod counters;
pub mod cross;
pub mod deadlines;
pub mod edges;
pub mod inspect;
pub mod ladder;
pub mod ladder_sizes;
pub mod latency;
pub mod limits;
pub mod loaded;
pub mod mix;
pub mod mode;
mod modes;
pub mod numa;
pub mod page_evidence;
pub mod policy;
pub mod scaling;
pub mod sizes;
pub mod team;
#[cfg(test)]
mod testing;
pub mod worker;

pub use loops::{chase, kernels, pages, pointer_chain, region, simd, thread_blocks};
pub use modes::{MODES, worker};

pub const SUITE: &str = "memory";
