//! Memory that truebench shares with the library that it preloads (`crates/recorder`): the recorder writes,
//! and `alloc` or `faults` reads.
//!
//! - [`recording`]: counters by block size (`truebench alloc record`).
//! - [`blocks`]: a ring of events of large blocks, with stacks (`truebench faults --allocs`).
//! - [`sys`]: mapping, clock and errno.
//!
//! The code runs inside malloc(3) of other programs. It never allocates and does not panic.

#![cfg_attr(not(test), no_std)]

pub mod blocks;
pub mod recording;
pub mod sys;
