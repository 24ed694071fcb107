//! The system suite: UnixBench's twelve tests, comparable and corrected, and the measurements that explain
//! them. Each [`Mode`](mode::Mode) has its own plan and worker.
//!
//! - [`catalogue`] resolves names of tests and groups. The tests describe themselves in the crate `workload`.
//! - [`index`] is the mode of the twelve tests.
//! - [`switch`] measures the cost of a context switch by placement.
//! - [`scaling`] measures the tests by number of copies.
//! - [`cross`] runs UnixBench's own programs alternately with truebench's tests.
//! - [`noise`] measures the time that CPUs lose to other work.
//! - [`cores`] measures cache-line transfers between every two CPUs, which shows the real topology.
//! - [`ratio`] computes figures that are ratios of others.
//! - [`score`] is UnixBench's arithmetic. Pure.
//! - [`surroundings`] records what affects the figures besides the machine: libraries, file systems, shell,
//!   tools, locale.

pub mod catalogue;
pub mod cores;
pub mod cross;
pub mod index;
pub mod mode;
pub mod noise;
pub mod ratio;
pub mod scaling;
pub mod score;
pub mod surroundings;
pub mod switch;

use lab::mode::AnyMode;
use lab::worker::Body;
use mode::{Options, PlanError};

pub const SUITE: &str = "system";

/// The modes, in the order in which they run and are reported.
pub static MODES: &[&dyn AnyMode<Options, PlanError>] =
    &[&index::MODE, &switch::MODE, &cores::MODE, &noise::MODE, &scaling::MODE, &cross::MODE];

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body())
}
