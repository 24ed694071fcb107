//! A second instrument: UnixBench's own programs, run in turn with ours.
//!
//! A test that bears UnixBench's name must give what UnixBench gives, on this machine too. The user's own build of it runs here
//! by the same schedule, for the same time, on the same CPUs and file system, and each test's ratio stands with its interval.
//!
//! - [`unixbench`] knows its programs: how they are called, what they say. Pure.
//! - [`plan`] makes pairs of figures and, afterwards, their ratios; [`bench`] is the worker that runs both.

mod bench;
mod plan;
pub mod unixbench;

use crate::mode::Mode;

/// The mode.
pub const MODE: Mode = Mode {
    name: "cross-check",
    title: "cross-check: UnixBench's own programs beside ours",
    // Twelve free and five on one CPU, some 105 s a round: UnixBench's file copies alone rest for 15 s each time.
    seconds: 1500.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |figures, _| plan::complete(figures),
};
