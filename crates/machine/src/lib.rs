//! Describes a machine, and reads the counters that give evidence by their changes.
//!
//! All modules read `/proc` and `/sys` below the root of a [`Tree`], so a captured or a synthetic machine can be
//! a test case. A missing or damaged file gives an unknown value with its reason, never a panic.

pub mod affinity;
pub mod blind;
pub mod capture;
pub mod counters;
mod describe;
pub mod dimms;
mod hazards;
pub mod memory_group;
pub mod oom;
pub mod perf;
pub mod processes;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
mod tree;

pub use describe::{Overrides, channels, describe, smbios, udev};
pub use hazards::notes;
pub use tree::Tree;
