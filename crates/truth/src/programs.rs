//! Real programs under `truebench faults`: what their faults are by other means, and what truebench must say of them.
//!
//! - [`program`]: a program as its file in `tests/programs/` describes it, and the list of them;
//! - [`watch`]: runs it: watched, with settings, with and without truebench;
//! - [`diagnosis`]: what a record says of it, and whether that is so. Pure;
//! - [`table`]: what came of all. Pure.

pub mod diagnosis;
pub mod program;
pub mod table;
pub mod watch;
