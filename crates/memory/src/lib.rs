//! The memory suite. Each way of measuring is a [`Mode`](mode::Mode) with a plan and a worker of its own.
//!
//! What modes share:
//! - [`kernels`] declares what each kernel reads, writes and moves; [`simd`] holds their machine code.
//! - [`region`] maps memory on the pages and the node asked for; [`pages`] tells what was obtained; [`sizes`] decides how
//!   large.
//! - [`chase`] makes and follows chains of pointers; [`mix`] names mixes of reads and writes.

pub mod bandwidth;
pub mod chase;
pub mod cross;
pub mod inspect;
pub mod kernels;
pub mod mix;
pub mod mode;
pub mod pages;
pub mod region;
pub mod simd;
pub mod sizes;

use mode::Mode;

/// The suite's name.
pub const SUITE: &str = "memory";

/// The modes, in the order in which they run and are shown.
pub static MODES: &[&Mode] = &[&bandwidth::MODE, &cross::MODE];

/// The mode of this name.
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name)
}
