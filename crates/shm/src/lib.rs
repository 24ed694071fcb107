//! Memory that truebench shares with the library that it preloads (`crates/recorder`): the recorder writes,
//! and `alloc` or `faults` reads.
//!
//! The code runs inside malloc(3) of other programs. It never allocates and does not panic.

#![cfg_attr(not(test), no_std)]

pub mod blocks;
mod memory;
pub mod recording;
pub mod sys;
