//! Client processes: each loads a server with its own file descriptors, memory and CPUs.
//!
//! - [`spec`]: the load, as sent over the pipe.
//! - [`process`]: the process, from the inside ([`serve`]) and from the outside ([`process::Generator`]).

pub mod facts;
pub mod process;
pub mod spec;

pub use process::{Generator, WORKER, serve};
pub use spec::LoadSpec;
