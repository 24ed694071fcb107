//! The allocator suite: which malloc is best on this machine for this load, and why.
//!
//! [`load`] compares allocators under a load that [`workload::alloc_load`] runs in a process that allocates
//! nothing else. [`trial`] runs a user's program under each. [`record`](mod@record) makes the
//! description of a load of a program.

pub mod allocators;
mod axes;
pub mod find;
pub mod load;
pub mod memory;
pub mod mode;
pub mod packages;
pub mod profile;
pub mod record;
pub mod run;
pub mod serving;
pub mod trial;
pub mod version;

use figure::series::SeriesText;
use lab::mode::AnyMode;
use lab::worker::Body;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "alloc";

pub static MODES: &[&dyn AnyMode<mode::Options, mode::PlanError>] = &[&load::MODE];

/// What the series of all modes are called.
pub fn series() -> impl Iterator<Item = &'static SeriesText> {
    [load::MODE.series, trial::MODE.series].into_iter().flatten()
}

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    let worker = MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body());
    worker.or((name == trial::MODE.name).then_some(trial::MODE.body()))
}
