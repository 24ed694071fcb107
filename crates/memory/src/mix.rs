//! Bandwidth by mix of reads and writes.

pub mod bench;
pub mod contents;
pub mod plan;

pub use crate::kernels::{MIXES, Mix};
use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "mix",
    title: "bandwidth by mix of reads and writes",
    seconds: 90.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Mixes>,
    complete: |figures, _| crate::limits::set_highest_traffic(figures),
};
