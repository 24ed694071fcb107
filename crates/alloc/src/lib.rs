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
mod modes;
pub mod packages;
pub mod profile;
pub mod record;
pub mod run;
pub mod serving;
pub mod trial;
pub mod version;

pub use modes::{MODES, series, worker};

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "alloc";
