//! Alignment: what misaligned vectors and arrays at awkward distances cost, in L1 and in memory.

pub mod bench;
pub mod layout;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "alignment",
    title: "alignment",
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Alignment>,
    complete: |figures, machine| plan::set_limits(figures, machine),
};
