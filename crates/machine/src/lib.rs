//! What this machine is, and the counters whose changes are evidence.
//!
//! Everything reads `/proc` and `/sys` below the root of a [`Tree`], so that a captured or a synthetic machine
//! is a test case. Whatever is missing or damaged becomes unknown with its reason; nothing here panics.

pub mod capture;
pub mod counters;
mod describe;
pub mod dimms;
mod mislead;
pub mod oom;
pub mod perf;
pub mod processes;
#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
mod tree;

pub use describe::{Asked, channels, describe, smbios, udev};
pub use mislead::notes;
pub use tree::Tree;
