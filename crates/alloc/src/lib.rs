//! The suite of allocators: which malloc is best here, for this load, and why; proved to be the allocator that served.
//!
//! - [`profile`] is what a load is like. Pure. [`cell::load`] does it, in a process that allocates nothing besides.
//! - [`allocators`] are those that are known; [`find`] tells which are installed, and where, [`version`] which version they are (by
//!   [`packages`], where those are Debian's).
//! - [`mode`] is what the modes have in common; [`load`] is the mode that compares allocators under the load, [`attempt`] the
//!   one that runs a program of the user's under each.
//! - [`record`] makes a profile of a program, by a library that is preloaded.
//! - [`run`] is one run of the load; [`owner`] proves who served, [`memory`] reads what a process has in memory.

pub mod allocators;
pub mod attempt;
pub mod find;
pub mod load;
pub mod memory;
pub mod mode;
pub mod owner;
pub mod packages;
pub mod profile;
pub mod record;
pub mod run;
pub mod version;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "alloc";

/// The modes that run the load.
pub const MODES: &[&mode::Mode] = &[&load::MODE];

/// The worker of the mode of this word.
pub fn worker(name: &str) -> Option<lab::worker::Prepare> {
    let of_load = MODES.iter().find(|mode| mode.name == name).map(|mode| mode.prepare);
    of_load.or((name == attempt::MODE.name).then_some(attempt::MODE.prepare))
}
