//! The subcommands, one file each.

pub mod alloc;
pub mod audit;
pub mod compare;
pub mod completions;
pub mod explain;
pub mod faults;
pub mod fleet;
pub mod host;
pub mod http;
pub mod inspect;
pub mod man;
pub mod memory;
pub mod report;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod start;
pub mod system;
