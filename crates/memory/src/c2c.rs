//! Cache to cache: the latency of a line that another core holds, clean (MLC's HIT) or modified (HITM).

pub mod bench;
pub mod lines;
pub mod plan;

use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "c2c",
    title: "cache to cache",
    seconds: 100.0,
    plan: plan::plan,
    prepare: bench::prepare,
    // A latency has no limit but the requester's own cache, which is evidence.
    complete: |_, _| {},
};
