//! The allocator suite: which malloc is best on this machine for this load, and why.
//!
//! - [`profile`]: the description of a load. [`workload::alloc_load`] runs it, in a process that allocates
//!   nothing else.
//! - [`allocators`]: the known allocators; [`find`]: which are installed, and where; [`version`] and
//!   [`packages`]: which version.
//! - [`mode`]: what the modes share; [`load`] compares allocators under the load; [`trial`] runs a program
//!   of the user under each.
//! - [`record`] makes a profile of a program, with a preloaded library.
//! - [`run`]: one run of the load; [`serving`] proves which library served; [`memory`] reads the memory of a
//!   process.

pub mod allocators;
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

use lab::mode::AnyMode;
use lab::worker::Body;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "alloc";

/// The modes that run the load.
pub static MODES: &[&dyn AnyMode<mode::Options, mode::PlanError>] = &[&load::MODE];

/// The worker of the mode of this name.
pub fn worker(name: &str) -> Option<&'static dyn Body> {
    let worker = MODES.iter().find(|mode| mode.name() == name).map(|mode| mode.body());
    worker.or((name == trial::MODE.name).then_some(trial::MODE.body()))
}
