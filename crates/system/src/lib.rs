//! The system suite: UnixBench's twelve tests, comparable and repaired, and what explains them. Each way of measuring is
//! a [`Mode`](mode::Mode) with a plan and a worker of its own.
//!
//! - [`catalogue`] resolves names of tests and groups; the tests themselves, self-described, are in the crate `cell`.
//! - [`index`] is the mode of the twelve tests.
//! - [`switch`] is the mode of what a switch from task to task costs, by placement.
//! - [`scaling`] is the mode of the tests by number of copies.
//! - [`cross`] is the mode that runs UnixBench's own programs in turn with ours.
//! - [`noise`] is the mode of how quiet the CPUs are for any benchmark.
//! - [`cores`] is the mode of one line between every two CPUs: the topology as it is measured.
//! - [`multiple`] makes figures that are multiples of others.
//! - [`score`] is UnixBench's arithmetic. Pure.
//! - [`surroundings`] is what moves the figures besides the machine: libraries, file systems, shell and tools, locale.

pub mod catalogue;
pub mod cores;
pub mod cross;
pub mod index;
pub mod mode;
pub mod multiple;
pub mod noise;
pub mod scaling;
pub mod score;
pub mod surroundings;
pub mod switch;

use mode::Mode;

/// The suite's name.
pub const SUITE: &str = "system";

/// The modes, in the order in which they run and are shown.
pub static MODES: &[&Mode] =
    &[&index::MODE, &switch::MODE, &cores::MODE, &noise::MODE, &scaling::MODE, &cross::MODE];

/// The mode of this name.
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name)
}
