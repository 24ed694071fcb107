//! Client processes: each loads a server with its own file descriptors, memory and CPUs.

pub mod facts;
pub mod process;
pub mod spec;

pub use process::{Generator, WORKER, serve};
pub use spec::LoadSpec;
